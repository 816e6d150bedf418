"""What clients send to the wire server, on a connection without a network."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import msgspec

from fuzz.fields import BORDER
from fuzz.targets import framing
from fuzz.targets.table import table_store
from partita.wire import Limits, WireServer
from partita.wire.connection import Connection

NOW: Final = 1_767_268_800.0
MAX_PLAIN_FAILURE: Final = 499
"""A status above is the server's own fault, but for the ones that say that it has no room."""

_HEAD: Final = re.compile(rb"HTTP/1\.1 ([0-9]{3}) [A-Za-z ]+\r\n((?:[a-z0-9-]+: [\x20-\x7e]+\r\n)*)\r\n")
_LENGTH: Final = re.compile(rb"content-length: ([0-9]+)\r\n")
_RANDOM: Final = re.compile(rb"x-amzn-requestid: [0-9A-Z]+\r\n")


def wire_request(data: bytes) -> None:
    """The first byte says where the rest is split in two: each request is executed once, whole, and responded to.

    Where it is odd, the rest is the target and the body of one request, which is put together here: HTTP that is
    altered at random is rarely valid, and what comes after it is to be reached too.
    """
    where, rest = (data[0], data[1:]) if data else (0, b"")
    rest = _framed(rest) if where % 2 else rest
    middle = where % (len(rest) + 1)
    whole, split = _Client(), _Client()
    _run(whole, rest)
    _run(split, rest[:middle], rest[middle:])
    assert split.written == whole.written
    assert split.executed == whole.executed
    assert whole.executed <= framing.count_requests(rest), "a request was executed that is not one"
    statuses = list(_statuses(bytes(whole.written), has_head=b"HEAD" in rest))
    assert len(statuses) >= whole.executed
    assert max(statuses, default=0) <= MAX_PLAIN_FAILURE


def _framed(data: bytes) -> bytes:
    target, _, body = data.partition(BORDER)
    head = b"POST / HTTP/1.1\r\nhost: localhost\r\nx-amz-target: %b\r\ncontent-length: %d\r\n\r\n"
    return head % (target, len(body)) + body


def _statuses(written: bytes, *, has_head: bool) -> Iterator[int]:
    """The status of each response, all of which must be HTTP with a body of JSON; a HEAD has a length alone."""
    while written:
        head = _HEAD.match(written)
        assert head is not None, written
        written = written[head.end() :]
        status = int(head[1])
        if status == 100:  # noqa: PLR2004 - go on
            continue
        length = _LENGTH.search(head[2])
        assert length is not None
        size = int(length[1])
        yield status
        if not (has_head and (not written or written.startswith(b"HTTP/1.1 "))):
            assert isinstance(msgspec.json.decode(written[:size]), dict)
            written = written[size:]


def _run(client: _Client, *parts: bytes) -> None:
    _loop().run_until_complete(client.send(parts))
    client.written = bytearray(_RANDOM.sub(b"", bytes(client.written)))


class _Client(asyncio.Transport):
    """A transport that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.executed = 0
        self._closing = False

    async def send(self, parts: tuple[bytes, ...]) -> None:
        """Be connected, send the parts, and wait for what comes of each."""
        server = _server()
        server.executed = 0
        connection = Connection(server, server.connections)
        connection.connection_made(self)
        for part in filter(None, parts):
            if not self._closing:
                connection.data_received(part)
            while connection.responding is not None:
                await connection.responding
        connection.connection_lost(None)
        self.executed = server.executed
        assert server.connections.budget.used == 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """The address that it is connected to."""
        return ("127.0.0.1", 8000) if name == "sockname" else default

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep what is written."""
        assert not self._closing
        self.written += data

    def write_eof(self) -> None:
        """Nothing follows what was written."""
        self._closing = True

    def close(self) -> None:
        """The same."""
        self._closing = True

    def abort(self) -> None:
        """The same."""
        self._closing = True

    def is_closing(self) -> bool:
        """Whether more can be written."""
        return self._closing

    def pause_reading(self) -> None:
        """Whoever sends here waits by itself."""

    def resume_reading(self) -> None:
        """The same."""


class _Counting(WireServer):
    """Counts the requests that it is given to execute."""

    executed = 0

    def respond(self, request: Any) -> Any:
        """Count, and respond."""
        self.executed += 1
        return super().respond(request)


@cache
def _server() -> _Counting:
    limits = Limits(head_bytes=1_024, body_bytes=4_096)
    return _Counting(table_store(), limits=limits, clock=lambda: NOW, timer=lambda: 0.0)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()
