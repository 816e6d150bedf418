"""The sweeper: after any crash every request is decided, without a scan."""

from __future__ import annotations

from random import Random

import pytest
from tests.services.events.acting import applied, check_first_come, current, in_queue_order, opened, sent, users

from partita import Session
from partita.queue import Acknowledge, GetStats, Queue, Receive
from partita.store import ScanTable, TransactWriteItems
from partita.testing import Crash, FakeClock, FaultyStore
from partita_services.events.draws.model import draw_of
from partita_services.events.model import active_events, event_by_id
from partita_services.events.queueing.messages import sending
from partita_services.events.queueing.sender import mark
from partita_services.events.queueing.sweeper import EVERY, LEASE, Sweeper
from partita_services.events.queueing.worker import Worker
from partita_services.events.reading import Phase, phase_of
from partita_services.events.terms import EventStatus, EventType, Status, instant

pytestmark = pytest.mark.req("E07")


@pytest.fixture
def sweeper(db: Session, queue: Queue) -> Sweeper:
    return Sweeper(db, queue, "w1")


@pytest.fixture
def worker(db: Session, queue: Queue) -> Worker:
    return Worker(db, queue, "w1")


def test_a_request_that_the_queue_never_got_is_sent(
    db: Session, queue: Queue, sweeper: Sweeper, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    requests = applied(db, event, "a", "b")  # the server dies before it sends them
    assert sweeper.sweep() == 0
    fake_clock.advance(LEASE.total_seconds() + 1)
    assert sweeper.sweep() == 2
    assert [current(db, request).status for request in requests] == [Status.QUEUED] * 2
    assert sweeper.sweep() == 0
    worker.serve()
    check_first_come(db, event, 1, [request.request_id for request in requests])


def test_a_request_of_a_quiet_event_is_sent_while_the_queue_is_busy_with_another(
    db: Session, queue: Queue, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    """No request of the quiet event was ever delivered, and the queue is not empty: only the status shows the loss."""
    quiet, busy = opened(db, capacity=1), opened(db, capacity=1)
    (left,) = applied(db, quiet, "a")  # the server dies before it sends the request
    waiting = applied(db, busy, "b")
    db.run(mark(waiting, queue.execute(sending(waiting))))
    fake_clock.advance(LEASE.total_seconds() + 1)
    assert sweeper.sweep() == 1
    assert current(db, left).status is Status.QUEUED
    assert queue.execute(GetStats()).waiting == 2


def test_a_request_that_waits_in_the_queue_is_left_alone(
    db: Session, queue: Queue, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    requests = applied(db, event, "a", "b")
    db.run(mark(requests, queue.execute(sending(requests))))
    fake_clock.advance(10 * LEASE.total_seconds())
    assert sweeper.sweep() == 0
    assert queue.execute(GetStats()).waiting == 1


@pytest.mark.parametrize("passed_by_another", [False, True])
def test_a_request_that_the_queue_has_lost_is_sent_again_once(
    db: Session, queue: Queue, sweeper: Sweeper, worker: Worker, fake_clock: FakeClock, *, passed_by_another: bool
) -> None:
    event = opened(db, capacity=3)
    (lost,) = applied(db, event, "a")
    db.run(mark([lost], queue.execute(sending([lost]))))
    queue.execute(Acknowledge(tuple(message.receipt for message in queue.execute(Receive()))))
    fake_clock.advance(LEASE.total_seconds() + 1)
    if passed_by_another:  # the queue has delivered a later request, and has another one
        sent(db, queue, event, "b")
        worker.serve()
        fake_clock.advance(1)
        sent(db, queue, event, "c")
    assert sweeper.sweep() == 1
    assert sweeper.sweep() == 0
    while worker.serve():
        pass
    assert current(db, lost).status is Status.SUCCEEDED


def test_one_that_the_queue_loses_twice_is_sent_again_after_five_minutes(
    db: Session, queue: Queue, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    applied(db, event, "a")
    fake_clock.advance(LEASE.total_seconds() + 1)
    assert sweeper.sweep() == 1
    queue.execute(Acknowledge(tuple(message.receipt for message in queue.execute(Receive()))))
    fake_clock.advance(299)
    assert sweeper.sweep() == 0
    fake_clock.advance(1)
    assert sweeper.sweep() == 1


def test_only_one_of_many_workers_sweeps(db: Session, queue: Queue, sweeper: Sweeper, fake_clock: FakeClock) -> None:
    event = opened(db, capacity=1)
    (request,) = applied(db, event, "a")
    sweeper.sweep_if_due()
    fake_clock.advance(LEASE.total_seconds() - 1)
    other = Sweeper(db, queue, "w2")
    other.sweep_if_due()
    assert current(db, request).status is Status.RECEIVED
    fake_clock.advance(EVERY.total_seconds())
    other.sweep_if_due()
    assert current(db, request).status is Status.QUEUED


def test_it_sweeps_only_when_it_is_due(
    db: Session, sweeper: Sweeper, store: FaultyStore, fake_clock: FakeClock
) -> None:
    sweeper.sweep_if_due()
    store.requests.clear()
    fake_clock.advance(EVERY.total_seconds() - 1)
    sweeper.sweep_if_due()
    assert store.requests == []


def test_an_event_is_finished_when_it_is_closed_and_all_is_decided(
    db: Session, queue: Queue, sweeper: Sweeper, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1, closes_in=60)
    sent(db, queue, event, "a", "b")
    fake_clock.advance(60 + LEASE.total_seconds() + 1)
    sweeper.sweep()
    assert _status(db, event.event_id) is EventStatus.ACTIVE
    worker.serve()
    sweeper.sweep()
    assert _status(db, event.event_id) is EventStatus.FINISHED
    assert len(db.run(active_events()).items) == 1
    sweeper.sweep()
    assert db.run(active_events()).items == ()
    sweeper.sweep()


def test_a_worker_whose_clock_was_set_back_by_a_day_goes_on_at_once(
    db: Session, queue: Queue, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    fake_clock.advance(86_400)
    sweeper.sweep_if_due()
    fake_clock.advance(-86_400)
    (request,) = applied(db, event, "a")  # the server dies before it sends the request
    fake_clock.advance(LEASE.total_seconds() + 1)
    sweeper.sweep_if_due()
    assert current(db, request).status is Status.QUEUED


def test_a_worker_that_dies_with_a_clock_ahead_does_not_keep_others_from_sweeping(
    db: Session, queue: Queue, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    _ahead(db, queue).sweep_if_due()
    (request,) = applied(db, event, "a")  # the server dies before it sends the request
    fake_clock.advance(LEASE.total_seconds() + 1)
    sweeper.sweep_if_due()
    assert current(db, request).status is Status.QUEUED


def test_what_was_sent_again_with_a_clock_ahead_is_sent_again_when_it_is_lost(
    db: Session, queue: Queue, fake_clock: FakeClock
) -> None:
    event, ahead = opened(db, capacity=1), 86_400.0
    sweeper = Sweeper(Session(db.store, clock=lambda: fake_clock() + ahead), queue, "w1")
    applied(db, event, "a")
    assert sweeper.sweep() == 1
    queue.execute(Acknowledge(tuple(message.receipt for message in queue.execute(Receive()))))
    ahead = 0.0
    fake_clock.advance(600)
    assert sweeper.sweep() == 1


def test_a_draw_that_was_begun_with_a_clock_ahead_and_cut_off_is_gone_on_with(
    db: Session, queue: Queue, store: FaultyStore, sweeper: Sweeper, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, 1, EventType.LOTTERY, closes_in=60, draws_itself=True)
    (request,) = sent(db, queue, event, "a")
    worker.serve()
    store.crash_after(1, on=TransactWriteItems)
    with pytest.raises(Crash):
        _ahead(db, queue).sweep()
    draw = db.run(draw_of(event.event_id))
    assert draw is not None
    assert draw.revealed_at is None
    sweeper.sweep()
    assert current(db, request).status is Status.SUCCEEDED


def _ahead(db: Session, queue: Queue) -> Sweeper:
    """Return the sweeper of a worker whose clock is a day ahead."""
    clock = db.context.clock
    return Sweeper(Session(db.store, clock=lambda: clock() + 86_400), queue, "ahead")


@pytest.mark.parametrize("sweeps", range(4))
def test_an_open_event_that_a_clock_finishes_too_early_loses_no_request(
    db: Session, queue: Queue, sweeper: Sweeper, worker: Worker, fake_clock: FakeClock, sweeps: int
) -> None:
    """A request that is accepted later, and not sent because the server dies, is found nevertheless."""
    event, ahead = opened(db, capacity=1), _ahead(db, queue)
    for _ in range(sweeps):
        ahead.sweep()
    found = db.run(event_by_id(event.event_id))
    assert found is not None
    assert phase_of(found, instant(fake_clock())) is Phase.OPEN
    (request,) = applied(db, found, "a")  # the server dies before it sends the request
    fake_clock.advance(LEASE.total_seconds() + 1)
    ahead.sweep()
    sweeper.sweep()
    assert current(db, request).status is Status.QUEUED
    worker.serve()
    check_first_come(db, event, 1, [request.request_id])


def test_who_applies_while_a_clock_finishes_the_event_is_not_forgotten(
    db: Session, queue: Queue, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    """A server that has read the event earlier accepts a request and dies; so does one that has read it later."""
    event, ahead = opened(db, capacity=1), _ahead(db, queue)
    ahead.sweep()
    (request,) = applied(db, event, "a")
    ahead.sweep()
    finished = db.run(event_by_id(event.event_id))
    assert finished is not None
    (other,) = applied(db, finished, "b")
    ahead.sweep()
    fake_clock.advance(LEASE.total_seconds() + 1)
    sweeper.sweep()
    assert [current(db, each).status for each in (request, other)] == [Status.QUEUED] * 2


def test_an_event_that_is_finished_is_forgotten_in_the_end(
    db: Session, queue: Queue, sweeper: Sweeper, worker: Worker, fake_clock: FakeClock
) -> None:
    event, ahead = opened(db, capacity=1, closes_in=60), _ahead(db, queue)
    ahead.sweep()
    finished = db.run(event_by_id(event.event_id))
    assert finished is not None
    (request,) = applied(db, finished, "a")
    queue.execute(sending([request]))
    worker.serve()
    fake_clock.advance(60 + LEASE.total_seconds() + 1)
    left = []
    for _ in range(3):
        left.append(len(db.run(active_events()).items))
        sweeper.sweep()
    assert left == [1, 1, 0]
    assert phase_of(finished, instant(fake_clock())) is Phase.FINISHED


def test_a_lottery_is_not_finished_before_its_draw(
    db: Session, queue: Queue, sweeper: Sweeper, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, 1, EventType.LOTTERY, closes_in=60)
    sent(db, queue, event, "a")
    worker.serve()
    fake_clock.advance(60 + 2 * LEASE.total_seconds())
    assert sweeper.sweep() == 0
    assert _status(db, event.event_id) is EventStatus.ACTIVE


def _status(db: Session, event_id: str) -> EventStatus:
    event = db.run(event_by_id(event_id))
    assert event is not None
    return event.status


def test_what_is_decided_is_not_read_and_nothing_is_scanned(
    db: Session, queue: Queue, sweeper: Sweeper, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    sent(db, queue, event, *users(200), together=200)
    while worker.serve():
        pass
    fake_clock.advance(LEASE.total_seconds() + 1)
    with db.meter.watch() as seen:
        sweeper.sweep()
    assert sum(run.read for run in seen if run.name == "waiting_requests") == 8
    assert ScanTable.__name__ not in {request for run in seen for request in run.requests}


@pytest.mark.req("E03")
@pytest.mark.parametrize("seed", range(25))
def test_whoever_dies_wherever_every_request_is_decided_in_the_end(
    db: Session, queue: Queue, store: FaultyStore, fake_clock: FakeClock, seed: int
) -> None:
    """Servers and workers crash before or after any request to the store, and their successors continue."""
    random = Random(seed)
    capacity = random.randint(1, 6)
    event = opened(db, capacity)
    waiting = users(12)
    requests = applied(db, event, *waiting)
    batches = [requests[:4], requests[4:5], requests[5:9]]  # the server dies before it sends the last three
    for batch in batches:
        accepted = queue.execute(sending(batch))
        if random.random() < 0.5:
            db.run(mark(batch, accepted))
    for life in range(12):
        if life < 8:
            (store.crash_before if random.random() < 0.5 else store.crash_after)(random.randint(1, 6))
        worker, sweeper = Worker(db, queue, f"w{life}"), Sweeper(db, queue, f"w{life}")
        try:
            for _ in range(3):
                worker.serve()
                fake_clock.advance(20)
                sweeper.sweep_if_due()
        except Crash:
            fake_clock.advance(20)
    check_first_come(db, event, capacity, [request.request_id for request in requests])
    assert len(in_queue_order(db, event)) == len(waiting)
