"""Streams: what is recorded, with which images, and how a stream ends."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.table import Clock, MakeTable, Table
from tests.contract.trees import adding, deleting, removing, setting

from partita.errors import StreamTrimmed, TableNotFound, ValidationFailed
from partita.expressions._ast import Update
from partita.store._requests import (
    BatchWriteItem,
    DeleteItem,
    DescribeStream,
    PutItem,
    ReadStream,
    SetStream,
    TransactWriteItems,
)
from partita.store._schema import StreamView

KEY = {"pk": "p", "sk": "1"}
OLD: dict[str, Any] = {**KEY, "n": 1, "words": frozenset({"a"}), "map": {"a": 1, "b": 2}}
NEW = {**OLD, "n": 2}


@pytest.fixture
def streamed(make_table: MakeTable) -> Table:
    return make_table(stream="NEW_AND_OLD_IMAGES")


def events(table: Table) -> list[str]:
    """Return the events of the stream, in order."""
    return [record.event for record in table.records()]


@pytest.mark.rule(41)
def test_insert_modify_and_remove_are_recorded_with_their_images(streamed: Table) -> None:
    streamed.put(OLD, NEW)
    streamed.delete("p", "1")
    records = [(record.event, record.keys, record.old, record.new) for record in streamed.records()]
    assert records == [("INSERT", KEY, None, OLD), ("MODIFY", KEY, OLD, NEW), ("REMOVE", KEY, NEW, None)]


VIEWS: dict[StreamView, tuple[Any, Any]] = {
    "KEYS_ONLY": (None, None),
    "NEW_IMAGE": (None, NEW),
    "OLD_IMAGE": (OLD, None),
    "NEW_AND_OLD_IMAGES": (OLD, NEW),
}


@pytest.mark.rule(41)
@pytest.mark.parametrize("view", VIEWS)
def test_images_are_as_the_view_says(make_table: MakeTable, view: StreamView) -> None:
    table = make_table(stream=view)
    table.put(OLD, NEW)
    record = table.records()[-1]
    assert (record.event, record.keys) == ("MODIFY", KEY)
    assert (record.old, record.new) == VIEWS[view]


@pytest.mark.parametrize("view", VIEWS)
def test_the_stream_is_described(make_table: MakeTable, view: StreamView) -> None:
    table = make_table(stream=view)
    stream = table.store.execute(DescribeStream(table.name))
    assert (stream.view, stream.enabled, len(stream.shards)) == (view, True, 1)
    assert table.describe().stream_id == stream.stream_id


def test_sequence_numbers_rise(streamed: Table) -> None:
    streamed.put(*({"pk": "p", "sk": f"{n}"} for n in range(20)))
    sequences = [record.sequence for record in streamed.records()]
    assert sequences == sorted(set(sequences))
    assert len(sequences) == 20


NOTHING: dict[str, Update] = {
    "the same value": setting({"n": 1}),
    "a map in another order": setting({"map": {"b": 2, "a": 1}}),
    "plus zero": adding({"n": 0}),
    "a member that is there": adding({"words": frozenset({"a"})}),
    "a member that is not": deleting({"words": frozenset({"z"})}),
    "a missing attribute removed": removing("nothing"),
    "nothing": Update(),
}


@pytest.mark.rule(40)
@pytest.mark.parametrize("update", NOTHING.values(), ids=NOTHING.keys())
def test_an_update_that_changes_nothing_is_not_recorded(streamed: Table, update: Update) -> None:
    streamed.put(OLD)
    streamed.update(("p", "1"), update)
    assert events(streamed) == ["INSERT"]


@pytest.mark.rule(40)
def test_an_identical_put_is_not_recorded(streamed: Table) -> None:
    streamed.put(OLD, OLD)
    assert events(streamed) == ["INSERT"]


@pytest.mark.rule(40)
def test_the_delete_of_a_missing_item_is_not_recorded(streamed: Table) -> None:
    streamed.delete("p", "1")
    assert events(streamed) == []


def test_an_update_that_creates_an_item_is_an_insert(streamed: Table) -> None:
    streamed.update(("p", "1"), adding({"n": 1}))
    (record,) = streamed.records()
    assert (record.event, record.old, record.new) == ("INSERT", None, {**KEY, "n": 1})


def test_batches_and_transactions_are_recorded(streamed: Table) -> None:
    streamed.store.execute(BatchWriteItem((PutItem(streamed.name, OLD),)))
    streamed.store.execute(TransactWriteItems((PutItem(streamed.name, NEW),)))
    streamed.store.execute(BatchWriteItem((DeleteItem(streamed.name, KEY),)))
    assert events(streamed) == ["INSERT", "MODIFY", "REMOVE"]


def test_reading_goes_on_after_a_sequence_number(streamed: Table) -> None:
    streamed.put(*({"pk": "p", "sk": f"{n}"} for n in range(5)))
    (shard,) = streamed.store.execute(DescribeStream(streamed.name)).shards
    first = streamed.store.execute(ReadStream(streamed.name, shard.id, limit=2)).records
    rest = streamed.store.execute(ReadStream(streamed.name, shard.id, after=first[-1].sequence)).records
    assert [record.keys["sk"] for record in (*first, *rest)] == ["0", "1", "2", "3", "4"]


def test_at_the_end_there_is_nothing_yet(streamed: Table) -> None:
    streamed.put(OLD)
    (shard,) = streamed.store.execute(DescribeStream(streamed.name)).shards
    last = streamed.records()[-1].sequence
    page = streamed.store.execute(ReadStream(streamed.name, shard.id, after=last))
    assert (page.records, page.closed) == ([], False)


def test_a_table_without_a_stream_has_none_to_describe(table: Table) -> None:
    with pytest.raises(TableNotFound):
        table.store.execute(DescribeStream(table.name))
    assert table.describe().stream_id is None


def test_an_unknown_shard_is_reported(streamed: Table) -> None:
    with pytest.raises(TableNotFound):
        streamed.store.execute(ReadStream(streamed.name, "shardId-99999999999999999999-99999999"))


def test_a_stream_enabled_later_records_from_then_on(table: Table) -> None:
    table.put(OLD)
    description = table.store.execute(SetStream(table.name, "NEW_IMAGE"))
    table.put(NEW)
    assert description.schema.stream == "NEW_IMAGE"
    assert [record.new for record in table.records()] == [NEW]


@pytest.mark.rule(42)
def test_a_disabled_stream_is_closed_but_can_be_read(streamed: Table) -> None:
    streamed.put(OLD)
    (shard,) = streamed.store.execute(DescribeStream(streamed.name)).shards
    assert streamed.store.execute(SetStream(streamed.name, None)).schema.stream is None
    streamed.put(NEW)
    page = streamed.store.execute(ReadStream(streamed.name, shard.id))
    assert ([record.new for record in page.records], page.closed) == ([OLD], True)
    assert streamed.store.execute(DescribeStream(streamed.name)).enabled is False


@pytest.mark.rule(42)
def test_a_stream_enabled_again_is_another_one(streamed: Table) -> None:
    first = streamed.describe().stream_id
    streamed.put(OLD)
    streamed.store.execute(SetStream(streamed.name, None))
    second = streamed.store.execute(SetStream(streamed.name, "KEYS_ONLY")).stream_id
    streamed.put(NEW)
    assert first != second
    assert [(record.keys, record.new) for record in streamed.records()] == [(KEY, None)]


@pytest.mark.rule(42)
def test_enabling_what_is_enabled_is_refused(streamed: Table) -> None:
    with pytest.raises(ValidationFailed):
        streamed.store.execute(SetStream(streamed.name, "NEW_IMAGE"))


@pytest.mark.rule(42)
def test_disabling_what_is_disabled_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        table.store.execute(SetStream(table.name, None))


def test_a_record_says_when_and_how_large(streamed: Table, clock: Clock) -> None:
    streamed.put(KEY)
    (record,) = streamed.records()
    assert record.at == clock()
    assert record.size > 0
    assert record.by_ttl is False


@pytest.mark.rule(42)
def test_records_are_kept_for_24_hours(streamed: Table, clock: Clock, sweep: Any) -> None:
    streamed.put({"pk": "p", "sk": "old"})
    clock.advance(23 * 3600)
    streamed.put({"pk": "p", "sk": "new"})
    sweep()
    assert [record.keys["sk"] for record in streamed.records()] == ["old", "new"]
    first = streamed.records()[0].sequence
    clock.advance(2 * 3600)
    streamed.put({"pk": "p", "sk": "newest"})
    sweep()
    assert [record.keys["sk"] for record in streamed.records()] == ["new", "newest"]
    (shard,) = streamed.store.execute(DescribeStream(streamed.name)).shards
    after = streamed.store.execute(ReadStream(streamed.name, shard.id, after=first)).records
    assert [record.keys["sk"] for record in after] == ["new", "newest"]


def test_a_position_that_was_trimmed_is_reported(streamed: Table, clock: Clock, sweep: Any) -> None:
    streamed.put({"pk": "p", "sk": "1"}, {"pk": "p", "sk": "2"}, {"pk": "p", "sk": "3"})
    first = streamed.records()[0].sequence
    (shard,) = streamed.store.execute(DescribeStream(streamed.name)).shards
    clock.advance(25 * 3600)
    sweep()
    with pytest.raises(StreamTrimmed):
        streamed.store.execute(ReadStream(streamed.name, shard.id, after=first))
