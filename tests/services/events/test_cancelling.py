"""Cancelling first-come requests: the lock is deleted, the seat becomes free, and final requests stay."""

from __future__ import annotations

from itertools import count

import pytest
from tests.recipes.interleaving import play
from tests.services.events.acting import applied, current, lock, opened, seats, sent, users

from partita import Session, f, update
from partita.errors import IllegalTransition, ItemMissing, Throttled
from partita.queue import Queue
from partita.store import TransactWriteItems
from partita.testing import FakeClock, FaultyStore
from partita_services.events.cancelling import cancel
from partita_services.events.model import Request, log_of, request_by_id
from partita_services.events.queueing.worker import Worker
from partita_services.events.terms import Reason, Status, instant

pytestmark = pytest.mark.req("E11")


@pytest.fixture
def worker(db: Session, queue: Queue) -> Worker:
    return Worker(db, queue, "w1")


def test_a_seat_that_is_given_back_goes_to_the_next_who_is_decided(
    db: Session, queue: Queue, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    (first,) = sent(db, queue, event, "a")
    worker.serve()
    fake_clock.advance(1)
    cancelled = db.run(cancel(first.request_id, "a", instant(fake_clock())))
    assert cancelled == current(db, first)
    assert (cancelled.status, cancelled.error_code, cancelled.finished_at) == (
        Status.REJECTED,
        Reason.CANCELLED,
        instant(fake_clock()),
    )
    assert (lock(db, first), seats(db, event).remaining) == (None, 1)
    (second,) = sent(db, queue, event, "b")
    worker.serve()
    assert (current(db, second).status, seats(db, event).remaining) == (Status.SUCCEEDED, 0)


def test_one_that_waits_is_never_decided_and_its_user_may_apply_again(
    db: Session, queue: Queue, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    (first,) = sent(db, queue, event, "a")
    db.run(cancel(first.request_id, "a", instant(fake_clock())))
    (second,) = sent(db, queue, event, "a")
    worker.serve()
    assert (current(db, first).error_code, current(db, second).status) == (Reason.CANCELLED, Status.SUCCEEDED)


def test_cancelled_twice_it_is_the_same(db: Session, fake_clock: FakeClock) -> None:
    event = opened(db, capacity=1)
    (request,) = applied(db, event, "a")
    first = db.run(cancel(request.request_id, "a", instant(fake_clock())))
    fake_clock.advance(5)
    assert db.run(cancel(request.request_id, "a", instant(fake_clock()))) == first


@pytest.mark.parametrize("status", [Status.REJECTED, Status.FAILED_FINAL])
def test_what_is_decided_otherwise_stays_so(db: Session, fake_clock: FakeClock, status: Status) -> None:
    event = opened(db, capacity=1)
    (request,) = applied(db, event, "a")
    reason = f(Request.error_code).set(Reason.CAPACITY)
    db.run(update(request_by_id(request.request_id), f(Request.status).set(status), reason))
    with pytest.raises(IllegalTransition, match=f"is {status.name}, which is final"):
        db.run(cancel(request.request_id, "a", instant(fake_clock())))


def test_nobody_cancels_anothers_request(db: Session, fake_clock: FakeClock) -> None:
    event = opened(db, capacity=1)
    (request,) = applied(db, event, "a")
    with pytest.raises(ItemMissing):
        db.run(cancel(request.request_id, "b", instant(fake_clock())))
    assert current(db, request) == request


@pytest.mark.req("E08")
def test_a_cancellation_is_logged(db: Session, fake_clock: FakeClock) -> None:
    event = opened(db, capacity=1, keeps_log=True)
    (request,) = applied(db, event, "a")
    fake_clock.advance(1)
    db.run(cancel(request.request_id, "a", instant(fake_clock())))
    logged = [(entry.status, entry.reason) for entry in db.run(log_of(request.request_id))]
    assert logged == [(Status.RECEIVED, None), (Status.REJECTED, Reason.CANCELLED)]


def test_it_is_one_transaction(db: Session, queue: Queue, worker: Worker, store: FaultyStore) -> None:
    event = opened(db, capacity=1)
    (request,) = sent(db, queue, event, "a")
    worker.serve()
    store.requests.clear()
    db.run(cancel(request.request_id, None, event.opens_at))
    kinds = [type(sent).__name__ for sent in store.requests]
    assert kinds == ["GetItem", "GetItem", "GetItem", "TransactWriteItems"]


@pytest.mark.req("E11", "X04")
def test_all_who_cancel_at_once_go_through(db: Session, queue: Queue, worker: Worker) -> None:
    event = opened(db, capacity=30)
    requests = sent(db, queue, event, *users(30))
    while worker.serve():
        pass
    turns = count()
    works = [cancel(request.request_id, None, event.opens_at) for request in requests]
    results = play(db, works, lambda options: next(turns) % options)  # all calls read, and then all write
    assert results == [current(db, request) for request in requests]
    assert seats(db, event).remaining == 30


@pytest.mark.req("E11", "X04")
def test_where_the_store_never_lets_it_through_it_is_throttled(
    db: Session, queue: Queue, worker: Worker, store: FaultyStore
) -> None:
    event = opened(db, capacity=1)
    (request,) = sent(db, queue, event, "a")
    worker.serve()
    store.conflict(100, on=TransactWriteItems)
    with pytest.raises(Throttled, match="Too many calls change the seats"):
        db.run(cancel(request.request_id, None, event.opens_at))
    assert current(db, request).status is Status.SUCCEEDED
