"""To-Do over HTTP, compared with FastAPI that stores nothing, and with FastAPI and SQLAlchemy on SQLite.

One connection sends one request after the other, or eight send many at once. Every server runs in its own process, on
the same kind of event loop.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, TypeAlias

from msgspec.structs import replace

from bench._compare import Bar, Comparison, Side, Skipped, compare, duration, per_call
from bench._load import loaded
from bench._peers import python_peer
from bench._processor import Spent
from bench._servers import Server, running
from bench._todo_peers import TASKS

_PARTITA: Final = Path(sys.executable).with_name("partita")
"""The installed program."""
_PEER: Final = (
    "import os, sys; sys.path[:0] = sys.argv[1].split(os.pathsep); "
    "from bench._todo_peers import main; main(*sys.argv[2:])"
)
REQUESTS: Final = 200
REPETITIONS: Final = 11
LOAD: Final = 2_048
"""The requests per round when two processes are compared with one."""
CREATES: Final = 256
"""The requests per round when creates by eight connections are compared: the peer waits for the disk for each."""
DRAFT: Final = json.dumps({"title": "A task", "priority": "low"}).encode()
CREATE: Final = ("POST", "/tasks", DRAFT)

Ask: TypeAlias = "Callable[[Connection], object]"
"""A function that sends a request and waits for its response."""


def comparisons(folder: Path) -> Iterator[Comparison | Skipped]:
    """All measurements of this module."""
    packages = python_peer("sqlalchemy")
    with ExitStack() as servers:
        ours = _todo(folder, servers)
        bare = _peer("bare", folder, servers)
        for name, request, least in (("a get", _get, 0.5), ("a list of 20", _list, 0.3)):
            yield _one_by_one(f"{name} of To-Do, to bare FastAPI", Bar("at least", least), request, ours, bare)
        yield from _two_processes(folder, ours)
        if packages is None:
            yield Skipped("a create of To-Do, to SQLAlchemy", "cannot install SQLAlchemy from a registry")
            return
        peer = _peer("sqlalchemy", folder, servers, packages)
        yield _one_by_one("a create of To-Do, to SQLAlchemy", Bar("at least", 3), _create, ours, peer)
        yield _at_once("creates by 8 connections, to SQLAlchemy", Bar("at least", 3), CREATE, ours, peer, CREATES)


def _two_processes(folder: Path, one: Connection) -> Iterator[Comparison]:
    """Two processes compared with one, on the same file, under a load that saturates a single process."""
    with ExitStack() as servers:
        two = _todo(folder, servers, processes=2)
        for name, request, bar in (
            ("a get", ("GET", f"/tasks/{one.task_id}", b""), Bar("at least", 1.7)),
            ("a list of 20", ("GET", f"/tasks?limit={TASKS}", b""), Bar("at least", 1.7)),
            ("a create", CREATE, Bar("at least", 1)),
        ):
            yield _at_once(f"{name} of To-Do by two processes, to one", bar, request, two, one)


def _one_by_one(name: str, bar: Bar, request: Ask, ours: Connection, theirs: Connection) -> Comparison:
    """Compare with one connection to each server, which sends one request after the other."""
    sides = [(each, per_call(request, [each] * REQUESTS)) for each in (ours, theirs)]
    return _compared(name, bar, sides, REQUESTS)


def _at_once(
    name: str, bar: Bar, request: tuple[str, str, bytes], ours: Connection, theirs: Connection, calls: int = LOAD
) -> Comparison:
    """Compare with many requests at once."""
    sides = [(each, loaded(each.server.port, each.message(*request), calls)) for each in (ours, theirs)]
    return _compared(name, bar, sides, calls)


def _compared(name: str, bar: Bar, sides: Sequence[tuple[Connection, Side]], calls: int) -> Comparison:
    """Compare, and add a note with the servers' processor time, which hardly depends on other load of the machine."""
    spent = [Spent(connection.server.pid) for connection, _ in sides]
    counted = [each.counting(side, calls) for each, (_, side) in zip(spent, sides, strict=True)]
    found = compare(name, bar, *counted, repetitions=REPETITIONS)
    ours, theirs = (each.per_call() for each in spent)
    if not ours:
        return found
    figures = f"{duration(ours)} of processor time to {duration(theirs)}, {theirs / ours:.2f}x"
    return replace(found, note=f"{name}: {figures}")


class Connection:
    """One connection to a server, and a task stored there."""

    def __init__(self, server: Server, prefix: str, token: str = "") -> None:
        self.server = server
        self._socket = self._opened()
        self._prefix = prefix
        self._token = f"Authorization: Bearer {token}\r\n" if token else ""
        created = [json.loads(self.send("POST", "/tasks", DRAFT)) for _ in range(TASKS)]
        self.task_id: str = created[0]["task_id"]

    def send(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Send a request, and return the body of the response.

        Raises:
            AssertionError: the response is not 200 or 201.
        """
        received = self._begun(self.message(method, path, body))
        while b"\r\n\r\n" not in received:
            received += self._socket.recv(65_536)
        head_bytes, _, rest = received.partition(b"\r\n\r\n")
        assert b" 20" in head_bytes[:12], head_bytes
        length = int(re.search(rb"(?i)content-length: (\d+)", head_bytes)[1])  # type: ignore[index]
        while len(rest) < length:
            rest += self._socket.recv(65_536)
        return rest

    def _opened(self) -> socket.socket:
        opened = socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened

    def _begun(self, message: bytes) -> bytes:
        """Return the first bytes of the response; reconnect if the server has closed the idle connection."""
        with suppress(ConnectionError):
            self._socket.sendall(message)
            if received := self._socket.recv(65_536):
                return received
        self._socket = self._opened()
        self._socket.sendall(message)
        return self._socket.recv(65_536)

    def message(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The bytes of a request."""
        content = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        head = f"{method} {self._prefix}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{self._token}{content}\r\n"
        return head.encode() + body


def _get(connection: Connection) -> object:
    return connection.send("GET", f"/tasks/{connection.task_id}")


def _list(connection: Connection) -> object:
    return connection.send("GET", f"/tasks?limit={TASKS}")


def _create(connection: Connection) -> object:
    return connection.send("POST", "/tasks", DRAFT)


def _todo(folder: Path, servers: ExitStack, processes: int = 1) -> Connection:
    data = folder / "todo-over-http"
    served = [str(_PARTITA), "serve", "todo", "--data", str(data), "--rate-limit", "off"]
    command = [*served, "--processes", str(processes), "--port"]
    server = servers.enter_context(running(command, folder))
    made = [str(_PARTITA), "token", "--user", "bench", "--data", str(data)]
    token = subprocess.run(made, check=True, capture_output=True, text=True).stdout.strip()
    return Connection(server, "/todo/api", token)


def _peer(name: str, folder: Path, servers: ExitStack, packages: Path | None = None) -> Connection:
    places = os.pathsep.join(str(place) for place in (Path(__file__).parents[1], packages) if place is not None)
    command = [sys.executable, "-c", _PEER, places, name, str(folder)]
    return Connection(servers.enter_context(running(command, folder)), "")
