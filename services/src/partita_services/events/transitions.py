"""The transitions of a request as parts of transactions: each is a conditional update, with its log entries."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Final

from msgspec import Struct

from partita import Action, Change, Update, f
from partita.operations import MAX_ACTIONS
from partita.recipes.lifecycle import Move
from partita_services.events.model import Event, LogEntry, Request, RequestLife, log_step, request_by_id
from partita_services.events.terms import MESSAGES, FailureClass, Reason, Status

API: Final = "api"
"""The name in log entries for transitions that no worker makes."""

_SEQUENCE: Final = {status: number for number, status in enumerate(Status, start=1)}
_SHARD, _QUEUED_AT, _USER_ID = f(Request.shard), f(Request.queued_at), f(Request.user_id)
_STARTED_AT, _FINISHED_AT = f(Request.started_at), f(Request.finished_at)
_ERROR_CODE, _ERROR_MESSAGE = f(Request.error_code), f(Request.error_message)
_WAITING_POSITION: Final = f(Request.waiting_position)


class Arrival(Struct, frozen=True):
    """A request as the queue delivers it."""

    request_id: str
    user_id: str
    sent_at: float
    """When the queue accepted it."""
    is_redelivered: bool = False
    """Whether it was delivered before, so that an earlier try may have failed."""


class Attempt(Struct, frozen=True):
    """An attempt to decide requests: the worker, when it began, and the current time."""

    worker: str
    began: datetime
    at: datetime


class QueuePlace(Struct, frozen=True):
    """The place of an arrival in the queue of its event; no other arrival has the same place."""

    arrival: Arrival
    queued_at: datetime

    def began(self, attempt: Attempt) -> datetime:
        """When a worker began to process it; never before it was queued, whatever the worker's clock says."""
        return max(attempt.began, self.queued_at)

    def ended(self, attempt: Attempt) -> datetime:
        """When it was decided."""
        return max(attempt.at, self.queued_at)


def max_decisions(event: Event) -> int:
    """The maximum number of decisions in a transaction that also writes the seats and a page of the waiting list.

    If the event keeps a log, each decision also writes three entries.
    """
    left = MAX_ACTIONS - (2 if event.has_waiting_list else 1)
    return left // (4 if event.keeps_log else 1)


def queued(request: Request, queued_at: datetime) -> Update[Request]:
    """Mark a request as queued. The log entry follows when a worker knows its final place."""
    return RequestLife.queue(request_by_id(request.request_id), *standing(request.shard, request.user_id, queued_at))


def entered(event: Event, place: QueuePlace, attempt: Attempt) -> tuple[Action, ...]:
    """The actions by which a request takes part in the draw."""
    return _moved(RequestLife.enter, event, place, attempt), *_logged(event, place, attempt)


def won(event: Event, place: QueuePlace, attempt: Attempt) -> tuple[Action, ...]:
    """The actions that give a request a seat."""
    move = _moved(RequestLife.succeed, event, place, attempt, _FINISHED_AT.set(place.ended(attempt)))
    return move, *_logged(event, place, attempt, Status.SUCCEEDED)


def lost(event: Event, place: QueuePlace, attempt: Attempt, reason: Reason) -> tuple[Action, ...]:
    """The actions that reject a request."""
    because = (_FINISHED_AT.set(place.ended(attempt)), *because_of(reason))
    move = _moved(RequestLife.reject, event, place, attempt, *because)
    return move, *_logged(event, place, attempt, Status.REJECTED, reason)


def too_late(event: Event, place: QueuePlace, attempt: Attempt) -> tuple[Action, ...]:
    """The actions that reject an entry that arrives after the draw has begun, unless it already takes part."""
    because = (_FINISHED_AT.set(place.ended(attempt)), *because_of(Reason.CLOSED))
    move = _moved(RequestLife.reject, event, place, attempt, *because).when(_SHARD.ne(event.event_id))
    return move, *_logged(event, place, attempt, Status.REJECTED, Reason.CLOSED)


