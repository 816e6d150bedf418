"""The lake has each change exactly once, wherever the consumer dies."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from tests.change.lake.truth import assert_lake_is_true, current, expected_current, heal
from tests.change.meddling import MeddlingStore
from tests.change.model import TABLE, Task, User, operations, play, session

from partita import EmbeddedStore, Session
from partita.change import Consumer
from partita.change._snapshot import snapshot
from partita.change.lake import Lake
from partita.change.lake._delta import LakeTable
from partita.testing import Crash


class Fuse:
    """Burns with each call of a sink; at its end the process "dies"."""

    def __init__(self, length: int) -> None:
        self._left = length

    def burn(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Crash


class FusedTable(LakeTable):
    """A table of a lake that dies before or after a commit when the fuse has burnt."""

    def __init__(self, fuse: Fuse, path: Path, own: pa.Schema, partition_by: Sequence[str]) -> None:
        self._fuse = fuse
        fuse.burn()
        super().__init__(path, own, partition_by)

    def append(self, schema: pa.Schema, rows: Iterable[pa.RecordBatch], positions: Mapping[str, int]) -> None:
        self._fuse.burn()
        super().append(schema, rows, positions)
        self._fuse.burn()

    def replace(self, schema: pa.Schema, rows: Iterable[pa.RecordBatch], positions: Mapping[str, int]) -> None:
        self._fuse.burn()
        super().replace(schema, rows, positions)
        self._fuse.burn()

    def merge(self, rows: pa.Table, positions: Mapping[str, int]) -> None:
        self._fuse.burn()
        super().merge(rows, positions)
        self._fuse.burn()


def fill(folder: Path, store: EmbeddedStore, fuse: Fuse, *, rebuild: bool = False, batch: int = 30) -> bool:
    """Run a consumer until it has caught up or dies; whether it died."""
    lake = None
    try:
        lake = Lake(folder, TABLE, open_table=lambda *where: FusedTable(fuse, *where))
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


@pytest.mark.req("T40", "T41")
@pytest.mark.parametrize(("operations_a_round", "batch"), [(50, 30), (340, 200)], ids=["1,500", "10,200"])
def test_a_consumer_that_dies_anywhere_misses_and_repeats_nothing(
    operations_a_round: int, batch: int, store: EmbeddedStore, db: Session, tmp_path: Path
) -> None:
    rng = random.Random(operations_a_round)
    crashes = 0
    for _ in range(30):
        play(store, rng, operations_a_round)
        crashes += fill(tmp_path, store, Fuse(rng.randrange(16)), batch=batch)
    heal(store)
    assert not fill(tmp_path, store, Fuse(1_000), batch=batch)
    assert_lake_is_true(tmp_path, store)
    assert crashes > 10


@pytest.mark.req("T41", "T42")
@pytest.mark.parametrize("crash_at", range(9))  # three tables are opened and written, with a point before and after
def test_a_first_load_that_dies_anywhere_is_made_again(
    crash_at: int, store: EmbeddedStore, db: Session, tmp_path: Path
) -> None:
    rng = random.Random(crash_at)
    play(store, rng, 100)
    assert fill(tmp_path, store, Fuse(crash_at))
    play(store, rng, 50)
    heal(store)
    fill(tmp_path, store, Fuse(1_000))
    assert_lake_is_true(tmp_path, store)


@pytest.mark.parametrize("crash_at", range(0, 14, 2))
def test_a_rebuild_that_dies_anywhere_misses_and_repeats_nothing(
    crash_at: int, store: EmbeddedStore, db: Session, tmp_path: Path
) -> None:
    rng = random.Random(crash_at)
    play(store, rng, 60)
    fill(tmp_path, store, Fuse(1_000))
    play(store, rng, 60)
    fill(tmp_path, store, Fuse(crash_at), rebuild=True)
    play(store, rng, 60)
    heal(store)
    fill(tmp_path, store, Fuse(1_000))
    assert_lake_is_true(tmp_path, store)


@pytest.mark.req("T42")
@pytest.mark.parametrize("seed", range(3))
def test_a_lake_that_is_loaded_while_others_write_equals_the_table(
    seed: int, store: EmbeddedStore, db: Session, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    play(store, rng, 200)
    script = operations(rng)
    meddling = MeddlingStore(store, lambda: [store.execute(next(script)) for _ in range(rng.randrange(5))])
    lake = Lake(tmp_path, TABLE)
    consumer = Consumer(meddling, TABLE, lake, batch=30)
    for _ in range(10):
        consumer.step()
    heal(store)
    Consumer(store, TABLE, lake).catch_up()
    lake.close()
    assert_lake_is_true(tmp_path, store)


@pytest.mark.req("T42")
def test_a_lake_that_is_loaded_while_threads_write_equals_the_table(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "store.db", durable=False) as store:
        session(store)
        play(store, random.Random(0), 500)
        writers = [threading.Thread(target=play, args=(store, random.Random(seed), 700)) for seed in (1, 2)]
        for writer in writers:
            writer.start()
        lake = Lake(tmp_path / "lake", TABLE)
        consumer = Consumer(store, TABLE, lake, batch=200)
        while any(writer.is_alive() for writer in writers):
            consumer.step()
        heal(store)
        consumer.catch_up()
        lake.close()
        assert_lake_is_true(tmp_path / "lake", store)


def test_a_batch_that_comes_again_is_passed_over(store: EmbeddedStore, db: Session, tmp_path: Path) -> None:
    lake = Lake(tmp_path, TABLE)
    Consumer(store, TABLE, lake).step()
    late = Consumer(store, TABLE, lake)
    late.lag()  # it has read where the lake is
    play(store, random.Random(1), 50)
    heal(store)
    Consumer(store, TABLE, lake).catch_up()
    late.catch_up()
    lake.close()
    assert_lake_is_true(tmp_path, store)


def test_a_current_table_that_is_ahead_is_not_set_back(store: EmbeddedStore, db: Session, tmp_path: Path) -> None:
    rng = random.Random(3)
    fill(tmp_path, store, Fuse(1_000))
    play(store, rng, 200)
    heal(store)
    lake = Lake(tmp_path, TABLE)
    with snapshot(store, TABLE) as taken:
        for part in lake._parts.values():  # as a load that dies before it comes to the log
            part.table.replace(part.arrow, (part.batch(lake._rows(taken.of(part.schema))),), taken.positions)
    Consumer(store, TABLE, lake, batch=20).step()
    for entity in (Task, User):
        assert current(tmp_path, entity) == expected_current(store, entity)
    lake.close()
