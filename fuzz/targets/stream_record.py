"""Stream records, from the bytes that an endpoint sends to the change that a consumer receives."""

from __future__ import annotations

import math
from typing import ClassVar, Final

import msgspec

from partita import Entity, Key, Table
from partita._aws._transport import HttpRequest, HttpResponse
from partita.change import ItemChange
from partita.errors import InvalidItem, PartitaError
from partita.model import Registry
from partita.store import ReadStream, StreamRecord, plain_item, wire_item
from partita.store.remote import Credentials, Outside, RemoteStore

NOW: Final = 1_767_268_800.0
SHARD: Final = "shardId-00000000000000000001"
TABLE: Final = Table("fuzzed", registry=Registry())
_BEFORE: Final = {
    "DescribeTable": b'{"Table": {"LatestStreamArn": "arn"}}',
    "GetShardIterator": b'{"ShardIterator": "i"}',
}


class Note(Entity, table=TABLE):
    """The entity of the changed items."""

    primary: ClassVar = Key("USER#{user}", "NOTE#{note:04}")

    user: str
    note: int
    text: str = ""


def stream_record(data: bytes) -> None:
    """Read the body of GetRecords; the result is changes, or an error because the body cannot be read."""
    _TRANSPORT.responses["GetRecords"] = data
    try:
        page = _STORE.execute(ReadStream(TABLE.name, SHARD))
    except PartitaError:
        return
    for record in page.records:
        _check_record(record)


def _check_record(record: StreamRecord) -> None:
    change = ItemChange(TABLE, record, SHARD)
    assert change.kind in {"insert", "modify", "remove"}
    assert change.sequence >= 0
    assert math.isfinite(change.at)
    for image in (record.keys, record.old, record.new):
        if image is not None:
            assert plain_item(msgspec.json.decode(msgspec.json.encode(wire_item(image)))) == image
    assert change.problem is None or change.entity is Note
    try:
        assert change.old is None or isinstance(change.old, Note)
    except InvalidItem:
        return


class _Fixed:
    """A transport that responds to every call with a fixed response."""

    def __init__(self) -> None:
        self.responses = dict(_BEFORE)

    def send(self, request: HttpRequest) -> HttpResponse:
        """Return the response of the named call."""
        name = request.headers["X-Amz-Target"].partition(".")[2]
        return HttpResponse(200, self.responses[name], _no_header)

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Like `send`."""
        return self.send(request)

    def close(self) -> None:
        """Do nothing; there is nothing to close."""


def _no_header(_: str) -> str | None:
    return None


_TRANSPORT: Final = _Fixed()
_STORE: Final = RemoteStore(
    "http://127.0.0.1:1",
    region="eu-west-1",
    credentials=Credentials("AKIDEXAMPLE", "secret"),
    transport=_TRANSPORT,
    outside=Outside(clock=lambda: NOW, sleep=lambda _: None),
)
