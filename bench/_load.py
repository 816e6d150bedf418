"""A load generator that uses little processor time itself, so that the servers have the cores.

It keeps several connections busy, and sends many requests on each at a time (HTTP pipelining), because writing and
reading one request at a time in Python would cost about as much as serving it. It wakes up when most of the responses
have arrived. All connections draw their requests from one shared supply, so that none is idle while another has work:
how the connections are distributed over the processes of a server is random.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice, repeat
from typing import Final

from bench._compare import Side

CONNECTIONS: Final = 8
AT_ONCE: Final = 16
"""The number of requests sent together on a connection."""
_OK: Final = b"HTTP/1.1 20"
_TAIL: Final = len(_OK) - 1


class _Load:
    """The messages that are still to be sent; any free connection takes the next ones."""

    def __init__(self, messages: Iterator[bytes], requests: int) -> None:
        self._messages = messages
        self._unsent = requests

    def take(self) -> list[bytes]:
        """Return the next messages to send together; an empty list if all were sent."""
        count = min(AT_ONCE, self._unsent)
        self._unsent -= count
        return list(islice(self._messages, count))


class _Connection:
    """A connection that sends messages, and waits for all their responses before it sends more."""

    def __init__(self, port: int, load: _Load) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._load = load
        self._sent = self._awaited = 0
        self._received = 0
        self._tail = b""

    def send(self) -> bool:
        """Send the next messages; return False if none are left."""
        messages = self._load.take()
        if self._sent:
            self._wake_after(self._received * len(messages) // self._sent)
        self._sent = self._awaited = len(messages)
        self._received = 0
        self.socket.sendall(b"".join(messages))
        return bool(messages)

    def read(self) -> bool:
        """Read what has arrived; return whether all responses have.

        Raises:
            ConnectionError: the server closed the connection.
        """
        received = self.socket.recv(65_536)
        if not received:
            raise ConnectionError("The server closed the connection.")
        self._count(received)
        if self._awaited > 0:
            self._wake_after(0)
        return self._awaited <= 0

    def _count(self, received: bytes) -> None:
        """Count the responses; the status line of one may be split over two pieces."""
        text = self._tail + received
        self._awaited -= text.count(_OK)
        self._tail = text[-_TAIL:]
        self._received += len(received)

    def _wake_after(self, expected: int) -> None:
        """Let the system wake this thread when most of the expected bytes have arrived: a response may be shorter."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, expected * 15 // 16)


def loaded(port: int, message: bytes | Iterator[bytes], requests: int, connections: int = CONNECTIONS) -> Side:
    """A side that sends one message repeatedly, or as many messages, and returns the seconds of one request."""
    messages = repeat(message) if isinstance(message, bytes) else message

    def measure() -> float:
        start = time.perf_counter()
        play(port, messages, requests, connections)
        return (time.perf_counter() - start) / requests

    return measure


def play(port: int, messages: Iterator[bytes], requests: int, connections: int = CONNECTIONS) -> None:
    """Send `requests` of the messages over all connections.

    Only responses with a status of 20x count; after any other one, this waits until the server closes the connection.

    Raises:
        ConnectionError: the server closed a connection.
    """
    load = _Load(messages, requests)
    with selectors.DefaultSelector() as selector, ExitStack() as opened:
        for _ in range(connections):
            connection = _Connection(port, load)
            opened.enter_context(connection.socket)
            if connection.send():
                selector.register(connection.socket, selectors.EVENT_READ, connection)
        while selector.get_map():
            for key, _ in selector.select(60):
                connection = key.data
                if connection.read() and not connection.send():
                    selector.unregister(key.fileobj)
