"""The sweeper deletes expired items, and data that is no longer kept."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.store.embedded.support import BY_OWNER, TABLE, Clock, OpenStore, count, note

from partita.expressions._ast import KeyCondition
from partita.store._requests import (
    CreateTable,
    DescribeStream,
    PutItem,
    QueryTable,
    ReadStream,
    SetTimeToLive,
    StreamRecord,
    TransactWriteItems,
)
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore
from partita.store.embedded._ttl import BATCH, FIVE_YEARS

EXPIRING = TableSchema("notes", TABLE.hash, TABLE.range, (BY_OWNER,), ttl="ends", stream="NEW_AND_OLD_IMAGES")


@pytest.fixture
def store(open_store: OpenStore) -> EmbeddedStore:
    store = open_store()
    store.execute(CreateTable(EXPIRING))
    return store


def records(store: EmbeddedStore) -> list[StreamRecord]:
    shard = store.execute(DescribeStream("notes")).shards[0]
    return store.execute(ReadStream("notes", shard.id)).records


@pytest.mark.rule(43)
def test_an_expired_item_stays_until_it_is_swept(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(note(1, ends=int(clock.now) + 10, owner="o", rank=1))
    assert (store.sweep(), count(store)) == (0, 1)
    clock.now += 11
    assert count(store) == 1
    assert (store.sweep(), count(store)) == (1, 0)
    assert store.execute(QueryTable("notes", KeyCondition((("owner", "o"),)), index="by-owner")).count == 0
    store.verify()


def test_the_record_of_a_swept_item_names_the_sweeper(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(note(1, ends=int(clock.now) - 1))
    store.sweep()
    inserted, removed = records(store)
    assert (inserted.event, inserted.by_ttl) == ("INSERT", False)
    assert (removed.event, removed.by_ttl, removed.old, removed.new) == ("REMOVE", True, inserted.new, None)


@pytest.mark.rule(43)
@pytest.mark.parametrize(
    "ends", ["1799999999", None, 0, -5, 1_800_000_000 - FIVE_YEARS, [1], 1_800_000_001, 10**30, b"1"]
)
def test_what_is_not_a_passed_second_of_these_years_never_expires(store: EmbeddedStore, ends: Any) -> None:
    store.execute(note(1, ends=ends))
    assert (store.sweep(), count(store)) == (0, 1)


@pytest.mark.rule(43)
@pytest.mark.parametrize("ends", [1_800_000_000, Decimal("1799999999.5"), 1_800_000_001 - FIVE_YEARS])
def test_a_passed_second_of_these_years_expires(store: EmbeddedStore, ends: Any) -> None:
    store.execute(note(1, ends=ends))
    assert store.sweep() == 1


def test_a_sweep_takes_as_many_batches_as_it_needs(store: EmbeddedStore, clock: Clock) -> None:
    for number in range(2 * BATCH + 1):
        store.execute(note(number, ends=int(clock.now) - 1))
    before = store._commit.commits
    assert store.sweep() == 2 * BATCH + 1
    assert store._commit.commits - before == 5  # three batches, one that finds nothing, one that trims


def test_an_item_that_was_prolonged_is_not_swept(store: EmbeddedStore, clock: Clock) -> None:
    store.execute(note(1, ends=int(clock.now) - 1))
    store.execute(note(1, ends=int(clock.now) + 100))
    assert store.sweep() == 0
    store.execute(note(1))
    clock.now += 200
    assert store.sweep() == 0


def test_naming_the_attribute_later_finds_the_items_that_are_there(open_store: OpenStore, clock: Clock) -> None:
    store = open_store()
    store.execute(CreateTable(TABLE))
    store.execute(note(1, ends=int(clock.now) - 1))
    assert store.sweep() == 0
    store.execute(SetTimeToLive("notes", "ends"))
    store.verify()
    assert store.sweep() == 1
    store.execute(note(2, ends=int(clock.now) - 1))
    store.execute(SetTimeToLive("notes", None))
    assert store.sweep() == 0
    store.verify()


@pytest.mark.rule(38)
def test_tokens_are_forgotten_after_ten_minutes(store: EmbeddedStore, clock: Clock) -> None:
    request = TransactWriteItems((PutItem("notes", {"pk": "p", "sk": "1"}),), token="t")
    store.execute(request)
    clock.now += 599
    store.sweep()
    assert store.execute(request).replayed
    clock.now += 1
    store.sweep()
    assert store._writer.connection.execute("SELECT count(*) FROM tokens").get == 0
    assert not store.execute(request).replayed


def test_a_thread_sweeps_by_itself(path: Path, clock: Clock) -> None:
    swept = threading.Event()

    class WatchedStore(EmbeddedStore):
        def sweep(self) -> int:
            deleted = super().sweep()
            if deleted:
                swept.set()
            return deleted

    with WatchedStore(path, clock=clock, durable=False, sweep_every=0.001) as store:
        store.execute(CreateTable(EXPIRING))
        store.execute(note(1, ends=int(clock.now) - 1))
        assert swept.wait(60)
        assert count(store) == 0
