"""Events: users apply and cancel, workers decide what the queue delivers, and are killed. Seats, and their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from random import Random
from typing import Any, Final

from tests.simulation._kernel import START, Process
from tests.simulation._retrying import PASSING, GaveUp, ask_again
from tests.simulation._world import World, expect

from partita import Session, Table
from partita.errors import RequestError
from partita.queue import GetStats, Queue, QueuePolicy
from partita.recipes.idempotency import run_plan
from partita.values import Item
from partita_services.events.cancelling import cancel
from partita_services.events.changes.drafts import EventDraft
from partita_services.events.draws.verify import hash_of, ranked
from partita_services.events.handlers import Application, apply, open_event
from partita_services.events.model import TABLE, Event, event_by_id
from partita_services.events.queueing.messages import NAME, POLICY, sending
from partita_services.events.queueing.model import SentBatch, note_sent
from partita_services.events.queueing.sweeper import Sweeper
from partita_services.events.queueing.worker import Worker
from partita_services.events.terms import EventType, FreedSeats, instant

USERS: Final = 8
WORKERS: Final = 2
SEED: Final = bytes(range(32))
OPEN: Final = frozenset(("RECEIVED", "QUEUED", "PROCESSING"))
EMPTY: Final = frozenset(("CAPACITY", "WAITING_LIST"))
WAIT: Final = 1.0
CLOSES_IN: Final = 25.0
NEVER: Final = 2**40


class Events:
    """One event, its users and its workers."""

    tables: Sequence[Table] = (TABLE,)
    queues: Mapping[str, QueuePolicy] = {NAME: POLICY}
    spared: Container[str] = ()
    worker: Callable[[Session, Queue, str], Worker] = Worker

    def __init__(self) -> None:
        self.told: dict[str, set[str]] = {}
        """Which requests each user was told of."""
        self.event: Event

    def start(self, world: World) -> None:
        """Open the event, and begin."""
        random = world.random
        lottery = random.random() < 0.4
        draft = EventDraft(
            name="A",
            event_type=EventType.LOTTERY if lottery else EventType.FIRST_COME,
            capacity_total=random.randrange(1, 5),
            opens_at=instant(START),
            closes_at=instant(START) + timedelta(seconds=CLOSES_IN),
            keeps_log=random.random() < 0.3,
            draws_itself=lottery,
            freed_seats=random.choice(list(FreedSeats)),
        )
        self.event = world.truth.run(open_event(draft, instant(START), SEED).run()).event
        for number in range(USERS):
            world.client(f"user-{number}", lambda process: self._live(world, process))
        for number in range(WORKERS):
            world.worker(f"worker-{number}", lambda process: self._work(world, process))

    def _live(self, world: World, process: Process) -> None:
        session, queue = world.session(process), world.queue(process, NAME)
        random = Random(f"{process.name} {world.random.random()}")
        while not world.is_calm:
            world.kernel.sleep(random.uniform(0.0, 6.0))
            with suppress(GaveUp, RequestError):
                request_id = self._apply(world, session, queue, process)
                if random.random() < 0.4:
                    world.kernel.sleep(random.uniform(0.0, 8.0))
                    now = instant(process.clock())
                    ask_again(world, lambda: session.run(cancel(request_id, process.name, now)))  # noqa: B023 - at once

    def _apply(self, world: World, session: Session, queue: Queue, process: Process) -> str:
        """As the route does it: the request is stored and sent, and its batch noted; whatever fails is swept later."""
        now = instant(process.clock())
        event = ask_again(world, lambda: session.run(event_by_id(self.event.event_id)))

        def applying() -> tuple[str, Application]:
            batch = f"{process.name} at {world.kernel.now}"  # another for each try, as each call of the route joins one
            return batch, session.run(apply(event, process.name, now, run_plan, batch=batch))

        batch: str
        made: Application
        batch, made = ask_again(world, applying)
        self.told.setdefault(process.name, set()).add(made.request.request_id)
        if made.is_new:
            with suppress(*PASSING):
                accepted = queue.execute(sending([made.request]))
                session.run(note_sent(SentBatch(batch_id=batch, queued_at=instant(accepted.at), ttl=NEVER)))
        return made.request.request_id

    def _work(self, world: World, process: Process) -> None:
        session, queue = world.session(process), world.queue(process, NAME)
        worker, sweeper = self.worker(session, queue, process.name), Sweeper(session, queue, process.name)
        while True:
            try:
                worker.serve(wait=WAIT)
                sweeper.sweep_if_due()
            except PASSING:
                world.kernel.sleep(WAIT)

    def check(self, world: World) -> None:
        """Seats and winners agree, nobody has two requests, and who won was not queued after who went away empty."""
        seats, requests = self._stored(world)
        winners = [each for each in requests if each["status"] == "SUCCEEDED"]
        expect(len(winners) <= seats["capacityTotal"], "{} won, of {}", len(winners), seats["capacityTotal"])
        if self.event.event_type is EventType.FIRST_COME:
            left = seats["capacityTotal"] - len(winners)
            expect(seats["capacityRemaining"] == left, "{} seats are left, not {}", left, seats["capacityRemaining"])
            self._check_order(requests)
        live = Counter(each["userId"] for each in requests if each.get("errorCode") not in {"CANCELLED", "CAPACITY"})
        expect(max(live.values(), default=0) <= 1, "a user has two requests: {}", live.most_common(1))

    def _check_order(self, requests: Sequence[Item]) -> None:
        places = [
            each["queuedAt"] for each in requests if each["status"] == "SUCCEEDED" or each.get("errorCode") in EMPTY
        ]
        expect(len(set(places)) == len(places), "two requests have the same place")
        if self.event.freed_seats is FreedSeats.RELEASE:
            return  # who found no seat may come again, behind those who came meanwhile
        in_order = sorted(requests, key=lambda each: str(each["queuedAt"]))
        decided = [each for each in in_order if each["status"] == "SUCCEEDED" or each.get("errorCode") in EMPTY]
        won = [each["status"] == "SUCCEEDED" for each in decided]
        expect(won == sorted(won, reverse=True), "somebody won who came after one that went away empty: {}", won)

    def is_settled(self, world: World) -> bool:
        """Everything is decided, the event has ended, and the queue is empty."""
        if not world.clients_are_done() or world.kernel.now < START + CLOSES_IN:
            return False
        _, requests = self._stored(world)
        stats = world.server.queues[NAME].execute(GetStats())
        has_drawn = self.event.event_type is EventType.FIRST_COME or "revealedAt" in _draw(world)
        return (
            not any(each["status"] in OPEN for each in requests) and not stats.waiting + stats.in_flight and has_drawn
        )

    def check_end(self, world: World) -> None:
        """As many won as there are seats, or as there are who want one; nobody who was told of a request lost it."""
        seats, requests = self._stored(world)
        known = {each["requestId"] for each in requests}
        for user, told in self.told.items():
            expect(told <= known, "{} was told of a request that is gone", user)
        expect(not any(each["status"] == "FAILED_FINAL" for each in requests), "a request was given up")
        if self.event.event_type is EventType.LOTTERY:
            self._check_draw(world, requests)
            return
        wanted = sum(each["status"] == "SUCCEEDED" or each.get("errorCode") in EMPTY for each in requests)
        won = sum(each["status"] == "SUCCEEDED" for each in requests)
        if self.event.freed_seats is FreedSeats.WAITING_LIST:
            expect(won == min(seats["capacityTotal"], wanted), "{} won, of {} who wanted to", won, wanted)

    def _check_draw(self, world: World, requests: Sequence[Item]) -> None:
        draw = _draw(world)
        entries = {each["requestId"] for each in requests if each["status"] == "SUCCEEDED"} | {
            each["requestId"] for each in requests if each.get("errorCode") == "WAITING_LIST"
        }
        gone = {each["requestId"] for each in requests} - entries
        expect(draw["entriesHash"] == hash_of(entries) or gone, "the draw has other entries than those who took part")
        order = ranked(SEED, self.event.event_id, {each["requestId"] for each in requests})
        taking_part = [each for each in order if each in entries]
        won = {each["requestId"] for each in requests if each["status"] == "SUCCEEDED"}
        expect(set(taking_part[: len(won)]) == won, "the winners are not those that the seed draws")

    def _stored(self, world: World) -> tuple[Item, list[Item]]:
        items = world.items(TABLE)
        seats = next(each for each in items if each["SK"] == "CAPACITY")
        return seats, [each for each in items if each["PK"].startswith("REQ#") and each["SK"] == "META"]


def _draw(world: World) -> dict[str, Any]:
    return next((item for item in world.items(TABLE) if item["SK"] == "DRAW"), {})
