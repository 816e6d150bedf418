"""Streams over time: closing, trimming, and beginning again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.store.embedded.support import TABLE, Clock, OpenStore, note, pages_by_commit

from partita.errors import StreamTrimmed, TableNotFound
from partita.store._requests import CreateTable, DescribeStream, DescribeTable, PutItem, ReadStream, SetStream
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore
from partita.store.embedded._streams import RETENTION_SECONDS

STREAMING = TableSchema("notes", TABLE.hash, TABLE.range, stream="NEW_IMAGE")


@pytest.fixture
def store(open_store: OpenStore) -> EmbeddedStore:
    store = open_store()
    store.execute(CreateTable(STREAMING))
    return store


def shard(store: EmbeddedStore) -> str:
    return store.execute(DescribeStream("notes")).shards[0].id


def sequences(store: EmbeddedStore, shard: str, after: int = 0) -> list[int]:
    return [record.sequence for record in store.execute(ReadStream("notes", shard, after)).records]


def test_records_are_kept_24_hours(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(note(1))
    clock.now += RETENTION_SECONDS
    store.execute(note(2))
    store.sweep()
    assert len(sequences(store, shard(store))) == 2
    clock.now += 1
    store.sweep()
    (kept,) = store.execute(ReadStream("notes", shard(store))).records
    assert kept.new == {"pk": "p", "sk": "000002"}


def test_a_trimmed_position_is_refused_and_the_one_before_the_oldest_is_not(store: EmbeddedStore, clock: Clock) -> None:
    for number in range(3):
        store.execute(note(number))
    first, second, third = sequences(store, shard(store))
    clock.now += RETENTION_SECONDS + 1
    store.sweep()
    store.execute(note(4))
    for trimmed in (first, second):
        with pytest.raises(StreamTrimmed):
            sequences(store, shard(store), trimmed)
    (fourth,) = sequences(store, shard(store), third)
    assert [fourth] == sequences(store, shard(store))


def test_sequences_rise_also_after_everything_was_trimmed(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(note(1))
    (first,) = sequences(store, shard(store))
    clock.now += RETENTION_SECONDS + 1
    store.sweep()
    store.execute(note(2))
    assert sequences(store, shard(store))[0] > first


def test_many_old_records_are_trimmed_in_several_commits(store: EmbeddedStore, clock: Clock) -> None:
    for number in range(1_100):
        store.execute(note(number))
    clock.now += RETENTION_SECONDS + 1
    before = store._commit.commits
    store.sweep()
    assert sequences(store, shard(store)) == []
    assert store._commit.commits - before == 4  # nothing expired, 1,000 records, 100 records, none


def test_a_record_writes_one_more_page(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "pages.db") as store:
        for schema in (STREAMING, TableSchema("quiet", TABLE.hash, TABLE.range)):
            store.execute(CreateTable(schema))
        pages = pages_by_commit(store)
        for table in ("notes", "quiet"):
            store.execute(PutItem(table, {"pk": "p", "sk": "000001"}))
    with_record, without = pages
    assert with_record == without + 1


@pytest.mark.rule(42)
def test_a_closed_shard_ends_and_stays_readable_for_24_hours(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(note(1))
    closed = shard(store)
    first_id = store.execute(DescribeTable("notes")).stream_id
    store.execute(SetStream("notes", None))
    store.execute(note(2))
    page = store.execute(ReadStream("notes", closed))
    assert (len(page.records), page.closed) == (1, True)
    assert not store.execute(ReadStream("notes", closed, limit=1)).closed
    store.execute(SetStream("notes", "KEYS_ONLY"))
    assert shard(store) != closed
    assert store.execute(DescribeTable("notes")).stream_id != first_id
    assert len(sequences(store, closed)) == 1
    clock.now += RETENTION_SECONDS + 1
    store.sweep()
    with pytest.raises(TableNotFound):
        sequences(store, closed)


def test_a_shard_of_another_table_is_not_found(store: EmbeddedStore) -> None:
    store.execute(CreateTable(TableSchema("more", TABLE.hash)))
    with pytest.raises(TableNotFound):
        store.execute(ReadStream("more", shard(store)))
    with pytest.raises(TableNotFound):
        store.execute(ReadStream("notes", "nonsense"))
