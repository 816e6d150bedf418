"""Change streams: ListStreams, DescribeStream, GetShardIterator and GetRecords."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Annotated, Final

import msgspec
from msgspec import Struct

from partita.errors import StreamTrimmed, TableNotFound, ValidationFailed
from partita.store import (
    DescribeStream,
    DescribeTable,
    FindInStream,
    Json,
    ListTables,
    ReadStream,
    Shard,
    StreamDescription,
    StreamPage,
    StreamPosition,
    StreamRecord,
    TableDescription,
    table_definition,
    wire_item,
)
from partita.wire._describe import stream_arn
from partita.wire._faults import Fault, not_found
from partita.wire._parameters import MAX_LONG, Operation, Parameters, Requests, refuse, violated

ITERATOR_SECONDS: Final = 900
MAX_LISTED: Final = 100
MAX_RECORDS: Final = 1_000
_MAX_DIGITS: Final = 40
_ARN: Final = re.compile(r"arn:[^:]*:dynamodb:[^:]*:[^:]*:table/([a-zA-Z0-9_.-]+)/stream/(.+)")
_SHARD: Final = re.compile(r"shardId-[0-9a-f-]{20,57}")
_TYPES: Final = ("AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON", "AT_TIMESTAMP")


class Position(Struct, frozen=True, array_like=True):
    """A position in a shard, encoded in an iterator; `at` is when the iterator was issued."""

    table: str
    stream: str
    view: str
    shard: str
    after: Annotated[int, msgspec.Meta(ge=0, le=MAX_LONG)]
    at: float


def _token(position: Position) -> str:
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(position)).decode()


def _position(token: str) -> Position:
    try:
        return msgspec.msgpack.decode(base64.urlsafe_b64decode(token), type=Position)
    except (ValueError, msgspec.MsgspecError):
        raise ValidationFailed("Invalid ShardIterator.") from None


def _sequence_text(sequence: int) -> str:
    return f"{sequence:021}"  # clients expect at least 21 digits


def list_streams(call: Parameters) -> Requests[Json]:
    """List the streams of all tables, or of one."""
    table, start = call.text("TableName"), call.text("ExclusiveStartStreamArn")
    if start is not None:
        _parts_of(start, "ExclusiveStartStreamArn")
    limit = call.page_size("Limit", MAX_LISTED) or MAX_LISTED
    tables = (table,) if table is not None else (yield ListTables())
    streams = []
    for name in tables:
        stream = yield from _latest(name)
        if stream is not None:
            arn = stream_arn(call.region, name, stream.stream_id)
            streams.append({"StreamArn": arn, "TableName": name, "StreamLabel": stream.stream_id})
    if start is not None:
        streams = [stream for stream in streams if stream["StreamArn"] > start]
    body: Json = {"Streams": streams[:limit]}
    if len(streams) > limit:
        body["LastEvaluatedStreamArn"] = streams[limit - 1]["StreamArn"]
    return body


def _latest(table: str) -> Requests[StreamDescription | None]:
    try:
        stream: StreamDescription = yield DescribeStream(table)
    except TableNotFound:
        return None
    return stream


def _parts_of(arn: str, what: str) -> tuple[str, str]:
    match = _ARN.fullmatch(arn)
    if match is None:
        raise ValidationFailed(f"Invalid {what}")
    return match[1], match[2]


def _found(call: Parameters) -> Requests[tuple[str, StreamDescription]]:
    """The stream of the ARN. Earlier streams of a table are closed, and are found by their number alone."""
    arn = call.text("StreamArn")
    if arn is None:
        refuse(violated(None, "streamArn", "Member must not be null"))
    table, label = _parts_of(arn, "StreamArn")
    latest = yield from _latest(table)
    if latest is not None and latest.stream_id == label:
        return table, latest
    number = label.rpartition("-")[2]
    shard = f"shardId-{int(number):020}" if number.isdecimal() and len(number) <= _MAX_DIGITS else ""
    try:
        page: StreamPage = yield ReadStream(table, shard, limit=1)
    except TableNotFound:
        page = StreamPage([])
    if latest is None or not (page.records or page.closed):
        raise not_found(f"Stream: {arn}")
    return table, StreamDescription(label, latest.view, False, (Shard(shard, closed=True),))


def describe_stream(call: Parameters) -> Requests[Json]:
    """Describe a stream and its shards."""
    table, stream = yield from _found(call)
    limit = call.page_size("Limit", MAX_LISTED) or MAX_LISTED
    start = call.text("ExclusiveStartShardId")
    description: TableDescription = yield DescribeTable(table)
    parent = _parent_wanted(call)
    shards = [
        shard
        for shard in stream.shards
        if (start is None or shard.id > start) and (parent is None or shard.parent == parent)
    ]
    body: Json = {
        "StreamArn": stream_arn(call.region, table, stream.stream_id),
        "StreamLabel": stream.stream_id,
        "StreamStatus": "ENABLED" if stream.enabled else "DISABLED",
        "StreamViewType": stream.view,
        "TableName": table,
        "KeySchema": table_definition(description.schema)["KeySchema"],
        "CreationRequestDateTime": description.created_at,
        "Shards": [_shard_body(shard) for shard in shards[:limit]],
    }
    if len(shards) > limit:
        body["LastEvaluatedShardId"] = shards[limit - 1].id
    return {"StreamDescription": body}


def _parent_wanted(call: Parameters) -> str | None:
    """The shard whose children ShardFilter requests, or None."""
    given = call.fields("ShardFilter")
    if given is None:
        return None
    wanted = Parameters(given)
    kind, parent = wanted.required("Type", "shardFilter.type"), wanted.required("ShardId", "shardFilter.shardId")
    if kind != "CHILD_SHARDS":
        refuse(violated(kind, "shardFilter.type", "Member must satisfy enum value set: [CHILD_SHARDS]"))
    if not _SHARD.fullmatch(parent):
        refuse(violated(parent, "shardFilter.shardId", f"Member must satisfy regular expression: {_SHARD.pattern}"))
    return parent


def _shard_body(shard: Shard) -> Json:
    first = max(shard.trimmed, shard.start) + 1
    numbers = {"StartingSequenceNumber": _sequence_text(first)}
    if shard.closed:
        numbers["EndingSequenceNumber"] = _sequence_text(max(shard.newest or 0, first))
    body: Json = {"ShardId": shard.id, "SequenceNumberRange": numbers}
    if shard.parent is not None:
        body["ParentShardId"] = shard.parent
    return body


class StreamReading:
    """The operations that depend on the time, because iterators expire."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock

    def operations(self) -> dict[str, Operation]:
        """The operations, by name."""
        return {"GetShardIterator": self.get_shard_iterator, "GetRecords": self.get_records}

    def get_shard_iterator(self, call: Parameters) -> Requests[Json]:
        """Return an iterator at a position in a shard."""
        kind = call.choice("ShardIteratorType", _TYPES)
        if kind is None:
            refuse(violated(None, "shardIteratorType", "Member must not be null"))
        table, stream = yield from _found(call)
        wanted = call.text("ShardId")
        shard = next((shard for shard in stream.shards if shard.id == wanted), None)
        if shard is None:
            raise not_found(f"Shard: {wanted}")
        after = yield from self._after(call, table, shard)
        position = Position(table, stream.stream_id, stream.view, shard.id, after, self._clock())
        return {"ShardIterator": _token(position)}

    def _after(self, call: Parameters, table: str, shard: Shard) -> Requests[int]:
        kind, instant = call.text("ShardIteratorType") or "", call.instant("Timestamp")
        if kind != "AT_TIMESTAMP":
            if instant is not None:
                raise ValidationFailed(f"Timestamp must not be specified for the ShardIteratorType {kind}")
            return _after(kind, call.text("SequenceNumber"), shard)
        if call.text("SequenceNumber") is not None:
            raise ValidationFailed(f"SequenceNumber must not be specified for the ShardIteratorType {kind}")
        if instant is None:
            raise ValidationFailed(f"Timestamp must be specified for the ShardIteratorType {kind}")
        if instant > self._clock():
            raise ValidationFailed("Timestamp must not be in the future")
        found: StreamPosition = yield FindInStream(table, shard.id, instant)
        return (shard.newest or 0) if found.after is None else found.after

    def get_records(self, call: Parameters) -> Requests[Json]:
        """Read records from a position on, and return an iterator for the position after them."""
        limit = call.page_size("Limit", MAX_RECORDS) or MAX_RECORDS
        position = _position(call.required("ShardIterator", "shardIterator"))
        if self._clock() - position.at > ITERATOR_SECONDS:
            raise Fault(
                "ExpiredIteratorException", "Iterator expired. The iterator was created more than 15 minutes ago"
            )
        page: StreamPage = yield ReadStream(position.table, position.shard, position.after, limit)
        body: Json = {"Records": [_record_body(record, position, call.region) for record in page.records]}
        if not page.closed:
            after = page.records[-1].sequence if page.records else position.after
            body["NextShardIterator"] = _token(msgspec.structs.replace(position, after=after, at=self._clock()))
        return body


