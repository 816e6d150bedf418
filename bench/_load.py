"""A load generator that takes little of the processor itself, so that the servers have the cores.

It keeps several connections busy, and sends many requests on each at a time (HTTP pipelining): writing and reading one
request at a time in Python would cost about as much as serving it.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterator
from itertools import islice, repeat
from typing import Final, cast

from bench._compare import Side

CONNECTIONS: Final = 8
AT_ONCE: Final = 16
"""Requests that are sent together on a connection."""
_OK: Final = b"HTTP/1.1 20"
_TAIL: Final = len(_OK) - 1


class _Progress:
    """What is left to do on one connection."""

    def __init__(self, requests: int) -> None:
        self.unsent = requests
        self.awaited = 0
        self.tail = b""

    def heard(self, received: bytes) -> None:
        """Count the responses; one may begin in one piece and end in another."""
        text = self.tail + received
        self.awaited -= text.count(_OK)
        self.tail = text[-_TAIL:]


def loaded(port: int, message: bytes | Iterator[bytes], requests: int, connections: int = CONNECTIONS) -> Side:
    """A side that sends the message so many times, or so many messages; the seconds are those of one request."""
    messages = repeat(message) if isinstance(message, bytes) else message

    def measure() -> float:
        start = time.perf_counter()
        play(port, messages, requests, connections)
        return (time.perf_counter() - start) / requests

    return measure


def play(port: int, messages: Iterator[bytes], requests: int, connections: int = CONNECTIONS) -> None:
    """Send so many of the messages over all connections.

    Raises:
        ConnectionError: the server has closed one, or its response is another than 200, 201 or 202.
    """
    with selectors.DefaultSelector() as selector:
        for _ in range(connections):
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            progress = _Progress(requests // connections)
            selector.register(connection, selectors.EVENT_READ, progress)
            _send(connection, progress, messages)
        while selector.get_map():
            for key, _ in selector.select(60):
                _read(selector, key, messages)


def _send(connection: socket.socket, progress: _Progress, messages: Iterator[bytes]) -> None:
    progress.awaited = min(AT_ONCE, progress.unsent)
    progress.unsent -= progress.awaited
    connection.sendall(b"".join(islice(messages, progress.awaited)))


def _read(selector: selectors.BaseSelector, key: selectors.SelectorKey, messages: Iterator[bytes]) -> None:
    connection, progress = cast("socket.socket", key.fileobj), cast("_Progress", key.data)
    received = connection.recv(1_048_576)
    if not received:
        raise ConnectionError("The server has closed the connection.")
    progress.heard(received)
    if progress.awaited > 0:
        return
    if progress.unsent:
        _send(connection, progress, messages)
    else:
        selector.unregister(connection)
        connection.close()
