"""A server that replays another server's responses: it forwards each new request, records the response and repeats it.

    python -m bench._replay 8000      # forwards to this port, and prints its own

The time of a client includes the time of the server. This server is as fast as possible, and equally fast for all
clients: it looks up the response by the operation, the body and the accepted encodings, and sends the recorded bytes.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

HOST: Final = "127.0.0.1"
_CHUNK: Final = 1 << 18
_END: Final = b"\r\n\r\n"
_SIZE: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ASKED: Final = re.compile(rb"\r\n(?:x-amz-target|accept-encoding): *([^\r]*)", re.IGNORECASE)

Question: TypeAlias = tuple[tuple[bytes, ...], bytes]
"""The key of a response: the operation and the encodings, in the order in which a client sends them, and the body."""


@contextmanager
def replaying(port: int) -> Iterator[str]:
    """Run such a server in a separate process, forwarding to a local port, and yield its URL."""
    command = [sys.executable, "-m", "bench._replay", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://{HOST}:{int(server.stdout.readline())}"
        finally:
            server.terminate()


def serve(listener: socket.socket, port: int) -> None:
    """Serve all connections, each in its own thread, until the listener is closed."""
    recorded: dict[Question, bytes] = {}

    def answer(message: bytes) -> bytes:
        asked = question(message)
        if asked not in recorded:
            recorded[asked] = _passed_on(message, port)
        return recorded[asked]

    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_answer_all, args=(connection, answer), daemon=True).start()


def question(message: bytes) -> Question:
    """The key of a request, which does not depend on who signed it or when."""
    head, _, body = message.partition(_END)
    return tuple(_ASKED.findall(head)), body


def _answer_all(connection: socket.socket, answer: Callable[[bytes], bytes]) -> None:
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while message := _message(connection):
            connection.sendall(answer(message))


def _passed_on(message: bytes, port: int) -> bytes:
    with socket.create_connection((HOST, port)) as server:
        server.sendall(message)
        return _message(server)


def _message(connection: socket.socket) -> bytes:
    """Read the next request or response; return no bytes if the connection has ended."""
    data = connection.recv(_CHUNK)
    while data and not _is_whole(data):
        part = connection.recv(_CHUNK)
        data = data + part if part else b""
    return data


def _is_whole(data: bytes) -> bool:
    end = data.find(_END)
    size = _SIZE.search(data, 0, end + 2) if end >= 0 else None
    return size is not None and len(data) >= end + len(_END) + int(size[1])


def _main() -> None:
    listener = socket.create_server((HOST, 0))
    print(listener.getsockname()[1], flush=True)
    serve(listener, int(sys.argv[1]))


if __name__ == "__main__":
    _main()
