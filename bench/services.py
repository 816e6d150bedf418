"""To-Do over HTTP, beside FastAPI that does nothing and beside FastAPI with SQLAlchemy on SQLite.

One connection sends one request after the other; every server is a process of its own, on the same event loop.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench._compare import Bar, Comparison, Side, Skipped, compare, per_call
from bench._load import loaded
from bench._peers import python_peer
from bench._servers import started
from bench._todo_peers import TASKS

_PARTITA: Final = 'from partita.cli import main; main(prog_name="partita")'
_PEER: Final = (
    "import os, sys; sys.path[:0] = sys.argv[1].split(os.pathsep); "
    "from bench._todo_peers import main; main(*sys.argv[2:])"
)
REQUESTS: Final = 200
REPETITIONS: Final = 11
LOAD: Final = 2_048
"""Requests of a turn where two processes are compared with one."""
DRAFT: Final = json.dumps({"title": "A task", "priority": "low"}).encode()


def comparisons(folder: Path) -> Iterator[Comparison | Skipped]:
    """All measurements of this module."""
    with ExitStack() as servers:
        ours = _todo(folder, servers)
        bare = _peer("bare", folder, servers)
        for name, request, least in (("a get", _get, 0.5), ("a list of 20", _list, 0.3)):
            yield compare(
                f"{name} of To-Do, to bare FastAPI",
                Bar("at least", least),
                *_sides(request, ours, bare),
                repetitions=REPETITIONS,
            )
        yield from _two_processes(folder, ours)
        name, packages = "a create of To-Do, to SQLAlchemy", python_peer("sqlalchemy")
        if packages is None:
            yield Skipped(name, "no registry has SQLAlchemy here")
            return
        peer = _peer("sqlalchemy", folder, servers, packages)
        yield compare(
            name,
            Bar("at least", 3),
            *_sides(_create, ours, peer),
            repetitions=REPETITIONS,
        )


def _two_processes(folder: Path, one: Connection) -> Iterator[Comparison]:
    """Two processes beside one, on the same file, under load that a single process cannot take."""
    with ExitStack() as servers:
        two = _todo(folder, servers, processes=2)
        for name, request, bar in (
            ("a get", ("GET", f"/tasks/{one.task_id}", b""), Bar("at least", 1.7)),
            ("a list of 20", ("GET", f"/tasks?limit={TASKS}", b""), Bar("at least", 1.7)),
            ("a create", ("POST", "/tasks", DRAFT), Bar("at least", 1)),
        ):
            sides = (loaded(each.port, each.message(*request), LOAD) for each in (two, one))
            yield compare(f"{name} of To-Do by two processes, to one", bar, *sides, repetitions=REPETITIONS)


class Connection:
    """One connection to a server, and a task that it has."""

    def __init__(self, port: int, prefix: str, token: str = "") -> None:
        self.port = port
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._prefix = prefix
        self._token = f"Authorization: Bearer {token}\r\n" if token else ""
        created = [json.loads(self.send("POST", "/tasks", DRAFT)) for _ in range(TASKS)]
        self.task_id: str = created[0]["task_id"]

    def send(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Send a request, and give the body of the response.

        Raises:
            AssertionError: the response is not 200 or 201.
        """
        self._socket.sendall(self.message(method, path, body))
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._socket.recv(65_536)
        head_bytes, _, rest = received.partition(b"\r\n\r\n")
        assert b" 20" in head_bytes[:12], head_bytes
        length = int(re.search(rb"(?i)content-length: (\d+)", head_bytes)[1])  # type: ignore[index]
        while len(rest) < length:
            rest += self._socket.recv(65_536)
        return rest

    def message(self, method: str, path: str, body: bytes = b"") -> bytes:
        """A request as it is sent."""
        content = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        head = f"{method} {self._prefix}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{self._token}{content}\r\n"
        return head.encode() + body


def _get(connection: Connection) -> object:
    return connection.send("GET", f"/tasks/{connection.task_id}")


def _list(connection: Connection) -> object:
    return connection.send("GET", f"/tasks?limit={TASKS}")


def _create(connection: Connection) -> object:
    return connection.send("POST", "/tasks", DRAFT)


def _sides(request: object, *connections: Connection) -> list[Side]:
    return [per_call(request, [connection] * REQUESTS) for connection in connections]  # type: ignore[arg-type]


def _todo(folder: Path, servers: ExitStack, processes: int = 1) -> Connection:
    data = folder / "todo-over-http"
    served = [sys.executable, "-c", _PARTITA, "serve", "todo", "--data", str(data), "--rate-limit", "off"]
    command = [*served, "--processes", str(processes), "--port"]
    port = servers.enter_context(started(command, folder))
    made = [sys.executable, "-c", _PARTITA, "token", "--user", "bench", "--data", str(data)]
    token = subprocess.run(made, check=True, capture_output=True, text=True).stdout.strip()
    return Connection(port, "/todo/api", token)


def _peer(name: str, folder: Path, servers: ExitStack, packages: Path | None = None) -> Connection:
    places = os.pathsep.join(str(place) for place in (Path(__file__).parents[1], packages) if place is not None)
    command = [sys.executable, "-c", _PEER, places, name, str(folder)]
    return Connection(servers.enter_context(started(command, folder)), "")
