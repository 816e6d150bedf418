"""A consumer delivers each change to its sink once, in order, and can be stopped at any point."""

from __future__ import annotations

import logging
import random
import threading

import pytest
from tests.change.memory import MemorySink, sequences
from tests.change.model import SHARD, TABLE, Task, play, records, session, stored

from partita import EmbeddedStore, Session, put
from partita.change import Consumer, Lag
from partita.errors import RebuildRequired
from partita.store import SetStream
from partita.testing import Crash, FakeClock, FaultyStore

pytestmark = pytest.mark.req("T52")


def task(number: int) -> Task:
    return Task(user_id="u", task_id=f"{number}")


@pytest.fixture
def sink() -> MemorySink:
    return MemorySink()


@pytest.fixture
def consumer(store: EmbeddedStore, db: Session, sink: MemorySink, fake_clock: FakeClock) -> Consumer:
    """A consumer that has loaded an empty table."""
    consumer = Consumer(store, TABLE, sink, batch=10, clock=fake_clock)
    assert consumer.step() == 0
    return consumer


def write(db: Session, count: int) -> None:
    for number in range(count):
        db.run(put(task(number)))


def test_a_new_sink_gets_what_is_there_and_then_the_changes(store: EmbeddedStore, db: Session) -> None:
    write(db, 3)
    sink = MemorySink()
    consumer = Consumer(store, TABLE, sink)
    assert (consumer.step(), sink.at) == (3, {SHARD: 3})
    assert sorted(change.new.task_id for change in sink.loaded) == ["0", "1", "2"]
    db.run(put(task(3)))
    assert (consumer.step(), sequences(sink)) == (1, [4])


def test_the_first_load_is_logged_as_maintenance(
    store: EmbeddedStore, db: Session, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "partita"):
        Consumer(store, TABLE, MemorySink()).step()
    assert "a snapshot of things" in caplog.text


def test_a_step_is_one_batch(db: Session, consumer: Consumer, sink: MemorySink) -> None:
    write(db, 25)
    assert [consumer.step() for _ in range(4)] == [10, 10, 5, 0]
    assert sequences(sink) == list(range(1, 26))


def test_nothing_new_is_not_a_commit(db: Session, consumer: Consumer, sink: MemorySink) -> None:
    write(db, 1)
    consumer.catch_up()
    consumer.catch_up()
    assert sink.batches == [1]


def test_catching_up_reads_all_and_tells_how_far_it_is(db: Session, consumer: Consumer) -> None:
    write(db, 25)
    seen: list[int] = []
    assert consumer.catch_up(seen.append) == 25
    assert seen == [10, 10, 5]


def test_consumers_of_one_stream_are_independent(store: EmbeddedStore, db: Session, consumer: Consumer) -> None:
    write(db, 12)
    other = MemorySink()
    other.at = {SHARD: 10}
    Consumer(store, TABLE, other).catch_up()
    assert sequences(other) == [11, 12]
    assert consumer.lag().records == 12


def test_lag_is_in_records_and_seconds(db: Session, consumer: Consumer, fake_clock: FakeClock) -> None:
    assert consumer.lag() == Lag(0, 0.0)
    write(db, 3)
    fake_clock.advance(7)
    db.run(put(task(99)))
    assert consumer.lag() == Lag(4, 7.0)
    consumer.catch_up()
    assert consumer.lag() == Lag(0, 0.0)


def test_before_its_first_load_a_sink_has_the_lag_of_the_whole_stream(
    store: EmbeddedStore, db: Session, fake_clock: FakeClock
) -> None:
    write(db, 3)
    assert Consumer(store, TABLE, MemorySink(), clock=fake_clock).lag() == Lag(3, 0.0)


@pytest.mark.parametrize("nth", range(1, 12))
def test_a_crash_at_any_request_misses_and_repeats_nothing(
    nth: int, store: EmbeddedStore, db: Session, sink: MemorySink
) -> None:
    play(store, random.Random(1), 30)
    before = len(records(store))
    faulty = FaultyStore(store)
    faulty.crash_after(nth)

    def follow() -> None:
        while True:
            Consumer(faulty, TABLE, sink, batch=10).catch_up()
            play(store, random.Random(nth), 5)

    with pytest.raises(Crash):
        follow()
    Consumer(store, TABLE, sink, batch=10).catch_up()
    assert sequences(sink) == [record.sequence for record in records(store) if record.sequence > before]


