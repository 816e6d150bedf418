"""DynamoDB Streams: shards of many pages, iterators that are reused and expire, positions that are no longer kept."""

from __future__ import annotations

from typing import Any

import pytest
from tests.store.remote.scripted import Play, ScriptedStore, error_response, http_response

from partita.errors import StoreUnavailable, StreamTrimmed, TableNotFound, Throttled
from partita.store._requests import DescribeStream, ReadStream, Shard, StreamRecord

ARN = "arn:aws:dynamodb:eu-west-1:1:table/t/stream/now"
TABLE = http_response({"Table": {"LatestStreamArn": ARN}})
FIRST = "300000000000000499659"
ITERATOR = http_response({"ShardIterator": "i1"})


def shard(name: str, parent: str | None = None, *, ended: bool = False) -> dict[str, Any]:
    numbers = {"StartingSequenceNumber": FIRST, **({"EndingSequenceNumber": "3000000000000005"} if ended else {})}
    return {"ShardId": name, "SequenceNumberRange": numbers, **({"ParentShardId": parent} if parent else {})}


def stream(*shards: dict[str, Any], status: str = "ENABLED", last: str | None = None) -> Play:
    body = {"StreamArn": ARN, "StreamStatus": status, "StreamViewType": "NEW_AND_OLD_IMAGES", "Shards": shards}
    return http_response({"StreamDescription": {**body, **({"LastEvaluatedShardId": last} if last else {})}})


def record(number: str, **more: Any) -> dict[str, Any]:
    keys = {"pk": {"S": "p"}}
    change = {"SequenceNumber": number, "Keys": keys, "ApproximateCreationDateTime": 1_767_268_800, "SizeBytes": 9}
    return {"eventName": "INSERT", "dynamodb": {**change, "NewImage": {**keys, "n": {"N": "1"}}}, **more}


def records(*found: dict[str, Any], following: str | None = "i2") -> Play:
    return http_response({"Records": found, **({"NextShardIterator": following} if following else {})})


@pytest.mark.rule(41)
def test_shards_of_all_pages_are_listed_with_their_parents() -> None:
    scripted = ScriptedStore(TABLE, stream(shard("a", ended=True), last="a"), stream(shard("b", "a")))
    description = scripted.store.execute(DescribeStream("t"))
    assert description.shards == (Shard("a", None, closed=True), Shard("b", "a"))
    assert (description.stream_id, description.enabled) == (ARN, True)
    assert scripted.transport.bodies[2]["ExclusiveStartShardId"] == "a"


def test_the_shards_of_a_disabled_stream_are_closed() -> None:
    description = ScriptedStore(TABLE, stream(shard("a"), status="DISABLED")).store.execute(DescribeStream("t"))
    assert (description.enabled, description.shards[0].closed) == (False, True)


def test_a_disabled_stream_that_the_table_no_longer_names_is_found() -> None:
    listed = http_response({"Streams": [{"StreamArn": "old"}, {"StreamArn": ARN}]})
    scripted = ScriptedStore(http_response({"Table": {}}), listed, stream(shard("a"), status="DISABLED"))
    assert scripted.store.execute(DescribeStream("t")).stream_id == ARN


def test_a_table_without_a_stream_says_so() -> None:
    with pytest.raises(TableNotFound, match="has no stream"):
        ScriptedStore(http_response({"Table": {}}), http_response({"Streams": []})).store.execute(DescribeStream("t"))


@pytest.mark.rule(43)
def test_a_record_has_everything() -> None:
    by_ttl = {"userIdentity": {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}}
    scripted = ScriptedStore(TABLE, ITERATOR, records(record(FIRST), record("3" * 30, **by_ttl)))
    first, second = scripted.store.execute(ReadStream("t", "a")).records
    new = {"pk": "p", "n": 1}
    assert first == StreamRecord(int(FIRST), "INSERT", {"pk": "p"}, None, new, 1_767_268_800.0, 9)
    assert (second.sequence, second.by_ttl) == (int("3" * 30), True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"eventName": "REPLACE"},
        {"dynamodb": None},
        {"dynamodb": {}},
        {"dynamodb": {**record(FIRST)["dynamodb"], "SequenceNumber": "-1"}},
        {"dynamodb": {**record(FIRST)["dynamodb"], "SequenceNumber": "9" * 5_000}},
        {"dynamodb": {**record(FIRST)["dynamodb"], "Keys": {"pk": "p"}}},
        {"dynamodb": {**record(FIRST)["dynamodb"], "ApproximateCreationDateTime": "now"}},
        {"dynamodb": {**record(FIRST)["dynamodb"], "NewImage": {"b": {"B": "%"}}}},
        {"dynamodb": {**record(FIRST)["dynamodb"], "NewImage": {"s": {"NS": []}}}},
        {"dynamodb": {**record(FIRST)["dynamodb"], "NewImage": {"d": {"DATE": "2030-01-01"}}}},
        {"userIdentity": 1},
    ],
)
def test_a_record_that_cannot_be_read_is_said_to_be_unreadable(wrong: dict[str, Any]) -> None:
    scripted = ScriptedStore(TABLE, ITERATOR, records({**record(FIRST), **wrong}))
    with pytest.raises(StoreUnavailable, match="response cannot be read"):
        scripted.store.execute(ReadStream("t", "a"))


