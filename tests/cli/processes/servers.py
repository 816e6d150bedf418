"""Commands that serve in several processes, and which process has which connection."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tests.cli.waiting import DEADLINE, soon

from partita.cli import DataFolder, identity_of
from partita.http import Caller

MAIN = [sys.executable, "-c", 'from partita.cli import main; main(prog_name="partita")']


class Command:
    """A running `partita serve` or `partita dynamodb` of two processes, on a free port."""

    def __init__(self, folder: Path, *words: str, processes: int = 2) -> None:
        self.process = subprocess.Popen(
            [*MAIN, *words, "--port", "0", "--processes", str(processes)],
            env=os.environ | {"PARTITA_DATA": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.banner = ""
        while "Stop with Ctrl-C." not in self.banner:
            line = self.process.stdout.readline()
            assert line, self.banner
            self.banner += line
        ((host, port),) = re.findall(r"http://([0-9.]+):(\d+)/? from", self.banner)
        self.address = host, int(port)
        soon(lambda: len(self.pids()) == processes)

    def pids(self) -> set[int]:
        """Return the ids of the processes that serve, which have the listening socket open."""
        listening = _listening_socket(self.address[1])
        return {pid for pid in children_of(self.process.pid) if listening in open_files(pid)}

    def others(self) -> set[int]:
        """Return the ids of the other processes: the background process and the workers."""
        return set(children_of(self.process.pid)) - self.pids()

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit code and the rest of the output."""
        self.process.send_signal(with_signal)
        output, _ = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, output

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=DEADLINE)  # the other processes end too, which closes the pipe

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def _listening_socket(port: int) -> str:
    """Return the name that Linux gives to the socket listening on a port of this machine."""
    for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        columns = line.split()
        if int(columns[1].rpartition(":")[2], 16) == port and columns[3] == "0A":
            return f"socket:[{columns[9]}]"
    return ""


def owner_of(connection: socket.socket, pids: set[int]) -> int | None:
    """Return the process that has the other end of a connection; None if no process has accepted it yet."""
    local, remote = connection.getsockname()[1], connection.getpeername()[1]
    for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        columns = line.split()
        ports = tuple(int(columns[each].rpartition(":")[2], 16) for each in (1, 2))
        if ports == (remote, local):
            return next((pid for pid in pids if f"socket:[{columns[9]}]" in open_files(pid)), None)
    return None


def open_files(pid: int) -> list[str]:
    """Return the names that Linux gives to the open files of a process."""
    found = []
    try:
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.append(str(file.readlink()))
    except OSError:  # the process has ended
        pass
    return found


class Client:
    """A connection that sends requests and reads whole responses."""

    def __init__(self, address: tuple[str, int], headers: str = "") -> None:
        self.socket = socket.create_connection(address, timeout=DEADLINE)
        self._headers = headers
        self._received = b""

    def head(self, method: str, path: str, length: int, more: str = "") -> bytes:
        return (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\n{self._headers}{more}\r\n"
        ).encode()

    def send(self, method: str, path: str, body: Any = None, more: str = "") -> tuple[int, bytes]:
        """Send a request, and return the status and the body of the response.

        Raises:
            ConnectionError: the connection ended before the whole response.
        """
        content = b"" if body is None else json.dumps(body).encode()
        self.socket.sendall(self.head(method, path, len(content), more) + content)
        return self.receive()

    def json(self, method: str, path: str, body: Any = None, more: str = "") -> Any:
        status, content = self.send(method, path, body, more)
        assert status in (200, 201), content
        return json.loads(content)

    def receive(self) -> tuple[int, bytes]:
        head = self.until(b"\r\n\r\n").decode()
        length = re.search(r"(?i)content-length: (\d+)", head)
        body = self._take(int(length[1])) if length else b""
        return int(head.split()[1]), body

    def until(self, end: bytes) -> bytes:
        while end not in self._received:
            self._fill()
        return self._take(self._received.index(end) + len(end))

    def _take(self, length: int) -> bytes:
        while len(self._received) < length:
            self._fill()
        taken, self._received = self._received[:length], self._received[length:]
        return taken

    def _fill(self) -> None:
        more = self.socket.recv(65_536)
        if not more:
            raise ConnectionResetError
        self._received += more

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def authorization(folder: Path, user: str = "demo") -> str:
    """Return the `Authorization` header of a user."""
    return f"Authorization: Bearer {identity_of(DataFolder(folder)).token(Caller(user))}\r\n"


def one_for_each(command: Command, make: Callable[[], Client]) -> dict[int, Client]:
    """Return one connection to each process, by process id. Surplus connections are closed."""
    found: dict[int, Client] = {}
    deadline = time.monotonic() + DEADLINE
    while len(found) < len(pids := command.pids()) or len(pids) < 2:
        assert time.monotonic() < deadline
        client = make()
        soon(lambda client=client: owner_of(client.socket, command.pids()) is not None)  # type: ignore[misc]
        owner = owner_of(client.socket, command.pids())
        if owner is None or owner in found:
            client.close()
        else:
            found[owner] = client
    return found
