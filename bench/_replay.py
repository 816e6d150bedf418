"""A server that answers as another one did: what it is asked first is passed on, and recorded; then it repeats it.

    python -m bench._replay 8000      # passes on to this port, and says its own

Clients that are compared wait for the server, too. This one takes as little of their time as it can, and the same for
all: it finds the response by the operation, the body and the accepted encodings, and sends the recorded bytes again.
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
"""What decides the response: the operation and the encodings, in the order in which a client sends them; the body."""


@contextmanager
def replaying(port: int) -> Iterator[str]:
    """The URL of such a server in a process of its own, which passes on to a port of this machine."""
    command = [sys.executable, "-m", "bench._replay", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://{HOST}:{int(server.stdout.readline())}"
        finally:
            server.terminate()


def serve(listener: socket.socket, port: int) -> None:
    """Answer all connections, each in a thread of its own, until the listener is closed."""
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
    """What a request asks for, whoever asks, and whenever it was signed."""
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
    """The next request or response; nothing, where the connection has come to its end."""
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
