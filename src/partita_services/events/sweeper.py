"""The sweeper: finds requests that a crash has left behind, and sends them once more.

It reads the requests of events that are not finished yet, in queue order, from where all before it is decided. So a
request that is decided in time is read about twice, 0.06 RCU each for 500 bytes, and nothing is scanned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from partita import Session, Span, delete, f, update
from partita.errors import LeaseHeld
from partita.operations._batch import chunks
from partita.queue import Measure, Queue
from partita.recipes.idempotency import Plan
from partita_services.events.draw import DrawRefused, hold_draw
from partita_services.events.model import (
    LEASES,
    OPEN,
    Active,
    Event,
    EventStatus,
    EventType,
    Request,
    Status,
    active_event,
    active_events,
    draw_of,
    event_by_id,
    finish_event,
    instant,
    requests_since,
    seats_of,
)
from partita_services.events.queueing import MAX_IN_MESSAGE, mark, sending

EVERY: Final = timedelta(seconds=10)
LEASE: Final = timedelta(seconds=30)
"""For so long a request may be on its way to the queue, or a sweeper silent."""
RESENT_AFTER: Final = timedelta(minutes=5)
"""A request that was sent again and still is not decided may be sent once more after this time."""
PAGE: Final = 1_000
MAX_ACTIVE: Final = 10_000
_BEGINNING: Final = instant(0)


class Sweeper:
    """Sweeps while no other worker does."""

    def __init__(self, session: Session, queue: Queue, name: str) -> None:
        self._session = session
        self._queue = queue
        self._name = name
        self._due = _BEGINNING
        self._decided_until: dict[str, datetime] = {}
        self._resent: dict[str, datetime] = {}

    def sweep_if_due(self) -> None:
        """Sweep, if it is some time since the last one and no other worker does it."""
        now = self._now()
        if now < self._due:
            return
        self._due = now + EVERY
        try:
            self._session.run(LEASES.acquire("sweeper", owner=self._name, duration=LEASE))
        except LeaseHeld:
            return
        self.sweep()

    def sweep(self) -> int:
        """Send what was left behind once more, and note which events are finished; returns how many were sent."""
        active = self._session.run(active_events().walk(max_items=MAX_ACTIVE))
        return sum(self._sweep_event(event) for event in map(self._event, active) if event is not None)

    def _event(self, active: Active) -> Event | None:
        return self._session.run(event_by_id(active.event_id))

    def _sweep_event(self, event: Event) -> int:
        """What was queued a lease ago is looked at; before an event counts as finished, all of its requests are."""
        until = self._now() - LEASE
        start = self._decided_until.get(event.event_id, _BEGINNING)
        passed = self._passed(event)
        stuck, undecided = self._look(event, start, until, passed)
        self._send_again(stuck)
        self._finish_draw(event)
        if undecided is None and event.event_type is EventType.FIRST_COME and until > event.closes_at:
            _, undecided = self._look(event, _BEGINNING, until, passed)
            if undecided is None:
                self._finish(event)
        self._decided_until[event.event_id] = undecided or until
        return len(stuck)

    def _passed(self, event: Event) -> datetime:
        """The queue has handed out all that was queued until then, and will not do so again."""
        stats = self._queue.execute(Measure())
        if stats.waiting + stats.in_flight == 0:
            return self._now() - LEASE
        seats = self._session.run(seats_of(event.event_id).consistent())
        last = seats.last_queued_at if seats is not None else None
        return _BEGINNING if last is None else last - LEASE

    def _look(
        self, event: Event, start: datetime, until: datetime, passed: datetime
    ) -> tuple[list[Request], datetime | None]:
        """The requests that were left behind, and where the first undecided one stands."""
        stuck: list[Request] = []
        undecided: datetime | None = None
        for request in self._requests(event, start, until):
            if is_decided(request):
                continue
            undecided = undecided or request.queued_at
            if self._is_stuck(request, passed):
                stuck.append(request)
        return stuck, undecided

    def _requests(self, event: Event, start: datetime, until: datetime) -> Iterator[Request]:
        if until < start:
            return
        found = requests_since(event.event_id, Span.between(start, until))
        page = self._session.run(found.page(PAGE))
        yield from page
        while page.next_cursor is not None:
            page = self._session.run(found.page(PAGE, after=page.next_cursor))
            yield from page

    def _is_stuck(self, request: Request, passed: datetime) -> bool:
        """One that the queue never got; or one that it got and passed, which then is among the dead letters."""
        resent = self._resent.get(request.request_id)
        if resent is not None and resent + RESENT_AFTER > self._now():
            return False
        return request.status is Status.RECEIVED or request.queued_at < passed

    def _send_again(self, requests: Sequence[Request]) -> None:
        now = self._now()
        self._resent = {key: at for key, at in self._resent.items() if at + RESENT_AFTER > now}
        for together in chunks(requests, MAX_IN_MESSAGE):
            accepted = self._queue.execute(sending(together, once=f"{together[0].request_id}@{now.isoformat()}"))
            self._resent |= {request.request_id: now for request in together}
            self._session.run(mark([r for r in together if r.status is Status.RECEIVED], accepted))

    def _finish_draw(self, event: Event) -> None:
        """Go on with a draw that was cut off."""
        draw = self._session.run(draw_of(event.event_id)) if event.event_type is EventType.LOTTERY else None
        if draw is not None and draw.drawn_at + LEASE < self._now():
            with suppress(DrawRefused):  # not all entries are to be seen yet, and there is another sweep
                self._session.run(hold_draw(event.event_id, self._now()))

    def _finish(self, event: Event) -> None:
        done = update(event_by_id(event.event_id), f(Event.status).set(EventStatus.FINISHED))
        self._session.run(finish_event(Plan(event, done, delete(active_event(event.event_id)))))
        self._decided_until.pop(event.event_id, None)

    def _now(self) -> datetime:
        return instant(self._session.context.clock())


def is_decided(request: Request) -> bool:
    """Whether no worker has to do anything for a request: an entry of a lottery waits for the draw."""
    entered = request.event_type is EventType.LOTTERY and request.status is Status.PROCESSING
    return entered or request.status not in OPEN
