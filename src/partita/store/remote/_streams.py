"""Requests about streams, which use a separate API with shards, expiring iterators and records."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final, TypeVar

import msgspec

from partita._aws import STREAMS, ApiCall, ApiClient, Calls, IteratorExpired
from partita.errors import TableNotFound, ValidationFailed
from partita.store import _requests as rq
from partita.store._dynamodb_json import Json
from partita.store._received import plain
from partita.store.remote._responses import optional_item
from partita.store.remote._stream_responses import (
    DescribeStreamOutput,
    GetRecordsOutput,
    GetShardIteratorOutput,
    ListStreamsOutput,
    RecordOutput,
    ShardOutput,
)
from partita.store.remote._tables import described

T = TypeVar("T")

MAX_RECORDS: Final = 1000
MIN_DIGITS: Final = 21
MAX_ITERATORS: Final = 1000
EMPTY_PAGES: Final = 5

Position = tuple[str, str, int]
"""Stream, shard, and the sequence number after which reading continues."""


class Iterators:
    """The iterators to continue reading with, by position.

    An empty response does not mean that the shard has ended: its next iterator is further ahead, so it must be kept.
    """

    def __init__(self) -> None:
        self._by_position: OrderedDict[Position, str] = OrderedDict()
        self._streams: dict[str, str] = {}
        self._digits = MIN_DIGITS
        self._lock = threading.Lock()

    def pop(self, position: Position) -> str | None:
        """Remove and return the iterator for this position, if there is one."""
        with self._lock:
            return self._by_position.pop(position, None)

    def keep(self, position: Position, iterator: str) -> None:
        """Store the iterator to continue with at this position; the oldest iterators are dropped."""
        with self._lock:
            self._by_position[position] = iterator
            if len(self._by_position) > MAX_ITERATORS:
                self._by_position.popitem(last=False)

    def text_of(self, sequence: int) -> str:
        """A sequence number in the endpoint's format."""
        return str(sequence).zfill(self._digits)

    def number_of(self, text: str) -> int:
        """A sequence number as an integer; remembers its length if it has leading zeros (which AWS does not use)."""
        if text.startswith("0"):
            self._digits = len(text)
        return int(text)

    def stream_of(self, table: str) -> str | None:
        """The last known stream of a table."""
        return self._streams.get(table)

    def remember(self, table: str, stream: str) -> None:
        """Store the stream of a table."""
        self._streams[table] = stream


def describe_stream(client: ApiClient, request: rq.DescribeStream, iterators: Iterators) -> Calls[rq.StreamDescription]:
    """Describe a table's newest stream with all its shards."""
    arn = yield from _arn(client, request.table, iterators)
    shards: list[rq.Shard] = []
    page: Json = {"StreamArn": arn}
    while True:
        stream = (yield from _call(client, "DescribeStream", page, DescribeStreamOutput)).stream_description
        enabled = stream.stream_status in ("ENABLED", "ENABLING")
        shards += [_shard(each, iterators, enabled=enabled) for each in stream.shards]
        last = stream.last_evaluated_shard_id
        if last is None:
            return rq.StreamDescription(arn, stream.stream_view_type, enabled, tuple(shards))
        page = {"StreamArn": arn, "ExclusiveStartShardId": last}


def read_stream(client: ApiClient, request: rq.ReadStream, iterators: Iterators) -> Calls[rq.StreamPage]:
    """Read records of a shard after a sequence number."""
    arn = iterators.stream_of(request.table) or (yield from _arn(client, request.table, iterators))
    position = (arn, request.shard, request.after)
    kept = iterators.pop(position)
    iterator = kept or (yield from _iterator(client, position, iterators))
    limit = min(request.limit, MAX_RECORDS)
    try:
        response = yield from _records(client, iterator, limit)
    except IteratorExpired:
        if kept is None:
            raise
        iterator = yield from _iterator(client, position, iterators)
        response = yield from _records(client, iterator, limit)
    records = [_record(each, iterators.number_of(each.dynamodb.sequence_number)) for each in response.records]
    following = response.next_shard_iterator
    if following:
        iterators.keep((arn, request.shard, records[-1].sequence if records else request.after), following)
    return rq.StreamPage(records, closed=not following)


