"""A request that cannot be decided: it waits for another try, or it ends once, even if two workers give it up."""

from __future__ import annotations

import pytest
from tests.recipes.interleaving import overtaken
from tests.services.events.acting import applied, attempt, current, lock, opened

from partita import Session, f, update
from partita.errors import TransactionCancelled
from partita.store import TransactWriteItems
from partita.testing import FaultyStore
from partita_services.events.cancelling import cancel
from partita_services.events.model import Event, Lock, Request, lock_of, log_of
from partita_services.events.queueing.decisions import decide
from partita_services.events.queueing.failures import delay, give_up
from partita_services.events.terms import EventType, FailureClass, Reason, Status, instant
from partita_services.events.transitions import Arrival

pytestmark = pytest.mark.req("E06")
MESSAGE = "It cannot be decided."


def arrival_of(request: Request) -> Arrival:
    return Arrival(request.request_id, request.user_id, request.requested_at.timestamp())


def given_up(db: Session, event: Event, request: Request, worker: str = "w1", *, known: bool = True) -> None:
    now = instant(db.context.clock())
    at = attempt(now, worker)()
    arrival = arrival_of(request)
    db.run(give_up(event.event_id, arrival, Reason.RETRIES_EXHAUSTED, MESSAGE, at, event if known else None))


def logged(db: Session, request: Request) -> list[tuple[Status, str]]:
    return [(step.status, step.worker) for step in db.run(log_of(request.request_id))]


@pytest.mark.parametrize("keeps_log", [False, True])
def test_it_ends_and_the_user_may_apply_again(db: Session, *, keeps_log: bool) -> None:
    event = opened(db, capacity=1, keeps_log=keeps_log)
    (request,) = applied(db, event, "a")
    given_up(db, event, request)
    ended = current(db, request)
    assert (ended.status, ended.failure_class) == (Status.FAILED_FINAL, FailureClass.PERMANENT)
    assert (ended.error_code, ended.error_message) == (Reason.RETRIES_EXHAUSTED, MESSAGE)
    assert ended.finished_at == instant(db.context.clock())
    assert lock(db, request) is None
    steps = [(Status.RECEIVED, "api"), (Status.FAILED_FINAL, "w1")]
    assert logged(db, request) == (steps if keeps_log else [])


def test_of_an_event_that_nobody_knows_there_is_no_log(db: Session) -> None:
    event = opened(db, capacity=1, keeps_log=True)
    (request,) = applied(db, event, "a")
    given_up(db, event, request, known=False)
    assert (current(db, request).status, lock(db, request)) == (Status.FAILED_FINAL, None)
    assert logged(db, request) == [(Status.RECEIVED, "api")]


def test_two_who_give_it_up_end_it_once(db: Session) -> None:
    event = opened(db, capacity=1, keeps_log=True)
    (request,) = applied(db, event, "a")
    late = give_up(
        event.event_id, arrival_of(request), Reason.EVENT_MISSING, "late", attempt(event.opens_at, "late")(), event
    )
    assert overtaken(db, late, lambda: given_up(db, event, request), on=TransactWriteItems) is None
    assert current(db, request).error_message == MESSAGE
    assert logged(db, request) == [(Status.RECEIVED, "api"), (Status.FAILED_FINAL, "w1")]


@pytest.mark.parametrize("keeps_log", [False, True])
def test_one_that_is_decided_meanwhile_stays_as_it_is(db: Session, *, keeps_log: bool) -> None:
    event = opened(db, capacity=1, keeps_log=keeps_log)
    (request,) = applied(db, event, "a")
    now = instant(db.context.clock())
    db.run(decide(event, [arrival_of(request)], attempt(now)))
    decided, steps = current(db, request), logged(db, request)
    given_up(db, event, request)
    assert (decided.status, current(db, request), logged(db, request)) == (Status.SUCCEEDED, decided, steps)
    assert lock(db, request) is not None


@pytest.mark.parametrize("keeps_log", [False, True])
def test_the_lock_of_a_later_request_stays(db: Session, *, keeps_log: bool) -> None:
    event = opened(db, capacity=1, keeps_log=keeps_log)
    (request,) = applied(db, event, "a")
    db.run(update(lock_of(event.event_id, "a"), f(Lock.request_id).set("another")))
    given_up(db, event, request)
    held = lock(db, request)
    assert held is not None
    assert held.request_id == "another"
    assert current(db, request).status is Status.FAILED_FINAL
    assert [step for step, _ in logged(db, request)] == ([Status.RECEIVED, Status.FAILED_FINAL] if keeps_log else [])


def test_trouble_of_the_store_is_not_taken_for_a_decision(db: Session, store: FaultyStore) -> None:
    event = opened(db, capacity=1)
    (request,) = applied(db, event, "a")
    store.conflict(100, on=TransactWriteItems)
    with pytest.raises(TransactionCancelled):
        given_up(db, event, request)
    store._rules.clear()
    assert (current(db, request), lock(db, request) is None) == (request, False)


@pytest.mark.parametrize("event_type", [EventType.FIRST_COME, EventType.LOTTERY])
def test_what_waits_for_another_try_says_why(db: Session, event_type: EventType) -> None:
    event = opened(db, 1, event_type)
    (request,) = applied(db, event, "a")
    db.run(delay(event, arrival_of(request), "throttled", "Later."))
    waits = current(db, request)
    kept = Status.RECEIVED if event_type is EventType.LOTTERY else Status.PROCESSING
    assert (waits.status, waits.failure_class) == (kept, FailureClass.TRANSIENT)
    assert (waits.error_code, waits.error_message) == ("throttled", "Later.")


@pytest.mark.parametrize("event_type", [EventType.FIRST_COME, EventType.LOTTERY])
def test_what_is_decided_does_not_wait(db: Session, event_type: EventType) -> None:
    event = opened(db, 1, event_type)
    (request,) = applied(db, event, "a")
    db.run(decide(event, [arrival_of(request)], attempt(event.opens_at)))
    decided = current(db, request)
    db.run(delay(event, arrival_of(request), "throttled", "Later."))
    assert current(db, request) == decided
    db.run(cancel(request.request_id, None, event.opens_at))
    db.run(delay(event, arrival_of(request), "throttled", "Later."))
    assert current(db, request).error_code == Reason.CANCELLED
