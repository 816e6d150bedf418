"""Cancelling a request: the user's lock goes, a seat goes back, and in a lottery to who waits next; all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from partita import Action, Procedure, f, retry_on_conflict, update
from partita.errors import IllegalTransition, Throttled, TransactionCancelled
from partita.recipes.idempotency import Plan
from partita_services.events.draws.draw import PAGE
from partita_services.events.draws.model import Draw, draw_of, drawn_page
from partita_services.events.model import Request, RequestLife, Seats, cancel_request, log_step, request_by_id
from partita_services.events.queueing.failures import freeing
from partita_services.events.reading import EventFound, show_event_now, show_request
from partita_services.events.terms import OPEN, EventType, Reason, Status
from partita_services.events.transitions import API, entry, standing

MAX_TRIES: Final = 100
"""How often a cancellation is tried while others change the seats first. Each time, one of them was done."""


def cancel(request_id: str, reader: str | None, now: datetime) -> Procedure[Request]:
    """Cancel a request that is undecided, has won, or is on a waiting list. Cancelled twice, it is the same.

    Raises:
        ItemMissing: there is none that the reader may see.
        IllegalTransition: it is decided otherwise, or the draw is being held.
        Throttled: others change the seats all the time.
    """
    try:
        return (yield from retry_on_conflict(lambda: _cancel_once(request_id, reader, now), tries=MAX_TRIES))
    except TransactionCancelled:  # by others, or by the store although the session has tried again with pauses
        raise Throttled("Too many change the seats of this event at once.", hint="Try again in a moment.") from None


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
    elif _waits(request):
        yield from _held_draw(request.event_id)
    elif found.event.event_type is EventType.LOTTERY and request.status is Status.PROCESSING:
        freed = [_left_the_lottery(found.seats, now)]
    elif request.status not in OPEN:
        raise IllegalTransition(f"The request is {request.status.name} for good.", current=request)
    cancelled = RequestLife.cancel(
        request_by_id(request.request_id),
        *standing(request.event_id, request.user_id, request.queued_at),
        f(Request.error_code).set(Reason.CANCELLED),
        f(Request.finished_at).set(now),
        f(Request.waiting_position).remove(),
    ).when(f(Request.status).eq(request.status))
    cancelled = cancelled.when(f(Request.error_code).eq(request.error_code))
    changed = {
        "shard": request.event_id,
        "status": Status.REJECTED,
        "error_code": Reason.CANCELLED,
        "finished_at": now,
        "waiting_position": None,
    }
    log = _logged(found, request.request_id, Status.REJECTED, Reason.CANCELLED, now)
    lock = freeing(request.event_id, request.user_id, request.request_id)
    return Plan(request.model_copy(update=changed), cancelled, lock, *freed, *log)


def _waits(request: Request) -> bool:
    return request.error_code == Reason.WAITING_LIST


def _left_the_lottery(seats: Seats, now: datetime) -> Action:
    if seats.is_frozen:
        raise _being_held()
    return update(seats, f(Seats.entered).set(seats.entered - 1), f(Seats.updated_at).set(now))


def _freed_seat(found: EventFound, now: datetime) -> Procedure[Sequence[Action]]:
    """The seat is free again, or that of the next who waits."""
    seats, at = found.seats, f(Seats.updated_at).set(now)
    if found.event.event_type is EventType.FIRST_COME:
        return [update(seats, f(Seats.remaining).set(seats.remaining + 1), at)]
    place, promoted = yield from _next_waiting(found)
    next_place = f(Seats.next_waiting).set(place)
    if promoted is None:
        return [update(seats, f(Seats.remaining).set(seats.remaining + 1), next_place, at)]
    promotion = RequestLife.promote(
        request_by_id(promoted.request_id),
        f(Request.finished_at).set(now),
        f(Request.error_code).remove(),
    ).when(f(Request.error_code).eq(Reason.WAITING_LIST))
    log = _logged(found, promoted.request_id, Status.SUCCEEDED, None, now)
    return [update(seats, next_place, at), promotion, *log]


def _next_waiting(found: EventFound) -> Procedure[tuple[int, Request | None]]:
    """Who is next on the waiting list and still wants the seat, and the place after theirs."""
    event_id, place = found.event.event_id, found.seats.next_waiting
    draw = yield from _held_draw(event_id)
    while found.seats.total + place < draw.entries:
        number, row = divmod(found.seats.total + place, PAGE)
        page = yield from drawn_page(event_id, number).consistent()
        request = (yield from request_by_id(page.entries[row]).consistent()) if page is not None else None
        place += 1
        if request is not None and _waits(request):
            return place, request
    return place, None


def _held_draw(event_id: str) -> Procedure[Draw]:
    """The draw, once all have their result: until then whoever goes on with it needs everybody as they were drawn."""
    draw = yield from draw_of(event_id).consistent()
    if draw is None or draw.revealed_at is None:
        raise _being_held()
    return draw


def _being_held() -> IllegalTransition:
    return IllegalTransition("The draw is being held.", hint="Try again when it is done.")


def _logged(
    found: EventFound, request_id: str, status: Status, reason: Reason | None, now: datetime
) -> Sequence[Action]:
    return [log_step(entry(request_id, status, API, now, reason))] if found.event.keeps_log else []
