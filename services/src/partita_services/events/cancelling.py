"""Cancelling a request: the user's lock is deleted, and its seat goes to the first who waits; all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from partita import Action, Procedure, f, retry_on_conflict, update
from partita.errors import IllegalTransition, Throttled, TransactionCancelled
from partita.recipes.idempotency import Plan
from partita_services.events.changes.model import cancel_request
from partita_services.events.model import Request, RequestLife, Seats, request_by_id
from partita_services.events.queueing.failures import delete_lock
from partita_services.events.reading import EventFound, show_event_now, show_request
from partita_services.events.terms import MESSAGES, OPEN, EventType, Reason, Status
from partita_services.events.transitions import because_of, logged, standing
from partita_services.events.waitlist.promoting import held_draw, next_waiting, promotion

MAX_TRIES: Final = 100
"""How often a cancellation is tried while others change the seats first. After each failure, another has succeeded."""


def cancel(request_id: str, reader: str | None, now: datetime) -> Procedure[Request]:
    """Cancel a request that is undecided, has won, or is on a waiting list. Cancelling it again changes nothing.

    Raises:
        ItemMissing: there is no such request, or the reader may not see it.
        IllegalTransition: the request is final, or the draw is being held.
        Throttled: others change the seats on every try.
    """
    try:
        return (yield from retry_on_conflict(lambda: _cancel_once(request_id, reader, now), tries=MAX_TRIES))
    except TransactionCancelled:  # by others, or by the store after all retries of the session
        raise Throttled("Too many calls change the seats of this event.", hint="Try again in a moment.") from None


def _cancel_once(request_id: str, reader: str | None, now: datetime) -> Procedure[Request]:
    request = yield from show_request(request_id, reader)
    if request.error_code == Reason.CANCELLED:
        return request
    plan = yield from _plan(request, now)
    yield from cancel_request(plan)
    return plan.result


def _plan(request: Request, now: datetime) -> Procedure[Plan[Request]]:
    found = yield from show_event_now(request.event_id)
    freed: Sequence[Action] = ()
    if request.status is Status.SUCCEEDED:
        freed = yield from _freed_seat(found, now)
    elif request.error_code == Reason.WAITING_LIST:
        if found.event.event_type is EventType.LOTTERY:
            yield from held_draw(request.event_id)
    elif found.event.event_type is EventType.LOTTERY and request.status is Status.PROCESSING:
        freed = [_left_the_lottery(found.seats, now)]
    elif request.status not in OPEN:
        raise IllegalTransition(f"The request is {request.status.name}, which is final.", current=request)
    cancelled = RequestLife.cancel(
        request_by_id(request.request_id),
        *standing(request.event_id, request.user_id, request.queued_at),
        *because_of(Reason.CANCELLED),
        f(Request.finished_at).set(now),
        f(Request.waiting_position).remove(),
    ).when(f(Request.status).eq(request.status))
    cancelled = cancelled.when(f(Request.error_code).eq(request.error_code))
    changed = {
        "shard": request.event_id,
        "status": Status.REJECTED,
        "error_code": Reason.CANCELLED,
        "error_message": MESSAGES[Reason.CANCELLED],
        "finished_at": now,
        "waiting_position": None,
    }
    log = logged(found.event, request.request_id, Status.REJECTED, Reason.CANCELLED, now)
    lock = delete_lock(request.event_id, request.user_id, request.request_id)
    return Plan(request.model_copy(update=changed), cancelled, lock, *freed, *log)


def _left_the_lottery(seats: Seats, now: datetime) -> Action:
    if seats.is_frozen:
        raise IllegalTransition("The draw is being held.", hint="Try again when it is done.")
    return update(seats, f(Seats.entered).set(seats.entered - 1), f(Seats.updated_at).set(now))


def _freed_seat(found: EventFound, now: datetime) -> Procedure[Sequence[Action]]:
    """The actions that give the seat to the first who waits, or free it if nobody does."""
    event, seats = found.event, found.seats
    place, first = seats.next_waiting, list[Request]()
    if not seats.is_cancelled:
        place, first = yield from next_waiting(event, seats, 1)
    left = seats.remaining + 1 - len(first)
    after = (f(Seats.remaining).set(left), f(Seats.next_waiting).set(place), f(Seats.updated_at).set(now))
    return [update(seats, *after), *(action for request in first for action in promotion(event, request, now))]