@pytest.mark.parametrize("body", [b"{}", b"[]", b"", b'{"Records":["\xd2"]}', b'{"Records":' + b"[" * 100_000])
def test_a_page_that_cannot_be_read_is_said_to_be_unreadable(body: bytes) -> None:
    with pytest.raises(StoreUnavailable, match="response cannot be read"):
        ScriptedStore(TABLE, ITERATOR, http_response(body)).store.execute(ReadStream("t", "a"))


@pytest.mark.parametrize("play", [http_response({}), stream({"ShardId": "a"})])
def test_a_description_that_cannot_be_read_is_said_to_be_unreadable(play: Play) -> None:
    with pytest.raises(StoreUnavailable, match="response cannot be read"):
        ScriptedStore(TABLE, play).store.execute(DescribeStream("t"))


def test_reading_begins_at_the_oldest_and_goes_on_with_the_iterator_that_was_given() -> None:
    scripted = ScriptedStore(TABLE, ITERATOR, records(record(FIRST)), records())
    scripted.store.execute(ReadStream("t", "a"))
    scripted.store.execute(ReadStream("t", "a", after=int(FIRST)))
    assert scripted.transport.names == ["DescribeTable", "GetShardIterator", "GetRecords", "GetRecords"]
    assert scripted.transport.bodies[1]["ShardIteratorType"] == "TRIM_HORIZON"
    assert [body["ShardIterator"] for body in scripted.transport.bodies[2:]] == ["i1", "i2"]


def test_an_empty_page_is_not_the_end_and_the_next_read_goes_on_after_it() -> None:
    scripted = ScriptedStore(TABLE, ITERATOR, records(following="i2"), records(record(FIRST), following="i3"))
    assert scripted.store.execute(ReadStream("t", "a")).records == []
    assert len(scripted.store.execute(ReadStream("t", "a")).records) == 1
    assert scripted.transport.bodies[-1]["ShardIterator"] == "i2"


def test_a_position_of_another_process_is_found_by_its_number() -> None:
    scripted = ScriptedStore(TABLE, ITERATOR, records())
    scripted.store.execute(ReadStream("t", "a", after=int(FIRST), limit=5000))
    asked = scripted.transport.bodies[1]
    assert (asked["ShardIteratorType"], asked["SequenceNumber"]) == ("AFTER_SEQUENCE_NUMBER", FIRST)
    assert scripted.transport.bodies[2]["Limit"] == 1000


def test_numbers_that_a_server_fills_with_zeros_are_given_back_so() -> None:
    number = "7".zfill(30)
    scripted = ScriptedStore(
        TABLE, ITERATOR, records(record(number), following=None), http_response({"ShardIterator": "i"}), records()
    )
    (found,) = scripted.store.execute(ReadStream("t", "a")).records
    scripted.store.execute(ReadStream("t", "a", after=found.sequence))
    assert (found.sequence, scripted.transport.bodies[3]["SequenceNumber"]) == (7, number)


def test_an_expired_iterator_is_replaced() -> None:
    scripted = ScriptedStore(
        TABLE,
        ITERATOR,
        records(record(FIRST)),
        error_response("ExpiredIteratorException"),
        http_response({"ShardIterator": "new"}),
        records(),
    )
    scripted.store.execute(ReadStream("t", "a"))
    scripted.store.execute(ReadStream("t", "a", after=int(FIRST)))
    assert scripted.transport.bodies[4]["SequenceNumber"] == FIRST
    assert scripted.transport.bodies[5]["ShardIterator"] == "new"


def test_a_shard_that_has_ended_is_closed() -> None:
    page = ScriptedStore(TABLE, ITERATOR, records(record(FIRST), following=None)).store.execute(ReadStream("t", "a"))
    assert (len(page.records), page.closed) == (1, True)


def test_what_is_no_longer_kept_is_reported() -> None:
    scripted = ScriptedStore(TABLE, error_response("TrimmedDataAccessException"))
    with pytest.raises(StreamTrimmed):
        scripted.store.execute(ReadStream("t", "a", after=5))


def test_too_many_readers_of_a_shard_are_throttled() -> None:
    scripted = ScriptedStore(TABLE, ITERATOR, error_response("LimitExceededException"), records())
    assert scripted.store.execute(ReadStream("t", "a")).records == []
    with pytest.raises(Throttled):
        ScriptedStore(TABLE, ITERATOR, error_response("LimitExceededException"), tries=1).store.execute(
            ReadStream("t", "a")
        )