def _after(kind: str, sequence: str | None, shard: Shard) -> int:
    if kind in ("LATEST", "TRIM_HORIZON"):
        if sequence is not None:
            raise ValidationFailed(f"SequenceNumber must not be specified for the ShardIteratorType {kind}")
        return (shard.newest or 0) if kind == "LATEST" else 0
    if sequence is None or not sequence.isdecimal():
        raise ValidationFailed(f"SequenceNumber must be specified for the ShardIteratorType {kind}")
    if len(sequence) > _MAX_DIGITS or int(sequence) > MAX_LONG:
        raise ValidationFailed("Invalid SequenceNumber.")
    after = int(sequence) - (kind == "AT_SEQUENCE_NUMBER")
    if after < shard.trimmed:
        raise StreamTrimmed("The operation attempted to read past the oldest stream record in a shard.")
    return after


def _record_body(record: StreamRecord, position: Position, region: str) -> Json:
    change: Json = {
        "ApproximateCreationDateTime": int(record.at),
        "Keys": wire_item(record.keys),
        "SequenceNumber": _sequence_text(record.sequence),
        "SizeBytes": record.size,
        "StreamViewType": position.view,
    }
    if record.new is not None:
        change["NewImage"] = wire_item(record.new)
    if record.old is not None:
        change["OldImage"] = wire_item(record.old)
    identity = f"{position.table}/{position.stream}/{record.sequence}"
    body: Json = {
        "eventID": hashlib.md5(identity.encode(), usedforsecurity=False).hexdigest(),
        "eventName": record.event,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": region,
        "dynamodb": change,
    }
    if record.by_ttl:
        body["userIdentity"] = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    return body