def find_in_stream(client: ApiClient, request: rq.FindInStream, iterators: Iterators) -> Calls[rq.StreamPosition]:
    """Find the position before the first record at or after an instant; several empty pages in a row mean the end."""
    arn = iterators.stream_of(request.table) or (yield from _arn(client, request.table, iterators))
    parameters: Json = {"StreamArn": arn, "ShardId": request.shard, "ShardIteratorType": "AT_TIMESTAMP"}
    parameters["Timestamp"] = request.instant
    found = yield from _call(client, "GetShardIterator", parameters, GetShardIteratorOutput)
    iterator: str | None = found.shard_iterator
    for _ in range(EMPTY_PAGES):
        if iterator is None:
            break
        response = yield from _records(client, iterator, 1)
        if response.records:
            sequence = iterators.number_of(response.records[0].dynamodb.sequence_number)
            iterators.keep((arn, request.shard, sequence - 1), iterator)
            return rq.StreamPosition(sequence - 1)
        iterator = response.next_shard_iterator
    return rq.StreamPosition(None)


def _arn(client: ApiClient, table: str, iterators: Iterators) -> Calls[str]:
    arn: str | None = (yield from described(client, table)).get("LatestStreamArn")
    if not arn:  # a disabled stream can still be read
        streams = (yield from _call(client, "ListStreams", {"TableName": table}, ListStreamsOutput)).streams
        arn = streams[-1].stream_arn if streams else None
    if not arn:
        raise TableNotFound(f"The table {table!r} has no stream.", hint="Declare one with Table(…, stream=…).")
    iterators.remember(table, arn)
    return arn


def _iterator(client: ApiClient, position: Position, iterators: Iterators) -> Calls[str]:
    arn, shard, after = position
    parameters: Json = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    if after:
        parameters["ShardIteratorType"] = "AFTER_SEQUENCE_NUMBER"
        parameters["SequenceNumber"] = iterators.text_of(after)
    return (yield from _call(client, "GetShardIterator", parameters, GetShardIteratorOutput)).shard_iterator


def _records(client: ApiClient, iterator: str, limit: int) -> Calls[GetRecordsOutput]:
    return (yield from _call(client, "GetRecords", {"ShardIterator": iterator, "Limit": limit}, GetRecordsOutput))


def _call(client: ApiClient, name: str, parameters: Json, output: type[T]) -> Calls[T]:
    call = ApiCall(name, msgspec.json.encode(parameters), repeatable=True, api=STREAMS)
    return msgspec.json.decode((yield from client.send(call)), type=output)


def _shard(shard: ShardOutput, iterators: Iterators, *, enabled: bool) -> rq.Shard:
    numbers = shard.sequence_number_range
    iterators.number_of(numbers.starting_sequence_number or "1")
    ended = bool(numbers.ending_sequence_number)
    return rq.Shard(shard.shard_id, shard.parent_shard_id, closed=ended or not enabled)


def pushed_record(record: Any) -> rq.StreamRecord:
    """Convert a record that AWS passes to a Lambda function, decoded from JSON.

    Raises:
        ValidationFailed: the value is not a stream record.
    """
    try:
        found = msgspec.convert(record, RecordOutput)
        return _record(found, int(found.dynamodb.sequence_number))
    except msgspec.ValidationError as error:
        raise ValidationFailed(f"The value is not a stream record: {error}.") from error


def _record(record: RecordOutput, sequence: int) -> rq.StreamRecord:
    change = record.dynamodb
    return rq.StreamRecord(
        sequence=sequence,
        event=record.event_name,
        keys=plain(change.keys),
        old=optional_item(change.old_image),
        new=optional_item(change.new_image),
        at=change.approximate_creation_date_time,
        size=change.size_bytes,
        by_ttl=record.user_identity is not None and record.user_identity.is_ttl,
    )
