"""Streams of several shards: which shard has which change, splits and merges, and how other processes notice them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from partita import EmbeddedStore
from partita.errors import TableNotFound, ValidationFailed
from partita.store import (
    CreateTable,
    DeleteTable,
    DescribeStream,
    KeyAttribute,
    PutItem,
    ReadStream,
    SetStream,
    Shard,
    StreamRecord,
    TableSchema,
)
from partita.testing import FakeClock

SCHEMA = TableSchema("things", KeyAttribute("PK", "S"), stream="NEW_AND_OLD_IMAGES")
DAY = 25 * 3_600


def shards_of(store: EmbeddedStore) -> tuple[Shard, ...]:
    return store.execute(DescribeStream("things")).shards


def records_of(store: EmbeddedStore, shard: str) -> list[StreamRecord]:
    return store.execute(ReadStream("things", shard)).records


def put(store: EmbeddedStore, *keys: str, n: int = 0) -> None:
    for key in keys:
        store.execute(PutItem("things", {"PK": key, "n": n}))


@pytest.fixture
def store(fake_clock: FakeClock) -> EmbeddedStore:
    store = EmbeddedStore(":memory:", clock=fake_clock)
    store.execute(CreateTable(SCHEMA))
    return store


KEYS = [f"key-{number}" for number in range(100)]


def test_a_stream_has_one_shard_until_it_is_split(store: EmbeddedStore) -> None:
    put(store, "a")
    (only,) = shards_of(store)
    assert (only.parent, only.closed, only.newest, only.start, only.parents) == (None, False, 1, 0, ())


def test_each_key_is_in_one_part(store: EmbeddedStore) -> None:
    (first,) = shards_of(store)
    parts = store.split_shard("things", first.id, 8)
    put(store, *KEYS, n=1)
    put(store, *KEYS, n=2)
    found = {part: records_of(store, part) for part in parts}
    for records in found.values():
        assert [(record.keys["PK"], record.event) for record in records[len(records) // 2 :]] == [
            (record.keys["PK"], "MODIFY") for record in records[: len(records) // 2]
        ]
    assert sorted(record.keys["PK"] for records in found.values() for record in records) == sorted(KEYS * 2)
    assert all(found.values())


def test_children_go_on_after_their_parent(store: EmbeddedStore) -> None:
    put(store, *KEYS[:10])
    (parent,) = shards_of(store)
    left, right = store.split_shard("things", parent.id)
    put(store, *KEYS)
    closed, *children = shards_of(store)
    assert (closed.closed, closed.newest) == (True, 10)
    assert [(child.parent, child.start, child.closed) for child in children] == [(parent.id, 10, False)] * 2
    assert store.execute(ReadStream("things", parent.id)).closed
    for child in (left, right):
        assert [record.sequence for record in records_of(store, child)] == list(
            range(11, 11 + len(records_of(store, child)))
        )


def test_sequences_rise_after_everything_was_trimmed(store: EmbeddedStore, fake_clock: FakeClock) -> None:
    put(store, *KEYS[:10])
    (first,) = shards_of(store)
    left, right = store.split_shard("things", first.id)
    put(store, *KEYS)
    newest = {shard.id: shard.newest or 0 for shard in shards_of(store)}
    fake_clock.advance(DAY)
    store.sweep()
    assert records_of(store, left) == records_of(store, right) == []
    (part, _) = store.split_shard("things", left)
    put(store, *KEYS, n=1)
    assert [record.sequence for record in records_of(store, part)][:2] == [newest[left] + 1, newest[left] + 2]
    assert [record.sequence for record in records_of(store, right)][:2] == [newest[right] + 1, newest[right] + 2]


def test_children_of_a_shard_without_records_go_on_after_its_parent(store: EmbeddedStore) -> None:
    put(store, *KEYS[:10])
    (first,) = shards_of(store)
    left, right = store.split_shard("things", first.id)
    merged = store.merge_shards("things", left, right)
    put(store, "a")
    assert [record.sequence for record in records_of(store, merged)] == [11]


def test_neighbours_are_merged(store: EmbeddedStore) -> None:
    (first,) = shards_of(store)
    left, middle, right = store.split_shard("things", first.id, 3)
    put(store, *KEYS)
    with pytest.raises(ValidationFailed, match="Only adjacent shards"):
        store.merge_shards("things", left, right)
    merged = store.merge_shards("things", right, middle)
    put(store, *KEYS, n=1)
    (found,) = [shard for shard in shards_of(store) if shard.id == merged]
    ends = [shard.newest or 0 for shard in shards_of(store) if shard.id in (middle, right)]
    assert (found.parents, found.start) == ((middle, right), max(ends))
    old = {record.keys["PK"] for shard in (middle, right) for record in records_of(store, shard)}
    assert {record.keys["PK"] for record in records_of(store, merged)} == old


def test_the_stream_stays_the_same(store: EmbeddedStore) -> None:
    before = store.execute(DescribeStream("things"))
    store.split_shard("things", before.shards[0].id)
    after = store.execute(DescribeStream("things"))
    assert (after.stream_id, after.enabled) == (before.stream_id, True)


def test_what_is_not_open_cannot_be_split(store: EmbeddedStore) -> None:
    (first,) = shards_of(store)
    for parts in (0, 1, 1_001):
        with pytest.raises(ValidationFailed):
            store.split_shard("things", first.id, parts)
    store.split_shard("things", first.id)
    for name in (first.id, "shardId-00000000000000000099", "x"):
        with pytest.raises(TableNotFound):
            store.split_shard("things", name)


def test_parents_are_trimmed_after_a_day(store: EmbeddedStore, fake_clock: FakeClock) -> None:
    put(store, *KEYS)
    (first,) = shards_of(store)
    store.split_shard("things", first.id)
    fake_clock.advance(DAY)
    store.sweep()
    assert [shard.parent for shard in shards_of(store)] == [first.id] * 2
    assert first.id not in {shard.id for shard in shards_of(store)}


def test_a_stream_that_is_enabled_again_has_one_shard(store: EmbeddedStore) -> None:
    (first,) = shards_of(store)
    store.split_shard("things", first.id, 4)
    store.execute(SetStream("things", None))
    assert all(shard.closed for shard in shards_of(store))
    store.execute(SetStream("things", "NEW_AND_OLD_IMAGES"))
    put(store, "a")
    (only,) = shards_of(store)
    assert (only.parent, only.newest) == (None, 1)
    store.execute(DeleteTable("things"))


def test_other_processes_write_to_the_parts(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "s.db", durable=False) as one, EmbeddedStore(tmp_path / "s.db", durable=False) as two:
        one.execute(CreateTable(SCHEMA))
        put(two, "a")
        one.split_shard("things", shards_of(one)[0].id, 4)
        put(two, *KEYS)
        assert sum(len(records_of(one, shard.id)) for shard in shards_of(one)[1:]) == 100
        one.verify()


def test_a_backup_has_the_shards_too(tmp_path: Path) -> None:
    rng = random.Random(1)
    with EmbeddedStore(tmp_path / "s.db", durable=False) as store:
        store.execute(CreateTable(SCHEMA))
        store.split_shard("things", shards_of(store)[0].id, 4)
        put(store, *rng.sample(KEYS, 20))
        store.backup(tmp_path / "b.db")
    with EmbeddedStore(tmp_path / "b.db") as copy:
        put(copy, *KEYS)
        assert len(shards_of(copy)) == 5
