"""Clients of a wire server without sockets: bytes are received immediately, and only the test advances the time."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from partita import EmbeddedStore
from partita.wire import AccessKey, Limits, WireServer
from partita.wire.connection import Connection


class FakeTransport(asyncio.Transport):
    """A transport that records what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.is_ended = False
        self.is_aborted = False
        self.is_reading_paused = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 8000) if name == "sockname" else default

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.is_ended
        self.written += data

    def write_eof(self) -> None:
        self.is_ended = True

    def close(self) -> None:
        self.is_ended = True

    def abort(self) -> None:
        self.is_ended = self.is_aborted = True

    def is_closing(self) -> bool:
        return self.is_ended

    def pause_reading(self) -> None:
        self.is_reading_paused = True

    def resume_reading(self) -> None:
        self.is_reading_paused = False


class FakeClient:
    """A client, from the start of its connection until the connection is lost."""

    def __init__(self, server: WireServer) -> None:
        self.connection = Connection(server, server.connections)
        self.transport = FakeTransport()
        self.connection.connection_made(self.transport)

    def receive(self, data: bytes) -> None:
        """Let the server receive these bytes."""
        self.connection.data_received(data)

    def lose(self) -> None:
        """Let the server lose the connection."""
        self.connection.connection_lost(None)

    @property
    def is_ended(self) -> bool:
        """Whether the server has ended its side of the connection."""
        return self.transport.is_ended

    def statuses(self) -> list[int]:
        """Return the status codes of the responses so far."""
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", self.transport.written)]


class FakeTimer:
    """A timer that advances only if a test sets it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def without_sockets(
    store: EmbeddedStore,
    clients: int,
    *,
    limits: Limits | None = None,
    key: AccessKey | None = None,
    timer: FakeTimer | None = None,
) -> tuple[WireServer, list[FakeClient]]:
    """Create a server, and clients that are connected to it."""
    server = WireServer(store, limits=limits or Limits(), key=key, timer=timer or FakeTimer())
    return server, [FakeClient(server) for _ in range(clients)]
