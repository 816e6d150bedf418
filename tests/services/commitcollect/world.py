"""CommitCollect without HTTP: a store, a fake Strava, a queue, and a user who can sign in."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from types import NoneType
from typing import Any

from msgspec import Struct
from tests.services.commitcollect.strava_model import ATHLETE, SUBSCRIPTION, StravaModel

from partita import EmbeddedStore, Session
from partita.queue import Acknowledge, Message, Queue, QueueRequest, Receive, Send
from partita.queue.embedded import EmbeddedQueue
from partita.recipes.audit import Trace
from partita.runtime import Ulids
from partita.store import Store
from partita.testing import FakeClock, counted_ulids
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.collectibles.definition import bundled
from partita_services.commitcollect.collectibles.loading import load_model
from partita_services.commitcollect.handlers import MilestoneDraft, add_milestone
from partita_services.commitcollect.jobs.ingest import EventJob
from partita_services.commitcollect.jobs.worker import work_once
from partita_services.commitcollect.model import (
    AwardRow,
    Connection,
    Metric,
    Milestone,
    Workout,
    awards_of,
    connection_of,
    milestone_by_id,
    owner_of,
    workouts_of,
)
from partita_services.commitcollect.signin.login import Return, arrive
from partita_services.commitcollect.signin.sessions import begin_login
from partita_services.commitcollect.strava.settings import Settings
from partita_services.commitcollect.strava.vault import Vault
from partita_services.commitcollect.work import Application, Tools, do

TRACE = Trace("r1", "c1")
SETTINGS = Settings(
    public_url="https://collect.test",
    strava_url="https://strava.test",
    client_id="4711",
    client_secret="the secret of the application",
    verify_token="the token of the webhook",
    token_key=b"k" * 32,
)
WEBHOOK = f"/webhooks/strava/{SETTINGS.webhook_key}"
TODAY = date(2026, 1, 1)


class World(Struct):
    """A session, Strava, the tools of the service, a clock, and the user who signed in last."""

    db: Session
    strava: StravaModel
    tools: Tools
    clock: FakeClock
    user_id: str = ""

    @property
    def app(self) -> Application:
        return self.tools.application

    def do(self, work: Any) -> Any:
        return do(work, self.db, self.tools)

    def log_in(self, athlete: int = ATHLETE) -> str:
        """Log an athlete in through Strava, and return the id of the session."""
        state, browser = self.app.new_id() * 2, self.app.new_id() * 2
        self.db.run(begin_login(state, browser, int(self.clock())))
        back = Return(state, browser, f"code-{athlete}", frozenset({"read", "activity:read"}))
        session_id: str = self.do(arrive(self.app, back, TRACE))
        owner = self.db.run(owner_of(str(athlete)))
        assert owner is not None
        self.user_id = owner.user_id
        return session_id

    def work(self) -> None:
        """Run all jobs that can run now."""
        while work_once(self.db, self.tools):
            pass

    def commit(self, **changes: Any) -> Milestone:
        """Create a milestone of the user."""
        fields: dict[str, Any] = {
            "title": "Run 12 km",
            "model_id": "steam-locomotive",
            "metric": Metric.DISTANCE,
            "target": 12_000,
            "starts_on": TODAY - timedelta(days=30),
            "ends_on": TODAY + timedelta(days=30),
        }
        plan = self.db.run(add_milestone(self.user_id, MilestoneDraft(**{**fields, **changes}), self.clock()))
        return self.db.run(plan.run()).milestone

    @property
    def connection(self) -> Connection:
        found = self.db.run(connection_of(self.user_id))
        assert found is not None
        return found

    @property
    def workouts(self) -> dict[str, Workout]:
        """The stored workouts of activities that are not deleted, by the ids of the activities."""
        # No request path reads all workouts, so this session does not enforce budgets.
        stored = Session(self.db.store, clock=self.clock).run(workouts_of(self.user_id).walk(max_items=5_000))
        return {workout.activity_id: workout for workout in stored if workout.ttl is None}

    @property
    def awards(self) -> Sequence[AwardRow]:
        return self.db.run(awards_of(self.user_id).page(100)).items

    def milestone(self, milestone_id: str) -> Milestone:
        found = self.db.run(milestone_by_id(self.user_id, milestone_id).consistent())
        assert found is not None
        return found


def event(number: int, aspect: str, at: float, **more: Any) -> EventJob:
    """Return the job for an event about an activity."""
    fields: dict[str, Any] = {"object_type": "activity", "object_id": number, "updates": {}, **more}
    return EventJob(
        "r1", "c1", aspect_type=aspect, owner_id=ATHLETE, subscription_id=SUBSCRIPTION, event_time=int(at), **fields
    )


def revocation(at: float) -> EventJob:
    """Return the job for the event that an athlete has withdrawn the authorization."""
    return event(ATHLETE, "update", at, object_type="athlete", updates={"authorized": "false"})


class Checkpoint:
    """A snapshot of a world in memory, which can be restored: much cheaper than creating the same state again."""

    def __init__(self, world: World) -> None:
        assert isinstance(world.db.store, EmbeddedStore)
        self._world = world
        self._stored = world.db.store._writer.connection.serialize("main")
        self._now = world.clock()
        ids = world.app.new_id
        assert isinstance(ids, Ulids)
        parts = (world.strava, world.tools.queue, world.tools.notices, ids, ids._random)
        self._states = [(vars(part), _state(vars(part))) for part in parts]

    def go_back(self) -> None:
        """Restore the state, including that of the store, and replace the session with a new one."""
        store = self._world.db.store
        assert isinstance(store, EmbeddedStore)
        store._writer.connection.deserialize("main", self._stored)
        self._world.clock.set(self._now)
        self._world.db = session_on(store, self._world.clock)
        for state, saved in self._states:
            state.update(_state(saved))


def _state(attributes: dict[str, Any]) -> dict[str, Any]:
    """Copy the attributes that can change: values, lists and dictionaries."""
    kept = (str, int, list, dict, datetime, NoneType)
    return {name: copy(value) for name, value in attributes.items() if isinstance(value, kept)}


class ListQueue:
    """A queue in a list, for tests that need no durability."""

    name = "commitcollect"

    def __init__(self) -> None:
        self.sent: list[Send] = []

    def execute(self, request: QueueRequest[Any]) -> Any:
        if isinstance(request, Send):
            self.sent.append(request)
            return None
        if isinstance(request, Receive):
            taken, self.sent = self.sent[:1], self.sent[1:]
            return tuple(Message("m", "r", send.body, send.group, 1, 0.0, 1) for send in taken)
        assert isinstance(request, Acknowledge), request
        return ()

    async def execute_async(self, request: QueueRequest[Any]) -> Any:
        return self.execute(request)

    def close(self) -> None:
        pass


def tools_of(clock: FakeClock, queue: Queue, strava: StravaModel) -> Tools:
    """Return the tools that routes and workers share, with the fake clock."""
    application = Application(SETTINGS, Vault(SETTINGS.token_key), clock, counted_ulids(clock))
    return Tools(application, strava, queue, ListQueue())


def session_on(store: Store, clock: FakeClock) -> Session:
    """Return a session whose waits advance its clock, and which raises if a budget is exceeded."""
    db = Session(store, clock=clock, secret=b"fake", strict_budgets=True, random=Random(0))
    db.sleep = clock.advance
    return db


@contextmanager
def new_world(
    store: Store | None = None, queue: Queue | None = None, clock: FakeClock | None = None
) -> Iterator[World]:
    """Create a world that contains only the bundled models."""
    clock = clock or FakeClock()
    with EmbeddedStore(":memory:", clock=clock, sweep_every=None) as memory:
        db = session_on(store or memory, clock)
        db.create_tables(SERVICE.tables)
        for definition in bundled():
            db.run(load_model(definition))
        strava = StravaModel(clock)
        yield World(db, strava, tools_of(clock, queue or ListQueue(), strava), clock)


@contextmanager
def queued_world(clock: FakeClock | None = None) -> Iterator[World]:
    """Create a world that contains only the bundled models, with an embedded queue instead of a list."""
    clock = clock or FakeClock()
    with tempfile.TemporaryDirectory() as folder:
        queue = EmbeddedQueue(
            Path(folder) / "queue.db", "commitcollect", clock=clock, durable=False, sleep=clock.advance
        )
        try:
            with new_world(queue=queue, clock=clock) as world:
                yield world
        finally:
            queue.close()
