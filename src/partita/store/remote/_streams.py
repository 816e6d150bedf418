"""Requests about streams, which are an API of their own: shards, iterators that expire, records."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

import msgspec

from partita._aws import STREAMS, Attempts, Call, IteratorExpired, Steps
from partita.errors import TableNotFound
from partita.store import _requests as rq
from partita.store._dynamodb_json import Json, plain_item
from partita.store.remote._tables import described

MAX_RECORDS: Final = 1000
LEAST_DIGITS: Final = 21
KEPT_ITERATORS: Final = 1000

Position = tuple[str, str, int]
"""Stream, shard, and the sequence number after which reading goes on."""


class Iterators:
    """The iterators with which reading goes on, by position.

    An empty answer does not mean that the shard has ended: the next iterator stands further on, so it must be kept.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Position, str] = OrderedDict()
        self._streams: dict[str, str] = {}
        self._digits = LEAST_DIGITS
        self._lock = threading.Lock()

    def take(self, position: Position) -> str | None:
        """The iterator that stands at this position, if one is kept."""
        with self._lock:
            return self._kept.pop(position, None)

    def keep(self, position: Position, iterator: str) -> None:
        """Go on from here with this iterator; the oldest are dropped."""
        with self._lock:
            self._kept[position] = iterator
            if len(self._kept) > KEPT_ITERATORS:
                self._kept.popitem(last=False)

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


def describe_stream(
    attempts: Attempts, request: rq.DescribeStream, iterators: Iterators
) -> Steps[rq.StreamDescription]:
    """A table's newest stream with all of its shards."""
    arn = yield from _arn(attempts, request.table, iterators)
    shards: list[rq.Shard] = []
    page: Json = {"StreamArn": arn}
    while True:
        answer: Json = (yield from _ask(attempts, "DescribeStream", page))["StreamDescription"]
        enabled = answer["StreamStatus"] in ("ENABLED", "ENABLING")
        shards += [_shard(each, iterators, enabled=enabled) for each in answer["Shards"]]
        last = answer.get("LastEvaluatedShardId")
        if last is None:
            return rq.StreamDescription(arn, answer["StreamViewType"], enabled, tuple(shards))
        page = {"StreamArn": arn, "ExclusiveStartShardId": last}


def read_stream(attempts: Attempts, request: rq.ReadStream, iterators: Iterators) -> Steps[rq.StreamPage]:
    """Records of a shard after a sequence number."""
    arn = iterators.stream_of(request.table) or (yield from _arn(attempts, request.table, iterators))
    position = (arn, request.shard, request.after)
    kept = iterators.take(position)
    iterator = kept or (yield from _iterator(attempts, position, iterators))
    limit = min(request.limit, MAX_RECORDS)
    try:
        answer = yield from _ask(attempts, "GetRecords", {"ShardIterator": iterator, "Limit": limit})
    except IteratorExpired:
        if kept is None:
            raise
        iterator = yield from _iterator(attempts, position, iterators)
        answer = yield from _ask(attempts, "GetRecords", {"ShardIterator": iterator, "Limit": limit})
    records = [_record(each, iterators) for each in answer["Records"]]
    following = answer.get("NextShardIterator")
    if following:
        iterators.keep((arn, request.shard, records[-1].sequence if records else request.after), following)
    return rq.StreamPage(records, closed=not following)


def _arn(attempts: Attempts, table: str, iterators: Iterators) -> Steps[str]:
    arn: str | None = (yield from described(attempts, table)).get("LatestStreamArn")
    if not arn:  # one that was disabled can still be read
        streams = (yield from _ask(attempts, "ListStreams", {"TableName": table}))["Streams"]
        arn = streams[-1]["StreamArn"] if streams else None
    if not arn:
        raise TableNotFound(f"The table {table!r} has no stream.", hint="Declare one: Table(…, stream=…).")
    iterators.remember(table, arn)
    return arn


def _iterator(attempts: Attempts, position: Position, iterators: Iterators) -> Steps[str]:
    arn, shard, after = position
    parameters: Json = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    if after:
        parameters["ShardIteratorType"] = "AFTER_SEQUENCE_NUMBER"
        parameters["SequenceNumber"] = iterators.text_of(after)
    answer = yield from _ask(attempts, "GetShardIterator", parameters)
    iterator: str = answer["ShardIterator"]
    return iterator


def _ask(attempts: Attempts, name: str, parameters: Json) -> Steps[Json]:
    call = Call(name, msgspec.json.encode(parameters), repeatable=True, api=STREAMS)
    answer: Json = msgspec.json.decode((yield from attempts.send(call)))
    return answer


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