def test_after_a_failing_sink_the_batch_comes_again(
    db: Session, consumer: Consumer, sink: MemorySink, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(db, 3)
    with monkeypatch.context() as broken:
        broken.setattr(sink, "apply", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            consumer.step()
    assert (consumer.step(), sequences(sink)) == (3, [1, 2, 3])


def test_running_goes_on_until_it_is_stopped(db: Session, consumer: Consumer, sink: MemorySink) -> None:
    stop = threading.Event()
    idles: list[int] = []

    def idle() -> None:
        idles.append(len(sink.changes))
        if len(idles) == 3:
            stop.set()
        else:
            db.run(put(task(100 + len(idles))))

    write(db, 25)
    consumer.run(stop, idle)
    assert idles == [25, 26, 27]


def test_running_loads_a_new_sink(store: EmbeddedStore, db: Session) -> None:
    write(db, 3)
    sink, stop = MemorySink(), threading.Event()
    Consumer(store, TABLE, sink).run(stop, stop.set)
    assert len(sink.loaded) == 3


@pytest.mark.parametrize("read", [0, 2])
def test_who_was_away_too_long_must_rebuild(
    read: int, store: EmbeddedStore, db: Session, consumer: Consumer, sink: MemorySink, fake_clock: FakeClock
) -> None:
    write(db, read)
    consumer.catch_up()
    write(db, 8)
    fake_clock.advance(25 * 3_600)
    store.sweep()
    db.run(put(task(100)))
    for action in (consumer.step, consumer.lag):
        with pytest.raises(RebuildRequired, match=r"consumer\.rebuild"):
            action()
    assert consumer.rebuild() == 9
    assert sorted(change.new.task_id for change in sink.loaded) == sorted([*map(str, range(8)), "100"])
    assert (consumer.step(), consumer.lag().records) == (0, 0)


def test_a_stream_that_was_enabled_again_needs_a_rebuild(
    store: EmbeddedStore, db: Session, consumer: Consumer, sink: MemorySink
) -> None:
    store.execute(SetStream(TABLE.name, None))
    db.run(put(task(1)))
    store.execute(SetStream(TABLE.name, "NEW_AND_OLD_IMAGES"))
    with pytest.raises(RebuildRequired, match="not the one"):
        consumer.step()
    assert consumer.rebuild() == 1
    db.run(put(task(2)))
    assert consumer.step() == 1


def test_a_rebuild_reads_first_what_was_not_read_yet(
    store: EmbeddedStore, db: Session, consumer: Consumer, sink: MemorySink
) -> None:
    write(db, 3)
    assert consumer.rebuild() == 3
    assert sequences(sink) == [1, 2, 3]
    assert len(sink.loaded) == len(stored(store))


def test_a_store_of_another_process_is_followed(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("shared") / "store.db"
    with EmbeddedStore(path, durable=False) as writer, EmbeddedStore(path, durable=False) as reader:
        sink = MemorySink()
        db = session(writer)
        consumer = Consumer(reader, TABLE, sink)
        consumer.step()
        write(db, 3)
        assert consumer.catch_up() == 3


@pytest.mark.rule(62)
def test_a_new_sink_may_begin_at_a_time(store: EmbeddedStore, db: Session, fake_clock: FakeClock) -> None:
    db.run(put(task(1)))
    fake_clock.advance(60)
    start = fake_clock()
    db.run(put(task(2)))
    sink = MemorySink()
    consumer = Consumer(store, TABLE, sink, start=start)
    assert (consumer.catch_up(), sequences(sink), sink.loaded) == (1, [2], [])
    db.run(put(task(3)))
    assert Consumer(store, TABLE, sink, start=0).catch_up() == 1  # the sink has a position, so `start` is ignored
    late = MemorySink()
    assert Consumer(store, TABLE, late, start=start + 30).catch_up() == 0
