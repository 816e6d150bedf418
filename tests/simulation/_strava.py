"""Strava over a network that loses requests and responses, and an athlete whose activities produce events."""

from __future__ import annotations

from random import Random
from typing import Any, Final, TypeVar

from tests.services.commitcollect.strava_model import ATHLETE, SUBSCRIPTION, StravaModel
from tests.services.commitcollect.world import SETTINGS
from tests.simulation._kernel import Process
from tests.simulation._network import TIMEOUT
from tests.simulation._world import World

from partita.recipes.outbox import Sender
from partita_services.commitcollect.bootstrap import NOTICE_QUEUE, QUEUE
from partita_services.commitcollect.jobs.ingest import EventJob
from partita_services.commitcollect.strava.interface import StravaRequest, StravaUnavailable
from partita_services.commitcollect.strava.vault import Vault
from partita_services.commitcollect.work import Application, Tools

R = TypeVar("R")

_LATENCY: Final = (0.01, 0.2)


class DistantStrava:
    """Strava as one process reaches it; requests and responses may be lost."""

    def __init__(self, world: World, process: Process, model: StravaModel) -> None:
        self._world = world
        self._process = process
        self._model = model

    def execute(self, request: StravaRequest[R]) -> R:
        """Send a request, and wait for its response."""
        self._world.kernel.sleep(self._world.faults.between(*_LATENCY))
        self._lose("lose request", request)
        result = self._model.execute(request)
        self._lose("lose response", request)
        return result

    def _lose(self, kind: str, request: Any) -> None:
        where = f"{self._process.name} {type(request).__name__}"
        if self._world.faults.happens(kind, self._world.kernel.steps, where):
            self._world.kernel.sleep(TIMEOUT)
            raise StravaUnavailable("Strava did not respond in time.")


def tools_of(world: World, process: Process, model: StravaModel, send: Sender) -> Tools:
    """Return the tools of a worker or a route in one process."""
    vault = Vault(SETTINGS.token_key, Random(f"{process.name} seals").randbytes)
    application = Application(SETTINGS, vault, process.clock)
    queue, notices = world.queue(process, QUEUE), world.queue(process, NOTICE_QUEUE)
    return Tools(application, DistantStrava(world, process, model), queue, notices, send)


class Athlete:
    """An athlete. Everything that they do produces an event, which is delivered until it is accepted."""

    def __init__(self, model: StravaModel, random: Random) -> None:
        self.model = model
        self.best: dict[int, float] = {}
        """The longest distance that each activity has had."""
        self._random = random

    def act(self, at: float) -> EventJob:
        """Add an activity, or change or delete an earlier one, and return Strava's event for it."""
        known = sorted(self.model.activities)
        kind = self._random.choice(("create", "create", "update", "delete")) if known else "create"
        number = len(self.best) + 1 if kind == "create" else self._random.choice(known)
        if kind == "delete":
            del self.model.activities[number]
        else:
            distance = self._random.randrange(1, 30) * 100.0
            self.model.train(number, distance=distance)
            self.best[number] = max(distance, self.best.get(number, 0.0))
        request = f"{kind}-{number}-{at}"
        head: dict[str, Any] = {"object_type": "activity", "object_id": number, "aspect_type": kind, "updates": {}}
        return EventJob(request, request, owner_id=ATHLETE, subscription_id=SUBSCRIPTION, event_time=int(at), **head)
