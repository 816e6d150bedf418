"""Records of DynamoDB Streams, delivered to sinks and functions in order, and batches that fail from some record on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import apsw
import pytest
from tests.change.memory import MemorySink
from tests.change.model import TABLE, Task
from tests.functions.recorded import recorded

from partita import Entity, Key, Registry, Table
from partita.change import ItemChange, SqliteProjection
from partita.errors import EventRefused, RebuildRequired, StoreFull
from partita.functions import StreamHandler
from partita.store import TableNames

SHARD = "shardId-00000001428537600000-5a1b2c3d"
FIRST = 4421584500000000017450439091
DONE: dict[str, Any] = {"batchItemFailures": [], "state": {}}


def failed_at(sequence: int) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": str(sequence)}], "state": {}}


@pytest.fixture
def sink() -> MemorySink:
    """A sink that was loaded before."""
    sink = MemorySink()
    sink.at = {"shardId-before": 7}
    return sink


def test_records_reach_a_sink_in_order_with_their_positions(sink: MemorySink) -> None:
    assert StreamHandler({TABLE: [sink]})(recorded("stream")) == DONE
    assert [change.kind for change in sink.changes] == ["insert", "modify", "remove"]
    assert sink.at == {"shardId-before": 7, SHARD: FIRST + 2}
    inserted, modified, removed = sink.changes
    assert inserted.new == Task(user_id="ann", task_id="t1", title="Zoë's", estimate=3, tags=frozenset("ab"))
    assert modified.new_item is not None
    assert (modified.new_item["estimate"], modified.new_item["note"]) == (Decimal(100), bytes([0, 255, 254, 128]))
    assert (modified.new_item["nothing"], modified.at, modified.shard) == (None, 1428537601.5, SHARD)
    assert (removed.by_ttl, removed.new_item, removed.sequence) == (True, None, FIRST + 2)


def test_a_table_may_have_another_name_in_a_stage(sink: MemorySink) -> None:
    event = recorded("stream")
    for record in event["Records"]:
        record["eventSourceARN"] = record["eventSourceARN"].replace("table/things", "table/dev-things")
    handler = StreamHandler({TABLE: [sink]}, table_names=TableNames(prefix="dev-"))
    assert handler(event) == DONE
    assert len(sink.changes) == 3


def test_keys_may_be_binary() -> None:
    table = Table("blobs", hash=("digest", "B"), range=None, stream="NEW_AND_OLD_IMAGES", registry=Registry())

    class Blob(Entity, table=table):
        primary: ClassVar = Key("{digest}")
        digest: bytes

    record = recorded("stream")["Records"][0]
    record["dynamodb"] |= {"Keys": {"digest": {"B": "AP8="}}, "NewImage": {"digest": {"B": "AP8="}}}
    record["eventSourceARN"] = "arn:aws:dynamodb:us-east-1:123456789012:table/blobs/stream/2015"
    seen: list[ItemChange] = []
    assert StreamHandler({table: [seen.append]})({"Records": [record]}) == {"batchItemFailures": []}
    assert [change.new for change in seen] == [Blob(digest=b"\x00\xff")]


class Refusing(MemorySink):
    """A sink that refuses batches with a change of this sequence number."""

    def __init__(self, sequence: int) -> None:
        super().__init__()
        self.at = {SHARD: 1}
        self.sequence = sequence

    def apply(self, batch: Sequence[ItemChange], positions: Mapping[str, int]) -> None:
        if any(change.sequence == self.sequence for change in batch):
            raise StoreFull("The disk is full.")
        super().apply(batch, positions)


@pytest.mark.parametrize("number", range(3))
def test_what_is_before_the_record_that_failed_is_committed(number: int) -> None:
    sink = Refusing(FIRST + number)
    assert StreamHandler({TABLE: [sink]})(recorded("stream")) == failed_at(FIRST + number)
    assert [change.sequence for change in sink.changes] == [FIRST + n for n in range(number)]
    assert sink.at[SHARD] == (FIRST + number - 1 if number else 1)


def test_of_many_records_the_first_that_fails_is_found() -> None:
    event = recorded("stream")
    pattern = event["Records"][0]
    event["Records"] = [
        pattern | {"dynamodb": pattern["dynamodb"] | {"SequenceNumber": str(FIRST + n)}} for n in range(100)
    ]
    sink = Refusing(FIRST + 66)
    assert StreamHandler({TABLE: [sink]})(event) == failed_at(FIRST + 66)
    assert [change.sequence for change in sink.changes] == [FIRST + n for n in range(66)]
    assert len(sink.batches) < 10


def test_a_function_gets_each_change_until_it_fails() -> None:
    seen: list[int] = []

    def notify(change: ItemChange) -> None:
        if change.kind == "modify":
            raise ZeroDivisionError
        seen.append(change.sequence)

    assert StreamHandler({TABLE: [notify]})(recorded("stream")) == failed_at(FIRST + 1)
    assert seen == [FIRST]


def test_no_target_gets_more_than_the_one_before_it(sink: MemorySink) -> None:
    def refuse(change: ItemChange) -> None:
        if change.kind == "remove":
            raise ZeroDivisionError

    assert StreamHandler({TABLE: [refuse, sink]})(recorded("stream")) == failed_at(FIRST + 2)
    assert [change.kind for change in sink.changes] == ["insert", "modify"]


@pytest.mark.parametrize(
    "damage",
    [
        {"eventName": "REPLACE"},
        {"dynamodb": {"SequenceNumber": str(FIRST + 1)}},
        {"dynamodb": {"SequenceNumber": str(FIRST + 1), "Keys": {"PK": {"Q": "?"}}}},
    ],
)
def test_a_record_that_cannot_be_read_holds_back_what_is_behind_it(sink: MemorySink, damage: dict[str, Any]) -> None:
    event = recorded("stream")
    event["Records"][1] |= damage
    assert StreamHandler({TABLE: [sink]})(event) == failed_at(FIRST + 1)
    assert [change.kind for change in sink.changes] == ["insert"]


def test_a_record_of_another_table_holds_back_what_is_behind_it(sink: MemorySink) -> None:
    event = recorded("stream")
    event["Records"][1]["eventSourceARN"] = "arn:aws:dynamodb:us-east-1:123456789012:table/others/stream/2015"
    assert StreamHandler({TABLE: [sink]})(event) == failed_at(FIRST + 1)


@pytest.mark.parametrize("record", [None, {}, {"eventSourceARN": 7}, {"eventSourceARN": "arn:aws:kinesis:x"}])
def test_what_is_of_no_stream_of_these_tables_is_refused(sink: MemorySink, record: Any) -> None:
    with pytest.raises(EventRefused, match="not from a stream of these tables"):
        StreamHandler({TABLE: [sink]})({"Records": [record]})


def test_a_record_without_a_number_fails_the_event(sink: MemorySink) -> None:
    event = recorded("stream")
    del event["Records"][1]["dynamodb"]["SequenceNumber"]
    with pytest.raises(EventRefused, match="no sequence number"):
        StreamHandler({TABLE: [sink]})(event)


@pytest.mark.parametrize("event", [None, {}, {"Records": {}}, "s3", "sqs-fifo"])
def test_other_events_are_refused(sink: MemorySink, event: Any) -> None:
    with pytest.raises(EventRefused):
        StreamHandler({TABLE: [sink]})(recorded(event) if isinstance(event, str) else event)
    assert sink.changes == []


def test_an_event_that_ends_a_window_may_have_no_records(sink: MemorySink) -> None:
    event = recorded("stream") | {"Records": [], "isFinalInvokeForWindow": True, "state": {"a": 1}}
    assert StreamHandler({TABLE: [sink]})(event) == {"batchItemFailures": [], "state": {"a": 1}}


def test_a_sink_must_know_the_shard(sink: MemorySink) -> None:
    event = recorded("stream")
    del event["shardId"]
    with pytest.raises(EventRefused, match="TumblingWindowInSeconds"):
        StreamHandler({TABLE: [sink]})(event)


def test_a_sink_that_was_never_loaded_says_so() -> None:
    with pytest.raises(RebuildRequired, match="never loaded"):
        StreamHandler({TABLE: [MemorySink()]})(recorded("stream"))


@pytest.fixture
def titles(tmp_path: Path) -> Iterator[SqliteProjection]:
    def apply(connection: apsw.Connection, change: ItemChange) -> None:
        connection.execute("INSERT INTO seen VALUES (?)", (str(change.sequence),))

    projection = SqliteProjection(tmp_path / "titles.db", tables="CREATE TABLE seen (sequence TEXT)", apply=apply)
    projection.apply([], {SHARD: 1})
    yield projection
    projection.close()


def test_a_projection_counts_each_record_once_however_often_it_comes(titles: SqliteProjection) -> None:
    handler = StreamHandler({TABLE: [titles]})
    for event in (recorded("stream"), recorded("stream")):
        assert handler(event) == DONE
    earlier = recorded("stream")
    earlier["Records"] = earlier["Records"][:1]
    assert handler(earlier) == DONE
    assert titles.read("SELECT sequence FROM seen") == [(str(FIRST + n),) for n in range(3)]
    assert titles.positions() == {SHARD: FIRST + 2}
