"""Cancelling an event: nobody gets a seat any more; every request shows it, and its user gets a notice.

The event is cancelled in one transaction. Its requests follow in the background, many in one transaction. A user who
was notified is not notified again, so a worker that was interrupted can start over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from partita import Action, Procedure, absent, check, delete, f, put, retry_on_conflict, update
from partita.errors import ConditionFailed, ItemMissing, TransactionCancelled
from partita.recipes.idempotency import Plan
from partita.recipes.texts import VisibleText
from partita.runtime import chunks
from partita_services.events.changes.model import cancel_event, finish_event, withdraw_requests
from partita_services.events.changes.notices import cancellation_notice
from partita_services.events.draws.model import Draw, draw_of
from partita_services.events.model import (
    ActiveEvent,
    Event,
    Request,
    RequestLife,
    Seats,
    active_event,
    event_by_id,
    request_by_id,
    requests_of_event,
)
from partita_services.events.reading import EventFound, show_event_now
from partita_services.events.terms import (
    MESSAGES,
    OPEN,
    EventStatus,
    EventType,
    Reason,
    Status,
    waiting_shards,
)
from partita_services.events.transitions import because_of, logged, standing
from partita_services.events.waitlist.model import requests_by_ids

MAX_TRIES: Final = 100
PAGE: Final = 1_000
READ_AT_ONCE: Final = 100
AT_ONCE: Final = 33
"""How many users are notified in one transaction: each is an update, a log entry and a notice."""
_HOPEFUL: Final = (Reason.WAITING_LIST, Reason.CAPACITY)


class Cancellation(BaseModel):
    """The reason for cancelling an event, which everyone who applied is told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
        VisibleText(),
        Field(examples=["The hall is flooded."]),
    ]


class DrawGoesOn(ConditionFailed, code="draw_goes_on"):
    """The draw of the lottery is being held, and must be done before the event can be cancelled."""


def cancel_whole_event(event_id: str, reason: str, now: datetime) -> Procedure[EventFound]:
    """Cancel an event. Cancelling it again changes nothing; the first reason stays.

    Raises:
        ItemMissing: there is no such event. DrawGoesOn: its draw is being held.
    """
    yield from retry_on_conflict(lambda: _cancel_once(event_id, reason, now), tries=MAX_TRIES)
    return (yield from show_event_now(event_id))


def _cancel_once(event_id: str, reason: str, now: datetime) -> Procedure[None]:
    found = yield from show_event_now(event_id)
    event, seats = found.event, found.seats
    if event.status is EventStatus.CANCELLED:
        return
    draw = yield from _check_of_the_draw(event)
    status, why = f(Event.status).set(EventStatus.CANCELLED), f(Event.cancel_reason).set(reason)
    shut = update(seats, f(Seats.is_cancelled).set(True), f(Seats.updated_at).set(now))
    looked_after = put(ActiveEvent(event_id=event_id))
    yield from cancel_event(Plan(event, update(event, status, why), shut, looked_after, *draw))


def _check_of_the_draw(event: Event) -> Procedure[Sequence[Action]]:
    """The checks that no draw writes results meanwhile: there is none, it is done, or it awaits its value."""
    if event.event_type is not EventType.LOTTERY:
        return ()
    draw = yield from draw_of(event.event_id).consistent()
    if draw is None:
        return (absent(draw_of(event.event_id)),)
    if draw.revealed_at is not None:
        return ()
    if event.entropy_source is None or draw.entropy is not None:
        raise DrawGoesOn("The draw is being held.", hint="Cancel the event when the draw is done.")
    return (check(draw_of(event.event_id), f(Draw.entropy).missing()),)


def withdraw_all(event: Event, now: datetime) -> Procedure[int]:
    """Notify everyone who applied for a cancelled event. Return how many were not notified yet; repeat until 0."""
    unnotified = 0
    for shard in (*waiting_shards(event.event_id), event.event_id):
        query = requests_of_event(shard)
        page = yield from query.page(PAGE)
        unnotified += yield from _withdraw(event, page.items, now)
        while page.next_cursor is not None:
            page = yield from query.page(PAGE, after=page.next_cursor)
            unnotified += yield from _withdraw(event, page.items, now)
    return unnotified


def withdraw_arrived(event_id: str, request_ids: Sequence[str], now: datetime) -> Procedure[None]:
    """Notify the users of requests that a queue delivers for a cancelled event, unless they are notified already."""
    event = yield from event_by_id(event_id).consistent()
    if event is None:
        raise ItemMissing(f"There is no event {event_id}.")
    for together in chunks(request_ids, READ_AT_ONCE):
        unnotified = 1
        while unnotified:  # others may change some in the meantime
            requests = yield from requests_by_ids(together)
            present = [request for request in requests if request is not None]
            unnotified = yield from _withdraw(event, present, now)


def finish_cancelled(event: Event) -> Procedure[None]:
    """Record how many requests show the cancellation, and take the event off the sweeper's list."""
    counted, cursor, is_first = 0, None, True
    while is_first or cursor is not None:
        page = yield from requests_of_event(event.event_id).page(PAGE, after=cursor)
        counted += sum(request.error_code == Reason.EVENT_CANCELLED for request in page)
        cursor, is_first = page.next_cursor, False
    done = update(event_by_id(event.event_id), f(Event.notified).set(counted))
    yield from finish_event(Plan(event, done, delete(active_event(event.event_id))))


def _withdraw(event: Event, requests: Sequence[Request], now: datetime) -> Procedure[int]:
    """Notify the users of these requests. Return how many were not notified yet; some may have changed since."""
    unnotified = [request for request in requests if request.status in OPEN or _hopes(request)]
    for together in chunks(unnotified, AT_ONCE):
        left = list(together)
        while left:
            actions = [list(_withdrawal(event, request, now)) for request in left]
            try:
                yield from withdraw_requests(Plan(event, *(action for each in actions for action in each)))
            except TransactionCancelled as cancelled:
                if cancelled.cause is None:
                    raise
                left = _unchanged(left, actions, cancelled)
            else:
                left = []
    return len(unnotified)


def _hopes(request: Request) -> bool:
    return request.status is Status.SUCCEEDED or request.error_code in _HOPEFUL


def _withdrawal(event: Event, request: Request, now: datetime) -> Iterator[Action]:
    message = f"{MESSAGES[Reason.EVENT_CANCELLED]} {event.cancel_reason or ''}".strip()
    withdrawn = RequestLife.withdraw(
        request_by_id(request.request_id),
        *standing(event.event_id, request.user_id, request.queued_at),
        *because_of(Reason.EVENT_CANCELLED, message),
        f(Request.finished_at).set(now),
        f(Request.waiting_position).remove(),
    ).when(f(Request.status).eq(request.status))
    yield withdrawn.when(f(Request.error_code).eq(request.error_code))
    yield cancellation_notice(event, request, message, now)
    yield from logged(event, request.request_id, Status.REJECTED, Reason.EVENT_CANCELLED, now)


def _unchanged(
    requests: Sequence[Request], actions: Sequence[Sequence[Action]], cancelled: TransactionCancelled
) -> list[Request]:
    """The requests that nobody changed in the meantime; the next round handles the others."""
    reasons = iter(cancelled.reasons)
    return [
        request
        for request, each in zip(requests, actions, strict=True)
        if all([next(reasons).error is None for _ in each])  # noqa: C419 - every reason is consumed
    ]
