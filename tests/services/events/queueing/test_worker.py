"""The worker: no request that the queue delivers is lost, whatever fails."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import pytest
from tests.services.events.acting import check_first_come, current, in_queue_order, lock, opened, sent, users

from partita import Session, delete, insert
from partita.errors import ValidationFailed
from partita.queue import GetStats, Queue, QueueStats, ReadDead, Receive, Redrive, Send
from partita.service import WorkerContext
from partita.store import TransactWriteItems, UpdateItem
from partita.store._interface import Store
from partita.testing import FakeClock, FaultyStore
from partita_services.events.model import TABLE, Event, Request, Seats, log_of, seats_of
from partita_services.events.queueing.messages import POLICY
from partita_services.events.queueing.tools import Tools
from partita_services.events.queueing.worker import VISIBILITY_SECONDS, Worker, pause_after, work
from partita_services.events.terms import EventType, FailureClass, Reason, Status, instant


@pytest.fixture
def worker(db: Session, queue: Queue) -> Worker:
    return Worker(db, queue, "w1")


@pytest.mark.req("E03")
@pytest.mark.parametrize("together", [1, 3, 7])
def test_the_queue_is_worked_off_in_order(db: Session, queue: Queue, worker: Worker, together: int) -> None:
    event = opened(db, capacity=4)
    requests = sent(db, queue, event, *users(20), together=together)
    while worker.serve():
        pass
    check_first_come(db, event, 4, [request.request_id for request in requests])
    assert in_queue_order(db, event) == [current(db, request) for request in requests]
    assert queue.execute(GetStats()).waiting == 0


@pytest.mark.req("E03", "E07")
def test_what_a_dead_worker_had_taken_is_decided_by_another(
    db: Session, queue: Queue, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    requests = sent(db, queue, event, *users(3))
    queue.execute(Receive(2, visibility=VISIBILITY_SECONDS))  # by a worker that dies
    assert worker.serve() == 0
    fake_clock.advance(VISIBILITY_SECONDS)
    assert worker.serve() == 3
    check_first_come(db, event, 1, [request.request_id for request in requests])


def test_several_events_are_served_at_once(db: Session, queue: Queue, worker: Worker) -> None:
    first, second = opened(db, capacity=1), opened(db, capacity=1)
    for event in (first, second):
        sent(db, queue, event, "a", "b")
    assert worker.serve() == 4
    for event in (first, second):
        check_first_come(db, event, 1, [request.request_id for request in in_queue_order(db, event)])


class InterleavingQueue:
    """A queue that returns the messages of several groups in turn, as SQS may do."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def execute(self, request: Any) -> Any:
        found = self._queue.execute(request)
        if not isinstance(request, Receive):
            return found
        before: Counter[str] = Counter()
        turns = []
        for message in found:
            before[message.group] += 1
            turns.append((before[message.group], message))
        return tuple(message for _, message in sorted(turns, key=itemgetter(0)))


@pytest.mark.req("E03", "E06")
def test_messages_of_a_group_that_are_not_next_to_each_other_wait_together(
    db: Session, queue: Queue, store: FaultyStore, fake_clock: FakeClock
) -> None:
    first, second = opened(db, capacity=1), opened(db, capacity=1)
    requests = sent(db, queue, first, "a", "b")
    sent(db, queue, second, "c")
    between: Any = InterleavingQueue(queue)
    store.throttle(8, on=TransactWriteItems)  # all tries of a session
    worker = Worker(db, between, "w1")
    assert worker.serve() == 3
    assert {current(db, request).status for request in requests} == {Status.PROCESSING}
    fake_clock.advance(pause_after(1))
    assert worker.serve() == 2
    check_first_come(db, first, 1, [request.request_id for request in requests])


