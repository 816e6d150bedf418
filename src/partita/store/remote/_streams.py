"""Requests about streams, which are an API of their own: shards, iterators that expire, records."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

import msgspec

from partita._aws import STREAMS, ApiCall, ApiClient, Calls, IteratorExpired
from partita.errors import TableNotFound
from partita.store import _requests as rq
from partita.store._dynamodb_json import Json, plain_item
from partita.store.remote._tables import described

MAX_RECORDS: Final = 1000
MIN_DIGITS: Final = 21
MAX_ITERATORS: Final = 1000

Position = tuple[str, str, int]
"""Stream, shard, and the sequence number after which reading goes on."""


class Iterators:
    """The iterators with which reading goes on, by position.

    An empty response does not mean that the shard has ended: the next iterator stands further on, so it must be kept.
    """

    def __init__(self) -> None:
        self._by_position: OrderedDict[Position, str] = OrderedDict()
        self._streams: dict[str, str] = {}
        self._digits = MIN_DIGITS
        self._lock = threading.Lock()

    def pop(self, position: Position) -> str | None:
        """The iterator that stands at this position, if one is kept."""
        with self._lock:
            return self._by_position.pop(position, None)

    def keep(self, position: Position, iterator: str) -> None:
        """Go on from here with this iterator; the oldest are dropped."""
        with self._lock:
            self._by_position[position] = iterator
            if len(self._by_position) > MAX_ITERATORS:
                self._by_position.popitem(last=False)

    def text_of(self, sequence: int) -> str:
        """A sequence number as the endpoint writes it."""
        return str(sequence).zfill(self._digits)

    def number_of(self, text: str) -> int:
        """A sequence number as an integer; how it is filled with zeros, which AWS does not do, is remembered."""
        if text.startswith("0"):
            self._digits = len(text)
        return int(text)

    def stream_of(self, table: str) -> str | None:
        """The stream of a table, as it was described last."""
        return self._streams.get(table)

    def remember(self, table: str, stream: str) -> None:
        """The stream of a table."""
        self._streams[table] = stream


def describe_stream(client: ApiClient, request: rq.DescribeStream, iterators: Iterators) -> Calls[rq.StreamDescription]:
    """A table's newest stream with all of its shards."""
    arn = yield from _arn(client, request.table, iterators)
    shards: list[rq.Shard] = []
    page: Json = {"StreamArn": arn}
    while True:
        response: Json = (yield from _call(client, "DescribeStream", page))["StreamDescription"]
        enabled = response["StreamStatus"] in ("ENABLED", "ENABLING")
        shards += [_shard(each, iterators, enabled=enabled) for each in response["Shards"]]
        last = response.get("LastEvaluatedShardId")
        if last is None:
            return rq.StreamDescription(arn, response["StreamViewType"], enabled, tuple(shards))
        page = {"StreamArn": arn, "ExclusiveStartShardId": last}


def read_stream(client: ApiClient, request: rq.ReadStream, iterators: Iterators) -> Calls[rq.StreamPage]:
    """Records of a shard after a sequence number."""
    arn = iterators.stream_of(request.table) or (yield from _arn(client, request.table, iterators))
    position = (arn, request.shard, request.after)
    kept = iterators.pop(position)
    iterator = kept or (yield from _iterator(client, position, iterators))
    limit = min(request.limit, MAX_RECORDS)
    try:
        response = yield from _call(client, "GetRecords", {"ShardIterator": iterator, "Limit": limit})
    except IteratorExpired:
        if kept is None:
            raise
        iterator = yield from _iterator(client, position, iterators)
        response = yield from _call(client, "GetRecords", {"ShardIterator": iterator, "Limit": limit})
    records = [_record(each, iterators) for each in response["Records"]]
    following = response.get("NextShardIterator")
    if following:
        iterators.keep((arn, request.shard, records[-1].sequence if records else request.after), following)
    return rq.StreamPage(records, closed=not following)


def _arn(client: ApiClient, table: str, iterators: Iterators) -> Calls[str]:
    arn: str | None = (yield from described(client, table)).get("LatestStreamArn")
    if not arn:  # one that was disabled can still be read
        streams = (yield from _call(client, "ListStreams", {"TableName": table}))["Streams"]
        arn = streams[-1]["StreamArn"] if streams else None
    if not arn:
        raise TableNotFound(f"The table {table!r} has no stream.", hint="Declare one: Table(…, stream=…).")
    iterators.remember(table, arn)
    return arn


def _iterator(client: ApiClient, position: Position, iterators: Iterators) -> Calls[str]:
    arn, shard, after = position
    parameters: Json = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    if after:
        parameters["ShardIteratorType"] = "AFTER_SEQUENCE_NUMBER"
        parameters["SequenceNumber"] = iterators.text_of(after)
    response = yield from _call(client, "GetShardIterator", parameters)
    iterator: str = response["ShardIterator"]
    return iterator


def _call(client: ApiClient, name: str, parameters: Json) -> Calls[Json]:
    call = ApiCall(name, msgspec.json.encode(parameters), repeatable=True, api=STREAMS)
    response: Json = msgspec.json.decode((yield from client.send(call)))
    return response


def _shard(shard: Json, iterators: Iterators, *, enabled: bool) -> rq.Shard:
    numbers = shard["SequenceNumberRange"]
    iterators.number_of(numbers.get("StartingSequenceNumber") or "1")
    ended = bool(numbers.get("EndingSequenceNumber"))
    return rq.Shard(shard["ShardId"], shard.get("ParentShardId"), closed=ended or not enabled)


def _record(record: Json, iterators: Iterators) -> rq.StreamRecord:
    change = record["dynamodb"]
    old, new = change.get("OldImage"), change.get("NewImage")
    return rq.StreamRecord(
        sequence=iterators.number_of(change["SequenceNumber"]),
        event=record["eventName"],
        keys=plain_item(change["Keys"]),
        old=None if old is None else plain_item(old),
        new=None if new is None else plain_item(new),
        at=float(change["ApproximateCreationDateTime"]),
        size=change["SizeBytes"],
        by_ttl=_is_by_ttl(record.get("userIdentity") or {}),
    )


def _is_by_ttl(identity: Json) -> bool:
    principal = identity.get("PrincipalId") or identity.get("principalId")  # the API's way, and that of its examples
    return bool(principal == "dynamodb.amazonaws.com")
