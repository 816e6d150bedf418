"""The waiting list of first-come events: a freed seat goes to the earliest request on it, whatever fails meanwhile."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from tests.recipes.interleaving import empty_db, play
from tests.services.events.acting import (
    applied,
    attempt,
    check_nobody_is_passed_over,
    current,
    in_queue_order,
    opened,
    seats,
    sent,
    users,
)

from partita import Session, f, update
from partita.queue import Queue
from partita.recipes.idempotency import run_plan
from partita.store import TransactWriteItems
from partita.testing import Crash, FakeClock, FaultyStore
from partita_services.events.cancelling import cancel
from partita_services.events.changes.drafts import EventEdit
from partita_services.events.changes.editing import edit
from partita_services.events.changes.model import NOTICES
from partita_services.events.handlers import apply
from partita_services.events.model import TABLE, Seats, log_of
from partita_services.events.queueing.decisions import decide
from partita_services.events.queueing.sweeper import Sweeper
from partita_services.events.queueing.worker import Worker
from partita_services.events.terms import FreedSeats, Reason, Status, instant
from partita_services.events.transitions import Arrival

pytestmark = pytest.mark.req("E14")

NOW = instant(1_767_225_600)


@pytest.fixture
def worker(db: Session, queue: Queue) -> Worker:
    return Worker(db, queue, "w1")


def test_whoever_was_queued_earlier_gets_the_seat_that_is_given_back(
    db: Session, queue: Queue, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1, keeps_log=True)
    ann, bob = sent(db, queue, event, "ann", "bob")
    worker.serve()
    assert (current(db, bob).error_code, current(db, bob).waiting_position) == (Reason.WAITING_LIST, 1)
    fake_clock.advance(5)
    db.run(cancel(ann.request_id, "ann", instant(fake_clock())))
    promoted = current(db, bob)
    assert (promoted.status, promoted.error_code, promoted.error_message) == (Status.SUCCEEDED, None, None)
    (again,) = sent(db, queue, event, "ann")
    worker.serve()
    assert (current(db, again).status, current(db, again).waiting_position) == (Status.REJECTED, 2)
    assert check_nobody_is_passed_over(db, event) == [current(db, again)]
    (told,) = db.run(NOTICES.waiting(0))
    assert (told.group, msgspec.json.decode(told.body)["news"]) == ("bob", "PROMOTED")
    assert [entry.status for entry in db.run(log_of(bob.request_id))][-2:] == [Status.REJECTED, Status.SUCCEEDED]


def test_who_has_left_the_list_is_passed_over(db: Session, queue: Queue, worker: Worker) -> None:
    event = opened(db, capacity=1)
    requests = sent(db, queue, event, *users(250), together=50)
    while worker.serve():
        pass
    for request in requests[1:240]:
        db.run(cancel(request.request_id, None, NOW))
    db.run(cancel(requests[0].request_id, None, NOW))
    assert [current(db, request).status for request in requests[239:241]] == [Status.REJECTED, Status.SUCCEEDED]
    assert len(check_nobody_is_passed_over(db, event)) == 9
    for request in requests[240:]:
        db.run(cancel(request.request_id, None, NOW))
    assert seats(db, event).remaining == 1
    (late,) = sent(db, queue, event, "late")
    worker.serve()
    assert current(db, late).status is Status.SUCCEEDED


def test_seats_that_are_added_go_to_those_who_wait(db: Session, queue: Queue, worker: Worker) -> None:
    event = opened(db, capacity=2)
    sent(db, queue, event, *users(120), together=60)
    while worker.serve():
        pass
    db.run(edit(event.event_id, EventEdit(capacity_total=80), NOW))
    assert len(check_nobody_is_passed_over(db, event)) == 40


@pytest.mark.req("E07")
@pytest.mark.parametrize("nth", [2, 3])
def test_a_server_that_dies_while_it_gives_seats_out_lets_nobody_pass(
    db: Session, queue: Queue, worker: Worker, store: FaultyStore, nth: int
) -> None:
    event = opened(db, capacity=2)
    sent(db, queue, event, *users(90), together=45)
    while worker.serve():
        pass
    store.crash_before(nth, on=TransactWriteItems)
    with pytest.raises(Crash):
        db.run(edit(event.event_id, EventEdit(capacity_total=70), NOW))
    assert seats(db, event).remaining > 0
    (late,) = applied(db, event, "late")
    db.run(decide(event, [Arrival(late.request_id, "late", NOW.timestamp())], attempt(NOW)))
    assert current(db, late) in check_nobody_is_passed_over(db, event)


@pytest.mark.req("E07")
def test_the_sweeper_gives_out_what_was_left(db: Session, queue: Queue, worker: Worker, store: FaultyStore) -> None:
    event = opened(db, capacity=1)
    sent(db, queue, event, *users(5))
    worker.serve()
    store.crash_before(2, on=TransactWriteItems)
    with pytest.raises(Crash):
        db.run(edit(event.event_id, EventEdit(capacity_total=3), NOW))
    Sweeper(db, queue, "w1").sweep()
    assert len(check_nobody_is_passed_over(db, event)) == 2


@pytest.mark.parametrize("seed", range(60))
def test_nobody_is_ever_passed_over_while_some_cancel_and_some_die(seed: int) -> None:
    random = Random(seed)
    with empty_db([TABLE], FakeClock()) as db:
        event = opened(db, random.randint(1, 3))
        requests = applied(db, event, *users(7))
        batch = [Arrival(each.request_id, each.user_id, NOW.timestamp()) for each in requests]
        works = [
            decide(event, batch[:5], attempt(NOW, "zombie")),
            decide(event, batch, attempt(NOW, "worker")),
            *(cancel(requests[place].request_id, None, NOW) for place in random.sample(range(7), 3)),
            edit(event.event_id, EventEdit(capacity_total=4), NOW),
        ]
        play(db, works, random.randrange, crashes=random.randint(0, 3))
        db.run(decide(event, batch, attempt(NOW, "last")))
        check_nobody_is_passed_over(db, event)
        winners = [each for each in in_queue_order(db, event) if each.status is Status.SUCCEEDED]
        for each in winners:
            db.run(cancel(each.request_id, None, NOW))
            check_nobody_is_passed_over(db, event)


def test_without_a_list_those_who_found_no_seat_may_apply_again_when_there_is_one(
    db: Session, queue: Queue, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1, freed_seats=FreedSeats.RELEASE)
    ann, bob = sent(db, queue, event, "ann", "bob")
    worker.serve()
    assert (current(db, bob).error_code, current(db, bob).error_message) == (Reason.CAPACITY, "All seats were taken.")
    now = instant(fake_clock())
    full = db.run(apply(event, "bob", now, run_plan))
    assert (full.is_new, full.request) == (False, current(db, bob))
    db.run(cancel(ann.request_id, "ann", now))
    (again,) = sent(db, queue, event, "bob")
    assert again.request_id != bob.request_id
    worker.serve()
    assert current(db, again).status is Status.SUCCEEDED
    assert db.run(apply(event, "bob", now, run_plan)).request == current(db, again)


def test_of_two_calls_of_a_released_user_one_is_new() -> None:
    for seed in range(30):
        random = Random(seed)
        with empty_db([TABLE], FakeClock()) as db:
            event = opened(db, 1, freed_seats=FreedSeats.RELEASE)
            ann, bob = applied(db, event, "ann", "bob")
            batch = [Arrival(each.request_id, each.user_id, NOW.timestamp()) for each in (ann, bob)]
            db.run(decide(event, batch, attempt(NOW)))
            db.run(cancel(ann.request_id, None, NOW))
            calls = [apply(event, "bob", event.opens_at, run_plan) for _ in range(3)]
            results = play(db, calls, random.randrange)
            assert sorted(result.is_new for result in results) == [False, False, True]
            assert len({result.request.request_id for result in results}) == 1


def test_of_a_cancelled_event_nobody_gets_a_seat(db: Session, queue: Queue, worker: Worker) -> None:
    event = opened(db, capacity=1)
    ann, bob = sent(db, queue, event, "ann", "bob")
    worker.serve()
    db.run(update(seats(db, event), f(Seats.is_cancelled).set(True)))
    db.run(cancel(ann.request_id, "ann", NOW))
    (late,) = sent(db, queue, event, "late")
    worker.serve()
    assert current(db, bob).error_code == Reason.WAITING_LIST
    assert current(db, late).error_code == Reason.EVENT_CANCELLED
