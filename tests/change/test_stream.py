"""Streams of many shards: parents come first, each shard has its own position, and losses are detected."""

from __future__ import annotations

import pytest
from tests.change.memory import MemorySink, ShardedStore, record, sequences
from tests.change.model import SHARD, TABLE

from partita import EmbeddedStore, Registry, Session, Table
from partita.change import Consumer, Lag
from partita.change._stream import ChangeStream
from partita.errors import ModelError, RebuildRequired
from partita.store import PutItem, ReadStream, SetStream


@pytest.fixture
def sharded() -> ShardedStore:
    return ShardedStore()


def sink_at(**positions: int) -> MemorySink:
    sink = MemorySink()
    sink.at = positions
    return sink


def test_a_child_is_read_after_its_parent(sharded: ShardedStore) -> None:
    sharded.add("child", 3, 4, parent="parent")
    sharded.add("parent", 1, 2, closed=True)
    sink = sink_at(parent=0)
    Consumer(sharded, TABLE, sink).catch_up()
    assert sequences(sink) == [1, 2, 3, 4]
    assert sink.at == {"parent": 2, "child": 4}


def test_a_child_waits_while_its_parent_has_more(sharded: ShardedStore) -> None:
    sharded.add("parent", 1, 2, 3, 4, closed=True)
    sharded.add("child", 5, parent="parent")
    sink = sink_at(parent=0)
    consumer = Consumer(sharded, TABLE, sink, batch=2)
    assert (consumer.step(), sink.at) == (1, {"parent": 1})
    consumer.catch_up()
    assert sequences(sink) == [1, 2, 3, 4, 5]


def test_a_child_waits_while_its_parent_is_open(sharded: ShardedStore) -> None:
    sharded.add("parent", 1)
    sharded.add("child", 2, parent="parent")
    sink = sink_at(parent=0)
    Consumer(sharded, TABLE, sink).catch_up()
    assert sequences(sink) == [1]


def test_all_shards_have_their_turn(sharded: ShardedStore) -> None:
    sharded.add("a", *range(1, 101))
    sharded.add("b", *range(201, 301))
    sink = sink_at(a=0, b=0)
    Consumer(sharded, TABLE, sink, batch=10).step()
    assert sink.at == {"a": 5, "b": 205}


def test_an_empty_child_is_remembered(sharded: ShardedStore) -> None:
    sharded.add("parent", 1, closed=True)
    sharded.add("child", parent="parent")
    sink = sink_at(parent=0)
    Consumer(sharded, TABLE, sink).catch_up()
    assert sink.at == {"parent": 1, "child": 0}
    del sharded.shards["parent"]  # it is older than the retention of the stream
    sharded.records["child"] = [record(2)]
    Consumer(sharded, TABLE, sink).catch_up()
    assert (sequences(sink), sink.at) == ([1, 2], {"child": 2})


def test_a_stream_that_is_another_one_is_noticed(sharded: ShardedStore) -> None:
    sharded.add("new", 1)
    with pytest.raises(RebuildRequired, match="not the one that was read before"):
        Consumer(sharded, TABLE, sink_at(old=7)).step()


def test_a_child_whose_parent_is_gone_unread_is_noticed(sharded: ShardedStore) -> None:
    sharded.add("child", 5, parent="parent")
    with pytest.raises(RebuildRequired):
        Consumer(sharded, TABLE, sink_at(parent=2)).step()


def test_a_position_that_was_trimmed_is_noticed(sharded: ShardedStore) -> None:
    sharded.add("a", *range(1, 11))
    sharded.trim("a", 5)
    with pytest.raises(RebuildRequired, match="no longer kept"):
        Consumer(sharded, TABLE, sink_at(a=4)).step()
    assert Consumer(sharded, TABLE, sink_at(a=5)).step() == 5


def test_a_stream_that_is_older_than_what_was_read_is_noticed(store: EmbeddedStore, db: Session) -> None:
    store.execute(PutItem(TABLE.name, {"PK": "1", "SK": "x"}))
    stream = ChangeStream(store, TABLE)
    assert stream.lag({SHARD: 1}, now=0.0).records == 0
    for look in (lambda: stream.lag({SHARD: 2}, now=0.0), lambda: stream.read({SHARD: 2}, 10)):
        with pytest.raises(RebuildRequired, match="The stream of things ends before the position that was read"):
            look()


def test_a_sink_that_is_ahead_is_right_again_after_a_rebuild(store: EmbeddedStore, db: Session) -> None:
    store.execute(PutItem(TABLE.name, {"PK": "1", "SK": "x"}))
    sink = sink_at(**{SHARD: 7})
    assert Consumer(store, TABLE, sink).rebuild() == 1
    assert sink.at == {SHARD: 1}


def test_lag_is_counted_where_the_store_cannot_tell(sharded: ShardedStore) -> None:
    sharded.add("a", *range(10, 2_600, 10))
    sharded.add("b", 1)
    sharded.records["b"] = [record(1, at=90.0)]
    stream = ChangeStream(sharded, TABLE)
    assert stream.lag({"a": 20, "b": 0}, now=110.0) == Lag(258, 20.0)
    assert stream.lag(stream.end(), now=110.0) == Lag(0, 0.0)
    assert stream.end() == {"a": 2590, "b": 1}


@pytest.mark.parametrize("view", [None, "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"])
def test_a_table_without_both_images_is_refused(sharded: ShardedStore, view: object) -> None:
    table = Table("blind", stream=view, registry=Registry())  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="no stream with new and old images"):
        Consumer(sharded, table, MemorySink())


def test_a_batch_of_large_items_is_smaller(sharded: ShardedStore) -> None:
    sharded.add("a")
    sharded.records["a"] = [record(number, size=400_000) for number in range(1, 2_001)]
    sink = sink_at(a=0)
    consumer = Consumer(sharded, TABLE, sink, batch=2_000)
    assert consumer.step() == 1_000  # the page that exceeds the limit is the last one
    assert consumer.catch_up() == 1_000


def test_the_embedded_store_gives_large_records_in_small_pages(store: EmbeddedStore, db: Session) -> None:
    for number in range(8):
        store.execute(PutItem(TABLE.name, {"PK": f"{number}", "SK": "x", "large": "x" * 300_000}))
    store.execute(SetStream(TABLE.name, None))
    pages = []
    page = store.execute(ReadStream(TABLE.name, SHARD))
    while page.records:
        pages.append((len(page.records), page.closed))
        page = store.execute(ReadStream(TABLE.name, SHARD, page.records[-1].sequence))
    assert (pages, page.closed) == ([(4, False), (4, False)], True)


def test_an_empty_page_is_not_the_end_where_the_store_does_not_count(sharded: ShardedStore) -> None:
    sharded.add("a", *range(1, 21))
    sharded.empty = 3
    sink = sink_at(a=0)
    assert Consumer(sharded, TABLE, sink).catch_up() == 20


def test_a_name_and_a_session_are_not_a_table_and_a_store(store: EmbeddedStore, db: Session) -> None:
    with pytest.raises(ModelError, match=r"'todo' is not a Table\. Pass the declared table"):
        Consumer(store, "todo", MemorySink())  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"is not a store\. Pass the store itself, such as session\.store"):
        Consumer(db, TABLE, MemorySink())  # type: ignore[arg-type]
