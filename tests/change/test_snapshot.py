"""A snapshot is the table at one exact position, whatever others write while it is taken."""

from __future__ import annotations

import random
from contextlib import closing
from typing import Any

import pytest
from tests.change.meddling import LateStore, MeddlingStore
from tests.change.model import SHARD, TABLE, Task, User, operations, play, records, session, stored

from partita import EmbeddedStore, Session, batch_write, delete, put
from partita.change._snapshot import snapshot
from partita.errors import RebuildRequired
from partita.store import ScanTable
from partita.testing import FakeClock, FaultyStore, Realism, RealisticStore

pytestmark = pytest.mark.req("T42")


def replayed(store: EmbeddedStore, up_to: int) -> dict[tuple[Any, ...], Any]:
    """Return the items of the table after its changes up to a sequence number."""
    state: dict[tuple[Any, ...], Any] = {}
    for record in records(store):
        if record.sequence <= up_to:
            state[tuple(record.keys.values())] = record.new
    return {key: item for key, item in state.items() if item is not None}


def by_key(items: list[Any]) -> dict[tuple[Any, ...], Any]:
    return {(item["PK"], item["SK"]): item for item in items}


def test_it_has_all_items_when_nobody_writes(store: EmbeddedStore, db: Session, fake_clock: FakeClock) -> None:
    play(store, random.Random(1), 300)
    with snapshot(store, TABLE, clock=fake_clock) as taken:
        items = [change.new_item for change in taken]
        assert (by_key(items), len(taken)) == (by_key(stored(store)), len(items))
        assert taken.positions == {SHARD: records(store)[-1].sequence}


def test_a_table_with_stale_reads_is_read_whole(fake_clock: FakeClock) -> None:
    stale = RealisticStore(
        EmbeddedStore(":memory:", clock=fake_clock),
        Realism(stale_seconds=60),
        clock=fake_clock,
        sleep=fake_clock.advance,
    )
    with closing(stale):
        db = Session(stale, clock=fake_clock)
        db.create_tables([TABLE])
        db.run(put(User(user_id="u")))
        with snapshot(stale, TABLE, clock=fake_clock, pause=fake_clock.advance) as taken:
            assert len(taken) == 1


def test_who_wants_one_entity_does_not_read_the_others(
    store: EmbeddedStore, db: Session, fake_clock: FakeClock
) -> None:
    db.run(batch_write([put(Task(user_id="many", task_id=f"{number:04}")) for number in range(1_000)]))
    db.run(put(User(user_id="one")))
    with snapshot(store, TABLE, clock=fake_clock) as taken:
        assert len(list(taken.of(User.__entity__))) == 1
        taken._staged.set_progress_handler(lambda: True, 100)  # a longer read would be interrupted
        assert len(list(taken.of(User.__entity__))) == 1


def test_a_scan_that_is_throttled_waits_as_the_consumer_says(
    store: EmbeddedStore, db: Session, fake_clock: FakeClock
) -> None:
    waits: list[list[float]] = []
    for _ in range(2):
        faulty = FaultyStore(store)
        faulty.throttle(3, on=ScanTable)
        waits.append([])
        with snapshot(faulty, TABLE, clock=fake_clock, pause=waits[-1].append, random=random.Random(5)):
            pass
    assert waits[0] == waits[1]
    assert len(waits[0]) == 3


@pytest.mark.parametrize("seed", range(10))
def test_it_is_exact_while_others_write(seed: int, store: EmbeddedStore, db: Session, fake_clock: FakeClock) -> None:
    rng = random.Random(seed)
    # More than one page, so that others write between the pages of the scan.
    db.run(batch_write([put(Task(user_id="many", task_id=f"{number:04}")) for number in range(2_100)]))
    script = operations(rng)

    def meddle() -> None:
        for _ in range(rng.randrange(4)):
            store.execute(next(script))
        number = f"{rng.randrange(2_100):04}"
        db.run(rng.choice([put, delete])(Task(user_id="many", task_id=number, title=f"{rng.random()}")))

    with snapshot(MeddlingStore(store, meddle), TABLE, clock=fake_clock) as taken:
        items = [change.new_item for change in taken]
        position = taken.positions[SHARD]
    assert by_key(items) == replayed(store, position)
    assert position < records(store)[-1].sequence


def test_it_is_exact_where_records_come_late(store: EmbeddedStore, db: Session, fake_clock: FakeClock) -> None:
    rng = random.Random(5)
    script = operations(rng)
    late = LateStore(store, lambda: store.execute(next(script)))
    play(store, rng, 100)
    late.deliver(0)
    play(store, rng, 100)
    with snapshot(late, TABLE, clock=fake_clock, pause=late.deliver) as taken:
        items = [change.new_item for change in taken]
        position = taken.positions[SHARD]
    assert by_key(items) == replayed(store, position)
    assert position < records(store)[-1].sequence - 90


def test_it_can_be_taken_at_an_earlier_position(store: EmbeddedStore, db: Session, fake_clock: FakeClock) -> None:
    play(store, random.Random(2), 200)
    with snapshot(store, TABLE, at={SHARD: 50}, clock=fake_clock) as taken:
        assert by_key([change.new_item for change in taken]) == replayed(store, 50)


def test_a_position_that_is_gone_is_refused(store: EmbeddedStore, db: Session, fake_clock: FakeClock) -> None:
    play(store, random.Random(3), 50)
    fake_clock.advance(25 * 3_600)
    store.sweep()
    with pytest.raises(RebuildRequired), snapshot(store, TABLE, at={SHARD: 5}, clock=fake_clock):
        pass


def test_the_items_of_one_entity_can_be_had_alone(store: EmbeddedStore, fake_clock: FakeClock) -> None:
    db = session(store)
    db.run(put(Task(user_id="u", task_id="t")))
    db.run(put(User(user_id="u")))
    with snapshot(store, TABLE, clock=fake_clock) as taken:
        assert [change.new for change in taken.of(User.__entity__)] == [User(user_id="u")]
