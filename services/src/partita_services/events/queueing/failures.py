"""Requests that cannot be decided: each waits for another try, or it ends and frees the user's lock."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from partita import Action, Procedure, delete, f, update
from partita.errors import (
    ConditionFailed,
    StoreError,
    Throttled,
    TransactionCancelled,
    TransactionConflict,
    Unprocessed,
)
from partita_services.events import model
from partita_services.events.model import Event, Lock, Request, RequestLife, lock_of, log_step, request_by_id
from partita_services.events.terms import EventType, FailureClass, Reason, Status, instant
from partita_services.events.transitions import Arrival, Attempt, entry, failure, standing

TRANSIENT: Final = (StoreError, Throttled, TransactionCancelled, TransactionConflict, Unprocessed)
"""Temporary errors, which are not caused by a request."""


def delay(event: Event, arrival: Arrival, code: str, message: str) -> Procedure[None]:
    """Record on a request why it waits for another try, unless it is decided."""
    at, trouble = request_by_id(arrival.request_id), failure(FailureClass.TRANSIENT, code, message)
    # In a lottery, PROCESSING means that a request takes part in the draw, so the status is not changed there.
    waits = f(Request.status).is_in((Status.RECEIVED, Status.QUEUED))
    is_lottery = event.event_type is EventType.LOTTERY
    change = update(at, *trouble).when(waits) if is_lottery else RequestLife.retry(at, *trouble)
    with suppress(ConditionFailed):
        yield from model.delay_request(change)


def give_up(
    event_id: str, arrival: Arrival, reason: Reason, message: str, attempt: Attempt, event: Event | None
) -> Procedure[None]:
    """End a request permanently, and free the user's lock. A request that is already decided stays as it is.

    `event` is None if there is no such event.
    """
    request_id = arrival.request_id
    because = failure(FailureClass.PERMANENT, reason, message)
    stands = standing(event_id, arrival.user_id, instant(arrival.sent_at))
    ended = RequestLife.fail(request_by_id(request_id), *stands, *because, f(Request.finished_at).set(attempt.at))
    log = []
    if event is not None and event.keeps_log:
        failed = entry(request_id, Status.FAILED_FINAL, attempt.worker, attempt.at, reason, expires_at=event.expires_at)
        log = [log_step(failed)]
    try:
        yield from model.give_up(ended, *log, delete_lock(event_id, arrival.user_id, request_id))
    except TransactionCancelled as cancelled:
        if cancelled.cause is None:
            raise
        if cancelled.reasons[0].error is None:  # so the lock belongs to another request
            yield from model.give_up(ended, *log)


def delete_lock(event_id: str, user_id: str, request_id: str) -> Action:
    """The action that deletes the user's lock, if it belongs to this request."""
    return delete(lock_of(event_id, user_id)).when(f(Lock.request_id).eq(request_id))
