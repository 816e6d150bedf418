"""The bytes that clients send to the wire server, on a connection without a network."""

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
"""The highest allowed status; a higher one is a failure of the server."""

_HEAD: Final = re.compile(rb"HTTP/1\.1 ([0-9]{3}) [A-Za-z ]+\r\n((?:[a-z0-9-]+: [\x20-\x7e]+\r\n)*)\r\n")
_LENGTH: Final = re.compile(rb"content-length: ([0-9]+)\r\n")
_RANDOM: Final = re.compile(rb"x-amzn-requestid: [0-9A-Z]+\r\n")


def wire_request(data: bytes) -> None:
    """Send the input whole, and split at the position in its first byte: complete requests are executed, each once.

    If the first byte is odd, the rest is the target and the body of one request, to which this adds valid HTTP: mutated
    HTTP is rarely valid, and the code behind the HTTP parser must be reached, too.
    """
    where, rest = (data[0], data[1:]) if data else (0, b"")
    rest = _framed(rest) if where % 2 else rest
    middle = where % (len(rest) + 1)
    whole, split = _Client(), _Client()
    _run(whole, rest)
    _run(split, rest[:middle], rest[middle:])
    assert split.written == whole.written
    assert split.executed == whole.executed
    assert whole.executed <= framing.count_requests(rest), "an invalid request was executed"
    statuses = list(_statuses(bytes(whole.written), has_head=b"HEAD" in rest))
    assert len(statuses) >= whole.executed
    assert max(statuses, default=0) <= MAX_PLAIN_FAILURE


def _framed(data: bytes) -> bytes:
    target, _, body = data.partition(BORDER)
    head = b"POST / HTTP/1.1\r\nhost: localhost\r\nx-amz-target: %b\r\ncontent-length: %d\r\n\r\n"
    return head % (target, len(body)) + body


def _statuses(written: bytes, *, has_head: bool) -> Iterator[int]:
    """Yield the status of each response; all must be HTTP with a JSON body, but a HEAD has only the length of one."""
    while written:
        head = _HEAD.match(written)
        assert head is not None, written
        written = written[head.end() :]
        status = int(head[1])
        if status == 100:  # noqa: PLR2004 - "continue" is not the response
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
    """A transport that keeps the bytes that are written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.executed = 0
        self._closing = False

    async def send(self, parts: tuple[bytes, ...]) -> None:
        """Connect, send the parts, and wait for the responses to each."""
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
        """The address to which it is connected."""
        return ("127.0.0.1", 8000) if name == "sockname" else default

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep the written bytes."""
        assert not self._closing
        self.written += data

    def write_eof(self) -> None:
        """Mark the end of the written bytes."""
        self._closing = True

    def close(self) -> None:
        """Like `write_eof`."""
        self._closing = True

    def abort(self) -> None:
        """Like `write_eof`."""
        self._closing = True

    def is_closing(self) -> bool:
        """Whether nothing more can be written."""
        return self._closing

    def pause_reading(self) -> None:
        """Do nothing: the sender waits for each response anyway."""

    def resume_reading(self) -> None:
        """Do nothing."""


class _Counting(WireServer):
    """A server that counts the requests that it executes."""

    executed = 0

    def respond(self, request: Any) -> Any:
        """Count the request, and respond."""
        self.executed += 1
        return super().respond(request)


@cache
def _server() -> _Counting:
    limits = Limits(head_bytes=1_024, body_bytes=4_096)
    return _Counting(table_store(), limits=limits, clock=lambda: NOW, timer=lambda: 0.0)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()
