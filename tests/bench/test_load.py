"""The load generator sends each message once, waits for all responses, and notices a server that refuses."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from bench._load import AT_ONCE, play

_OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Server:
    """A server that sends the same response to every line, and closes a connection after a number of lines."""

    def __init__(self, response: bytes, lines: int | None = None) -> None:
        self.seen: list[bytes] = []
        self._response = response
        self._lines = lines
        self._lock = threading.Lock()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]

    @contextmanager
    def running(self) -> Iterator[Server]:
        accepting = threading.Thread(target=self._accept)
        accepting.start()
        try:
            yield self
        finally:
            self._socket.shutdown(socket.SHUT_RDWR)
            accepting.join()
            self._socket.close()

    def _accept(self) -> None:
        threads = []
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                break
            threads.append(threading.Thread(target=self._serve, args=(connection,)))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            for number, line in enumerate(lines):
                if number == self._lines:
                    return
                with self._lock:
                    self.seen.append(line)
                connection.sendall(self._response)


@pytest.mark.parametrize("requests", [1, AT_ONCE - 1, AT_ONCE * 5 + 3])
@pytest.mark.parametrize("connections", [1, 3])
def test_each_message_is_sent_once_and_answered(requests: int, connections: int) -> None:
    sent = [b"%d\n" % number for number in range(requests)]
    with Server(_OK).running() as server:
        play(server.port, iter(sent), requests, connections)
    assert sorted(server.seen) == sorted(sent)


def test_a_connection_that_is_closed_is_an_error() -> None:
    messages = iter([b"message\n"] * AT_ONCE)
    with Server(_OK, lines=3).running() as server, pytest.raises(ConnectionError):
        play(server.port, messages, AT_ONCE, 1)