def waits(event: Event, place: QueuePlace, attempt: Attempt, position: int) -> tuple[Action, ...]:
    """The actions that put a request on the waiting list, at a position from 1."""
    reason = Reason.WAITING_LIST
    because = (_FINISHED_AT.set(place.ended(attempt)), *because_of(reason), _WAITING_POSITION.set(position))
    move = _moved(RequestLife.reject, event, place, attempt, *because)
    return move, *_logged(event, place, attempt, Status.REJECTED, reason)


def promoted(event: Event, request: Request, now: datetime) -> tuple[Action, ...]:
    """The actions that give a waiting request a seat."""
    move = RequestLife.promote(
        request_by_id(request.request_id),
        _FINISHED_AT.set(now),
        _ERROR_CODE.remove(),
        _ERROR_MESSAGE.remove(),
    ).when(_ERROR_CODE.eq(Reason.WAITING_LIST))
    return move, *logged(event, request.request_id, Status.SUCCEEDED, None, now)


@lru_cache(maxsize=64)  # the same for all requests that are decided together, which are many
def because_of(reason: Reason, message: str | None = None) -> tuple[Change, ...]:
    """Why a request did not win, for programs and for people."""
    return _ERROR_CODE.set(reason), _ERROR_MESSAGE.set(message or MESSAGES[reason])


def failure(failure_class: FailureClass, code: str, message: str) -> tuple[Change, ...]:
    """The changes that record a failure on a request."""
    return (
        f(Request.failure_class).set(failure_class),
        f(Request.error_code).set(code),
        f(Request.error_message).set(message),
    )


def entry(
    request_id: str,
    status: Status,
    worker: str,
    at: datetime,
    reason: str | None = None,
    *,
    expires_at: int | None,
) -> LogEntry:
    """A log entry."""
    return LogEntry(
        request_id=request_id,
        occurred_at=at,
        sequence=_SEQUENCE[status],
        status=status,
        worker=worker,
        reason=reason,
        ttl=expires_at,
    )


def logged(event: Event, request_id: str, status: Status, reason: Reason | None, now: datetime) -> tuple[Action, ...]:
    """The log entry for a transition made by the API, if the event keeps a log."""
    if not event.keeps_log:
        return ()
    return (log_step(entry(request_id, status, API, now, reason, expires_at=event.expires_at)),)


def _moved(move: Move[Request], event: Event, place: QueuePlace, attempt: Attempt, *changes: Change) -> Update[Request]:
    arrival = place.arrival
    if arrival.is_redelivered:  # its fields may tell why an earlier try failed
        said = {change.path for change in changes}
        trouble = (f(Request.failure_class), _ERROR_CODE, _ERROR_MESSAGE)
        changes = (*changes, *(field.remove() for field in trouble if field.path not in said))
    return move(
        request_by_id(arrival.request_id),
        *standing(event.event_id, arrival.user_id, place.queued_at),
        _STARTED_AT.set(place.began(attempt)),
        *changes,
    )


def standing(shard: str, user_id: str, queued_at: datetime) -> tuple[Change, ...]:
    """The place of a request. The user is set again so that the index keys are known without reading the request."""
    return _SHARD.set(shard), _QUEUED_AT.set(queued_at), _USER_ID.set(user_id)


def _logged(
    event: Event, place: QueuePlace, attempt: Attempt, status: Status | None = None, reason: str | None = None
) -> Iterator[Action]:
    if not event.keeps_log:
        return
    request_id, expires = place.arrival.request_id, event.expires_at
    yield log_step(entry(request_id, Status.QUEUED, API, place.queued_at, expires_at=expires))
    yield log_step(entry(request_id, Status.PROCESSING, attempt.worker, place.began(attempt), expires_at=expires))
    if status is not None:
        yield log_step(entry(request_id, status, attempt.worker, place.ended(attempt), reason, expires_at=expires))
