"""The sweeper: finds requests that a crash has left behind, and sends them again.

Requests wait in shards of GSI2 until they have their place, so it reads only the shards of unfinished events: 8 RCU for
an event for which nobody waits. Nothing is scanned, and decided requests are not read.

An event stays on the sweeper's list until two sweeps have found it over, because a worker's clock may be ahead, and
other servers may still accept requests:

    ACTIVE --- it is over, and nobody waits ---> FINISHED --- nobody waits, and nobody has applied since ---> removed
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from partita import Action, Session, Span, delete, f, put, update
from partita.errors import LeaseHeld, TransactionCancelled
from partita.queue import GetStats, Queue
from partita.recipes.idempotency import Plan
from partita.runtime import chunks
from partita_services.events.changes.event_cancelling import finish_cancelled, withdraw_all
from partita_services.events.changes.model import finish_event
from partita_services.events.draws.draw import DrawRefused, hold_draw
from partita_services.events.draws.model import draw_of
from partita_services.events.model import (
    LEASES,
    ActiveEvent,
    Event,
    Request,
    active_event,
    active_events,
    event_by_id,
    seats_of,
    waiting_requests,
)
from partita_services.events.queueing.batches import as_queued
from partita_services.events.queueing.messages import MAX_IN_MESSAGE, sending
from partita_services.events.queueing.sender import mark
from partita_services.events.terms import ALWAYS, EventStatus, EventType, Status, instant, waiting_shards
from partita_services.events.waitlist.promoting import give_out

EVERY: Final = timedelta(seconds=10)
LEASE: Final = timedelta(seconds=30)
"""How long a request may be on its way to the queue, or a sweeper may be silent."""
SETTLED: Final = timedelta(seconds=10)
"""How long after its last change a cancelled event is swept: longer than servers and indexes lag."""
RESENT_AFTER: Final = timedelta(minutes=5)
"""A request that was sent again and is still undecided may be sent once more after this time."""
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
        self._resent: dict[str, datetime] = {}

    def sweep_if_due(self) -> None:
        """Sweep if the last sweep is long enough ago and no other worker sweeps."""
        now = self._now()
        if now < self._due <= now + EVERY:  # if it is due later than that, the clock was ahead and was set back
            return
        self._due = now + EVERY
        try:
            self._session.run(LEASES.acquire("sweeper", owner=self._name, duration=LEASE))
        except LeaseHeld:
            return
        self.sweep()

    def sweep(self) -> int:
        """Send again the requests that were left behind, and mark finished events. Return how many were sent."""
        active = self._session.run(active_events().walk(max_items=MAX_ACTIVE))
        events = [(self._session.run(event_by_id(each.event_id)), each) for each in active]
        return sum(self._sweep_event(event, each) for event, each in events if event is not None)

    def _sweep_event(self, event: Event, active: ActiveEvent) -> int:
        """Check requests that have waited as long as a lease; if the event is closed, whether any wait at all."""
        if event.status is EventStatus.CANCELLED:
            return self._withdraw(event)
        until = self._now() - LEASE
        waiting = list(self._waiting(event, Span.until(until)))
        stuck = self._stuck(event, waiting) if waiting else []
        self._send_again(stuck)
        self._draw_if_due(event)
        self._session.run(give_out(event, self._now()))
        is_over = event.event_type is EventType.FIRST_COME and event.closes_at < until
        if event.status is EventStatus.FINISHED and active.applied is not None:
            self._keep(event, active)
        elif (is_over or event.status is EventStatus.FINISHED) and not waiting and self._nobody_waits(event):
            self._finish(event)
        return len(stuck)

    def _nobody_waits(self, event: Event) -> bool:
        return next(self._waiting(event, ALWAYS), None) is None

    def _waiting(self, event: Event, queued_at: Span[datetime]) -> Iterator[Request]:
        for shard in waiting_shards(event.event_id):
            found = waiting_requests(shard, queued_at)
            page = self._session.run(found.page(PAGE))
            yield from page
            while page.next_cursor is not None:
                page = self._session.run(found.page(PAGE, after=page.next_cursor))
                yield from page

    def _stuck(self, event: Event, waiting: Sequence[Request]) -> list[Request]:
        """The requests that the queue never got, and those that it has passed, which are among the dead letters."""
        now, passed = self._now(), self._passed(event)
        waiting = self._session.run(as_queued(waiting))
        self._resent = {key: at for key, at in self._resent.items() if at <= now < at + RESENT_AFTER}
        return [
            request
            for request in sorted(waiting, key=lambda request: request.queued_at)
            if request.request_id not in self._resent
            and (request.status is Status.RECEIVED or request.queued_at < passed)
        ]

    def _passed(self, event: Event) -> datetime:
        """The time up to which the queue has delivered everything, and will not deliver it again."""
        stats = self._queue.execute(GetStats())
        if stats.waiting + stats.in_flight == 0:
            return self._now() - LEASE
        seats = self._session.run(seats_of(event.event_id).consistent())
        last = seats.last_queued_at if seats is not None else None
        return _BEGINNING if last is None else last - LEASE

    def _send_again(self, requests: Sequence[Request]) -> None:
        now = self._now()
        for together in chunks(requests, MAX_IN_MESSAGE):
            accepted = self._queue.execute(sending(together, once=f"{together[0].request_id}@{now.isoformat()}"))
            self._resent |= {request.request_id: now for request in together}
            self._session.run(mark([r for r in together if r.status is Status.RECEIVED], accepted))

    def _withdraw(self, event: Event) -> int:
        """Notify those who applied for a cancelled event, until all are notified."""
        unnotified = self._session.run(withdraw_all(event, self._now()))
        seats = self._session.run(seats_of(event.event_id).consistent())
        # An index may not show a request that was accepted or decided just before.
        if not unnotified and seats is not None and seats.updated_at + SETTLED <= self._now():
            self._session.run(finish_cancelled(event))
        return 0

    def _draw_if_due(self, event: Event) -> None:
        """Continue a draw that was interrupted; begin one at the closing, if the event requires it."""
        if event.event_type is not EventType.LOTTERY:
            return
        draw, now = self._session.run(draw_of(event.event_id)), self._now()
        begins = draw is None and (event.draws_itself or event.entropy_source is not None)
        # A draw that began in the future was begun by a clock that is ahead; it is unknown whether it was interrupted.
        is_due = event.closes_at <= now if begins else draw is not None and abs(now - draw.drawn_at) > LEASE
        if is_due:
            with suppress(DrawRefused):  # not all entries are visible yet; the next sweep tries again
                self._session.run(hold_draw(event.event_id, now))

    def _keep(self, event: Event, active: ActiveEvent) -> None:
        """Keep the event on the list, since somebody has applied; the next sweep checks whether anybody waits."""
        seen = f(ActiveEvent.applied).eq(active.applied)
        self._write(event, put(ActiveEvent(event_id=event.event_id)).when(seen))

    def _finish(self, event: Event) -> None:
        """Mark the event as finished; if it already is, take it off the list, unless somebody has applied since."""
        if event.status is EventStatus.FINISHED:
            self._write(event, delete(active_event(event.event_id)).when(f(ActiveEvent.applied).missing()))
            return
        status = f(Event.status)
        at = event_by_id(event.event_id)
        self._write(event, update(at, status.set(EventStatus.FINISHED)).when(status.ne(EventStatus.CANCELLED)))

    def _write(self, event: Event, change: Action) -> None:
        try:
            self._session.run(finish_event(Plan(event, change)))
        except TransactionCancelled as cancelled:
            # With a cause, the event was cancelled, or somebody has applied: the next sweep handles it.
            if cancelled.cause is None:
                raise

    def _now(self) -> datetime:
        return instant(self._session.context.clock())
