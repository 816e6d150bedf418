"""Helpers for tests of the events service: they open events, apply for users, and check decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from partita import Session
from partita.queue import Queue
from partita.recipes.idempotency import run_plan
from partita_services.events.changes.drafts import EventDraft
from partita_services.events.handlers import apply, open_event
from partita_services.events.model import (
    Event,
    Lock,
    Request,
    Seats,
    lock_of,
    request_by_id,
    requests_of_event,
    seats_of,
    waiting_requests,
)
from partita_services.events.queueing.messages import sending
from partita_services.events.terms import ALWAYS, OPEN, EventType, Reason, Status, instant, waiting_shards
from partita_services.events.transitions import Attempt

SEED = bytes(range(32))


def opened(
    db: Session,
    capacity: int,
    event_type: EventType = EventType.FIRST_COME,
    *,
    keeps_log: bool = False,
    closes_in: float = 3_600,
    **more: Any,
) -> Event:
    """Create an event that is open now."""
    now = instant(db.context.clock())
    draft = EventDraft(
        name="A",
        event_type=event_type,
        capacity_total=capacity,
        opens_at=now,
        closes_at=now + timedelta(seconds=closes_in),
        keeps_log=keeps_log,
        **more,
    )
    return db.run(open_event(draft, now, SEED).run()).event


def applied(db: Session, event: Event, *users: str) -> list[Request]:
    """Apply for users, and return their requests, none of which is in the queue."""
    now = instant(db.context.clock())
    return [db.run(apply(event, user, now, run_plan)).request for user in users]


def sent(db: Session, queue: Queue, event: Event, *users: str, together: int = 1) -> list[Request]:
    """Apply for users, put their requests into the queue in this order, `together` in each message, and return them."""
    requests = applied(db, event, *users)
    for start in range(0, len(requests), together):
        queue.execute(sending(requests[start : start + together]))
    return requests


def users(count: int) -> list[str]:
    """Return the ids of a number of users."""
    return [f"u{number:03}" for number in range(count)]


def attempt(at: datetime, worker: str = "w") -> Callable[[], Attempt]:
    """Return a function that returns an attempt of a worker."""
    return lambda: Attempt(worker, at, at)


def current(db: Session, request: Request) -> Request:
    """Return the stored state of a request."""
    found = db.run(request_by_id(request.request_id).consistent())
    assert found is not None
    return found


def in_queue_order(db: Session, event: Event) -> list[Request]:
    """Return all requests of an event that have their place in the queue, in its order."""
    return list(db.run(requests_of_event(event.event_id).page(1_000)))


def waiting(db: Session, event: Event) -> list[Request]:
    """Return the requests of an event that have no place in the queue yet."""
    shards = waiting_shards(event.event_id)
    return [request for shard in shards for request in db.run(waiting_requests(shard, ALWAYS))]


def seats(db: Session, event: Event) -> Seats:
    """Return the current seats of an event."""
    found = db.run(seats_of(event.event_id).consistent())
    assert found is not None
    return found


def lock(db: Session, request: Request) -> Lock | None:
    """Return the lock of a request's user; None if there is none."""
    return db.run(lock_of(request.event_id, request.user_id).consistent())


def check_first_come(db: Session, event: Event, capacity: int, expected: Iterable[str]) -> None:
    """Check that every request is decided, that exactly the first by `queuedAt` have won, and that all have locks."""
    assert waiting(db, event) == []
    requests = in_queue_order(db, event)
    assert sorted(request.request_id for request in requests) == sorted(expected)
    assert [request for request in requests if request.status in OPEN] == []
    won = [request.status is Status.SUCCEEDED for request in requests]
    taken = min(capacity, len(requests))
    assert won == [True] * taken + [False] * (len(requests) - taken)
    assert len({request.queued_at for request in requests}) == len(requests)
    assert seats(db, event).remaining == capacity - taken
    for request in requests:
        held = lock(db, request)
        assert held is not None
        assert held.request_id == request.request_id


def check_nobody_is_passed_over(db: Session, event: Event) -> list[Request]:
    """Check that nobody waits who was queued before a winner, or while a seat is free; return the waiting requests."""
    requests, left = in_queue_order(db, event), seats(db, event)
    won = [request.queued_at for request in requests if request.status is Status.SUCCEEDED]
    waits = [request for request in requests if request.error_code == Reason.WAITING_LIST]
    assert len(won) + left.remaining == left.total
    assert not (waits and left.remaining)
    assert not (waits and won) or max(won) < min(request.queued_at for request in waits)
    positions = [request.waiting_position or 0 for request in waits]
    assert positions == sorted(set(positions))
    return waits