@pytest.mark.req("E06")
def test_trouble_that_passes_is_written_down_and_tried_again_later(
    db: Session, queue: Queue, worker: Worker, store: FaultyStore, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    (request,) = sent(db, queue, event, "a")
    store.throttle(16, on=TransactWriteItems)  # all tries of two sessions
    assert worker.serve() == 1
    waits = current(db, request)
    assert (waits.status, waits.failure_class, waits.error_code) == (
        Status.PROCESSING,
        FailureClass.TRANSIENT,
        "throttled",
    )
    for receives in (1, 2):
        assert worker.serve() == 0
        fake_clock.advance(pause_after(receives) - 1)
        assert worker.serve() == 0
        fake_clock.advance(1)
        assert worker.serve() == 1
    done = current(db, request)
    assert (done.status, done.failure_class, done.error_code, done.error_message) == (
        Status.SUCCEEDED,
        None,
        None,
        None,
    )


@pytest.mark.req("E06")
def test_an_entry_in_trouble_does_not_take_part_yet(
    db: Session, queue: Queue, worker: Worker, store: FaultyStore, fake_clock: FakeClock
) -> None:
    event = opened(db, 1, EventType.LOTTERY)
    (request,) = sent(db, queue, event, "a")
    store.throttle(8, on=TransactWriteItems)
    worker.serve()
    assert (current(db, request).status, current(db, request).failure_class) == (
        Status.RECEIVED,
        FailureClass.TRANSIENT,
    )
    fake_clock.advance(pause_after(1))
    worker.serve()
    assert (current(db, request).status, current(db, request).failure_class) == (Status.PROCESSING, None)


@pytest.mark.req("E06")
def test_what_cannot_even_be_written_down_is_tried_again_too(
    db: Session, queue: Queue, worker: Worker, store: FaultyStore, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    (request,) = sent(db, queue, event, "a")
    store.throttle(16, on=(TransactWriteItems, UpdateItem))
    worker.serve()
    assert current(db, request).status is Status.RECEIVED
    fake_clock.advance(pause_after(1))
    worker.serve()
    assert current(db, request).status is Status.SUCCEEDED


@pytest.mark.req("E06")
def test_pauses_double_up_to_a_minute() -> None:
    assert [pause_after(receives) for receives in (1, 2, 3, 7, 20)] == [1, 2, 4, 60, 60]


@pytest.mark.req("E06")
@pytest.mark.parametrize("keeps_log", [False, True])
def test_a_request_without_an_event_ends_and_frees_its_lock(
    db: Session, queue: Queue, worker: Worker, fake_clock: FakeClock, *, keeps_log: bool
) -> None:
    event = opened(db, capacity=1, keeps_log=keeps_log)
    (request,) = sent(db, queue, event, "a")
    delete_seats(db, event)
    worker.serve()
    failed = current(db, request)
    assert (failed.status, failed.failure_class, failed.error_code, failed.finished_at) == (
        Status.FAILED_FINAL,
        FailureClass.PERMANENT,
        Reason.EVENT_MISSING,
        instant(fake_clock()),
    )
    assert failed.error_message == f"There is no event {event.event_id}."
    assert lock(db, request) is None
    assert queue.execute(GetStats()).waiting == 0
    logged = [entry.status for entry in db.run(log_of(request.request_id))]
    assert logged == ([Status.RECEIVED, Status.FAILED_FINAL] if keeps_log else [])


@pytest.mark.req("E06")
def test_after_a_failure_for_good_the_user_may_apply_again(
    db: Session, queue: Queue, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    (first,) = sent(db, queue, event, "a")
    left = delete_seats(db, event)
    worker.serve()
    db.run(insert(left))
    (second,) = sent(db, queue, event, "a")
    assert second.request_id != first.request_id
    worker.serve()
    assert (current(db, first).status, current(db, second).status) == (Status.FAILED_FINAL, Status.SUCCEEDED)


class Refusing(FaultyStore):
    """A store that refuses transactions that would update a given request, a given number of times."""

    def refuse(self, request: Request, times: int) -> None:
        self.left = times
        self.refused = f"REQ#{request.request_id}"

    def execute(self, request: Any) -> Any:
        if isinstance(request, TransactWriteItems) and self.left:
            keys = [action.key["PK"] for action in request.actions if isinstance(action, UpdateItem)]
            if self.refused in keys:
                self.left -= 1
                raise ValidationFailed("Item size has exceeded the maximum allowed size")
        return super().execute(request)


@pytest.fixture
def refusing(partita_store: Store) -> Refusing:
    store = Refusing(partita_store)
    store.left = 0
    return store


@pytest.fixture
def strict_worker(refusing: Refusing, queue: Queue, fake_clock: FakeClock) -> Worker:
    session = Session(refusing, clock=fake_clock, sleep=fake_clock.advance)
    session.create_tables([TABLE])
    return Worker(session, queue, "w1")


@pytest.mark.req("E06")
def test_one_that_cannot_be_decided_does_not_hold_up_the_others_and_ends_at_last(
    db: Session, refusing: Refusing, strict_worker: Worker, queue: Queue, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=3)
    good, bad, other = sent(db, queue, event, "a", "b", "c", together=3)
    refusing.refuse(bad, times=2 * POLICY.max_receives)  # each time with the others, and alone
    strict_worker.serve()
    assert [current(db, request).status for request in (good, bad, other)] == [
        Status.SUCCEEDED,
        Status.PROCESSING,
        Status.SUCCEEDED,
    ]
    assert current(db, bad).failure_class is FailureClass.TRANSIENT
    for receives in range(1, POLICY.max_receives):
        fake_clock.advance(pause_after(receives))
        assert strict_worker.serve() == 1
    ended = current(db, bad)
    assert (ended.status, ended.failure_class, ended.error_code) == (
        Status.FAILED_FINAL,
        FailureClass.PERMANENT,
        Reason.RETRIES_EXHAUSTED,
    )
    assert lock(db, bad) is None
    assert queue.execute(GetStats()) == QueueStats(waiting=0, in_flight=0, dead=0, oldest_seconds=None)


@pytest.mark.req("E06")
def test_one_that_cannot_even_be_ended_is_a_dead_letter_and_can_be_redriven(
    db: Session, refusing: Refusing, strict_worker: Worker, queue: Queue, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    (bad,) = sent(db, queue, event, "a")
    refusing.refuse(bad, times=1_000)
    for receives in range(1, POLICY.max_receives + 2):
        strict_worker.serve()
        fake_clock.advance(pause_after(receives))
    assert [letter.group for letter in queue.execute(ReadDead())] == [event.event_id]
    refusing.left = 0
    assert queue.execute(Redrive()) == 1
    strict_worker.serve()
    assert current(db, bad).status is Status.SUCCEEDED


@pytest.mark.req("E06")
def test_poison_becomes_a_dead_letter_and_the_others_go_on(db: Session, queue: Queue, worker: Worker) -> None:
    event = opened(db, capacity=2)
    queue.execute(Send('{"v": 99, "kind": "arrivals"}', group=event.event_id, deduplication_id="poison"))
    requests = sent(db, queue, event, "a", "b")
    for _ in range(POLICY.max_receives + 1):
        worker.serve()
    check_first_come(db, event, 2, [request.request_id for request in requests])
    assert [letter.body for letter in queue.execute(ReadDead())] == ['{"v": 99, "kind": "arrivals"}']


@pytest.mark.req("E08")
def test_every_change_of_status_is_logged_with_time_and_worker_where_the_event_says_so(
    db: Session, queue: Queue, worker: Worker, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1, keeps_log=True)
    won, lost = sent(db, queue, event, "a", "b")
    received = instant(fake_clock())
    fake_clock.advance(2)
    worker.serve()
    decided = instant(fake_clock())

    def log(request: Request) -> list[tuple[Any, ...]]:
        return [(e.status, e.occurred_at, e.worker, e.reason) for e in db.run(log_of(request.request_id))]

    assert log(won) == [
        (Status.RECEIVED, received, "api", None),
        (Status.QUEUED, current(db, won).queued_at, "api", None),
        (Status.PROCESSING, decided, "w1", None),
        (Status.SUCCEEDED, decided, "w1", None),
    ]
    assert log(lost)[-1] == (Status.REJECTED, decided, "w1", Reason.WAITING_LIST)


@pytest.mark.req("E08", "E04")
def test_a_log_fits_into_the_same_transactions(db: Session, queue: Queue, worker: Worker) -> None:
    event = opened(db, capacity=10, keeps_log=True)
    requests = sent(db, queue, event, *users(60), together=60)
    worker.serve()
    check_first_come(db, event, 10, [request.request_id for request in requests])
    assert {len(db.run(log_of(request.request_id))) for request in requests} == {4}


@pytest.mark.req("E10")
def test_work_goes_on_until_it_is_to_stop_and_through_trouble(
    db: Session, queue: Queue, notices: Queue, store: FaultyStore
) -> None:
    event = opened(db, capacity=1)
    requests = sent(db, queue, event, "a", "b")
    store.unavailable(1, on=TransactWriteItems)
    stop = StopWhen(lambda: all(current(db, request).finished_at for request in requests))
    work(WorkerContext(db, Tools(queue, notices), "w1", stop))
    check_first_come(db, event, 1, [request.request_id for request in requests])


class StopWhen(threading.Event):
    """An event that is set as soon as a condition holds."""

    def __init__(self, holds: Callable[[], bool]) -> None:
        super().__init__()
        self._holds = holds

    def is_set(self) -> bool:
        return self._holds()

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 - it does not wait
        return self.is_set()


def delete_seats(db: Session, event: Event) -> Seats:
    """Delete the seats of an event, which the service never does, and return them for a new insert."""
    left = db.run(delete(seats_of(event.event_id)))
    assert left is not None
    return left.model_copy(update={"version": 0})
