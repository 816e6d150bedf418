"""Events: users apply and cancel; workers decide queued requests, and are killed. Seats are assigned in order."""

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
    """The scenario `events`: one event, its users and its workers."""

    tables: Sequence[Table] = (TABLE,)
    queues: Mapping[str, QueuePolicy] = {NAME: POLICY}
    spared: Container[str] = ()
    worker: Callable[[Session, Queue, str], Worker] = Worker

    def __init__(self) -> None:
        self.told: dict[str, set[str]] = {}
        """The ids of the requests that were acknowledged to each user."""
        self.event: Event

    def start(self, world: World) -> None:
        """Open the event, and start the users and workers."""
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
        """Store and send a request, and record its batch, as the route does. The sweeper completes what fails here."""
        now = instant(process.clock())
        event = ask_again(world, lambda: session.run(event_by_id(self.event.event_id)))

        def applying() -> tuple[str, Application]:
            batch = f"{process.name} at {world.kernel.now}"  # each try has its own, as each call of the route
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
        """Check that seats match winners, nobody has two requests, and no winner was queued after a loser."""
        seats, requests = self._stored(world)
        winners = [each for each in requests if each["status"] == "SUCCEEDED"]
        expect(len(winners) <= seats["capacityTotal"], "{} winners for {} seats", len(winners), seats["capacityTotal"])
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
        expect(len(set(places)) == len(places), "two requests were queued at the same instant")
        if self.event.freed_seats is FreedSeats.RELEASE:
            return  # who got no seat may apply again, after those who applied in the meantime
        in_order = sorted(requests, key=lambda each: str(each["queuedAt"]))
        decided = [each for each in in_order if each["status"] == "SUCCEEDED" or each.get("errorCode") in EMPTY]
        won = [each["status"] == "SUCCEEDED" for each in decided]
        expect(won == sorted(won, reverse=True), "a request won that was queued after one without a seat: {}", won)

    def is_settled(self, world: World) -> bool:
        """Whether the event has ended, everything is decided and drawn, and the queue is empty."""
        if not world.clients_are_done() or world.kernel.now < START + CLOSES_IN:
            return False
        _, requests = self._stored(world)
        stats = world.server.queues[NAME].execute(GetStats())
        has_drawn = self.event.event_type is EventType.FIRST_COME or "revealedAt" in _draw(world)
        return (
            not any(each["status"] in OPEN for each in requests) and not stats.waiting + stats.in_flight and has_drawn
        )

    def check_end(self, world: World) -> None:
        """Check that no acknowledged request is gone, and that all seats are taken or every applicant has one."""
        seats, requests = self._stored(world)
        known = {each["requestId"] for each in requests}
        for user, told in self.told.items():
            expect(told <= known, "an acknowledged request of {} is missing", user)
        expect(not any(each["status"] == "FAILED_FINAL" for each in requests), "a request failed permanently")
        if self.event.event_type is EventType.LOTTERY:
            self._check_draw(world, requests)
            return
        wanted = sum(each["status"] == "SUCCEEDED" or each.get("errorCode") in EMPTY for each in requests)
        won = sum(each["status"] == "SUCCEEDED" for each in requests)
        if self.event.freed_seats is FreedSeats.WAITING_LIST:
            expect(won == min(seats["capacityTotal"], wanted), "{} winners among {} applicants", won, wanted)

    def _check_draw(self, world: World, requests: Sequence[Item]) -> None:
        draw = _draw(world)
        entries = {each["requestId"] for each in requests if each["status"] == "SUCCEEDED"} | {
            each["requestId"] for each in requests if each.get("errorCode") == "WAITING_LIST"
        }
        gone = {each["requestId"] for each in requests} - entries
        expect(draw["entriesHash"] == hash_of(entries) or gone, "the entries of the draw are not those that took part")
        order = ranked(SEED, self.event.event_id, {each["requestId"] for each in requests})
        taking_part = [each for each in order if each in entries]
        won = {each["requestId"] for each in requests if each["status"] == "SUCCEEDED"}
        expect(set(taking_part[: len(won)]) == won, "the winners do not follow from the seed")

    def _stored(self, world: World) -> tuple[Item, list[Item]]:
        items = world.items(TABLE)
        seats = next(each for each in items if each["SK"] == "CAPACITY")
        return seats, [each for each in items if each["PK"].startswith("REQ#") and each["SK"] == "META"]


def _draw(world: World) -> dict[str, Any]:
    return next((item for item in world.items(TABLE) if item["SK"] == "DRAW"), {})
