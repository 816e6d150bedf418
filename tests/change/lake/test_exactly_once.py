"""The lake has each change exactly once, wherever the consumer crashes."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from tests.change.lake.truth import assert_lake_is_true, current, expected_current, heal
from tests.change.meddling import MeddlingStore
from tests.change.model import TABLE, Task, User, operations, play, session

from partita import EmbeddedStore, Session
from partita.change import Consumer
from partita.change._snapshot import snapshot
from partita.change.lake import FolderLocation, Lake, LakeLocation, Place, S3Location
from partita.change.lake._delta import LakeTable, TableState
from partita.testing import Crash


class Fuse:
    """Counts the calls of a sink, and simulates a crash after a given number of them."""

    def __init__(self, length: int) -> None:
        self._left = length

    def burn(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Crash


class FusedTable(LakeTable):
    """A table of a lake that crashes before or after a commit when its fuse has burnt."""

    def __init__(self, fuse: Fuse, location: LakeLocation, own: pa.Schema, partition_by: Sequence[str]) -> None:
        self._fuse = fuse
        fuse.burn()
        super().__init__(location, own, partition_by)

    def append(self, schema: pa.Schema, rows: Iterable[pa.RecordBatch], reached: TableState) -> None:
        self._fuse.burn()
        super().append(schema, rows, reached)
        self._fuse.burn()

    def replace(self, schema: pa.Schema, rows: Iterable[pa.RecordBatch], reached: TableState) -> None:
        self._fuse.burn()
        super().replace(schema, rows, reached)
        self._fuse.burn()

    def merge(self, rows: pa.Table, reached: TableState) -> None:
        self._fuse.burn()
        super().merge(rows, reached)
        self._fuse.burn()


def fill(place: Place, store: EmbeddedStore, fuse: Fuse, *, rebuild: bool = False, batch: int = 30) -> bool:
    """Run a consumer until it has caught up or crashes; return whether it crashed."""
    lake = None
    try:
        lake = Lake(place, TABLE, open_table=lambda *where: FusedTable(fuse, *where))
        consumer = Consumer(store, TABLE, lake, batch=batch)
        if rebuild:
            consumer.rebuild()
        consumer.catch_up()
    except Crash:
        return True
    finally:
        if lake is not None:
            lake.close()
    return False


def assert_exact_through_crashes(place: Place, store: EmbeddedStore, *, rounds: int, operations: int) -> None:
    """Crash a consumer repeatedly while the table changes, then compare the lake with the table."""
    rng = random.Random(operations)
    crashes = 0
    for _ in range(rounds):
        play(store, rng, operations)
        crashes += fill(place, store, Fuse(rng.randrange(16)), batch=operations * 3 // 5)
    heal(store)
    assert not fill(place, store, Fuse(1_000), batch=operations * 3 // 5)
    assert_lake_is_true(place, store)
    assert crashes > rounds // 3


@pytest.mark.req("T40", "T41")
@pytest.mark.parametrize("operations_a_round", [50, 340], ids=["1,500", "10,200"])
def test_a_consumer_that_dies_anywhere_misses_and_repeats_nothing(
    operations_a_round: int, store: EmbeddedStore, db: Session, tmp_path: Path
) -> None:
    assert_exact_through_crashes(FolderLocation(tmp_path), store, rounds=30, operations=operations_a_round)


@pytest.mark.req("T40", "T41")
def test_neither_does_it_on_object_storage(bucket: S3Location, store: EmbeddedStore, db: Session) -> None:
    assert_exact_through_crashes(bucket, store, rounds=8, operations=50)


@pytest.mark.req("T41", "T42")
@pytest.mark.parametrize("crash_at", range(9))  # three tables: when opened, and before and after a write
def test_a_first_load_that_dies_anywhere_is_made_again(
    crash_at: int, store: EmbeddedStore, db: Session, place: Place
) -> None:
    rng = random.Random(crash_at)
    play(store, rng, 100)
    assert fill(place, store, Fuse(crash_at))
    play(store, rng, 50)
    heal(store)
    fill(place, store, Fuse(1_000))
    assert_lake_is_true(place, store)


@pytest.mark.parametrize("crash_at", range(0, 14, 2))
def test_a_rebuild_that_dies_anywhere_misses_and_repeats_nothing(
    crash_at: int, store: EmbeddedStore, db: Session, place: Place
) -> None:
    rng = random.Random(crash_at)
    play(store, rng, 60)
    fill(place, store, Fuse(1_000))
    play(store, rng, 60)
    fill(place, store, Fuse(crash_at), rebuild=True)
    play(store, rng, 60)
    heal(store)
    fill(place, store, Fuse(1_000))
    assert_lake_is_true(place, store)


@pytest.mark.req("T42")
@pytest.mark.parametrize("seed", range(3))
def test_a_lake_that_is_loaded_while_others_write_equals_the_table(
    seed: int, store: EmbeddedStore, db: Session, place: Place
) -> None:
    rng = random.Random(seed)
    play(store, rng, 200)
    script = operations(rng)
    meddling = MeddlingStore(store, lambda: [store.execute(next(script)) for _ in range(rng.randrange(5))])
    lake = Lake(place, TABLE)
    consumer = Consumer(meddling, TABLE, lake, batch=30)
    for _ in range(10):
        consumer.step()
    heal(store)
    Consumer(store, TABLE, lake).catch_up()
    lake.close()
    assert_lake_is_true(place, store)


@pytest.mark.req("T42")
def test_a_lake_that_is_loaded_while_threads_write_equals_the_table(place: Place, tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "store.db", durable=False) as store:
        session(store)
        play(store, random.Random(0), 500)
        writers = [threading.Thread(target=play, args=(store, random.Random(seed), 700)) for seed in (1, 2)]
        for writer in writers:
            writer.start()
        lake = Lake(place, TABLE)
        consumer = Consumer(store, TABLE, lake, batch=200)
        while any(writer.is_alive() for writer in writers):
            consumer.step()
        heal(store)
        consumer.catch_up()
        lake.close()
        assert_lake_is_true(place, store)


def test_a_batch_that_comes_again_is_passed_over(store: EmbeddedStore, db: Session, place: Place) -> None:
    lake = Lake(place, TABLE)
    Consumer(store, TABLE, lake).step()
    late = Consumer(store, TABLE, lake)
    late.lag()  # it has read the positions of the lake
    play(store, random.Random(1), 50)
    heal(store)
    Consumer(store, TABLE, lake).catch_up()
    late.catch_up()
    lake.close()
    assert_lake_is_true(place, store)


def test_a_current_table_that_is_ahead_is_not_set_back(store: EmbeddedStore, db: Session, place: Place) -> None:
    rng = random.Random(3)
    fill(place, store, Fuse(1_000))
    play(store, rng, 200)
    heal(store)
    lake = Lake(place, TABLE)
    with snapshot(store, TABLE) as taken:
        for part in lake._parts.values():  # like a load that crashes before it writes the log
            part.table.replace(
                part.arrow, (part.batch(lake._rows(taken.of(part.schema))),), TableState(taken.positions)
            )
    Consumer(store, TABLE, lake, batch=20).step()
    for entity in (Task, User):
        assert current(place, entity) == expected_current(store, entity)
    lake.close()
