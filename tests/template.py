"""Processes that start with everything imported: forks of a template process, which imports it once.

They are normal processes, with their own signals, environment and exit status.
"""

from __future__ import annotations

import importlib
import os
import random
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import Struct

ROOT = Path(__file__).parents[1]
MAX_BYTES = 1_000_000


class Start(Struct, frozen=True, tag=True):
    """Start a process; the template replies with its process id."""

    arguments: tuple[str, ...]
    environment: dict[str, str]


class Wait(Struct, frozen=True, tag=True):
    """Wait for the end of a process; the template replies with its exit status."""

    pid: int


class Template:
    """Starts processes that run `main` of a module."""

    def __init__(self, module: str, *others: str) -> None:
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "tests.template", str(theirs.fileno()), module, *others]
        self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])
        theirs.close()

    def start(self, *arguments: str) -> Forked:
        """Start a process with these arguments."""
        read, write = os.pipe()
        message = msgspec.json.encode(Start(arguments, dict(os.environ)))
        socket.send_fds(self._connection, [message], [write])
        os.close(write)
        return Forked(int(self._connection.recv(MAX_BYTES)), read, self)

    def wait(self, pid: int) -> int:
        """Wait for the end of a process, and return its exit status."""
        self._connection.send(msgspec.json.encode(Wait(pid)))
        return int(self._connection.recv(MAX_BYTES))

    def close(self) -> None:
        """Close the connection, and wait for the end of the template."""
        self._connection.close()
        self._process.wait()


class Forked:
    """A running process, and its standard output."""

    def __init__(self, pid: int, output: int, template: Template) -> None:
        self.pid = pid
        self.stdout = os.fdopen(output, "rb")
        self._template = template

    def kill(self) -> int:
        """Kill the process, wait for its end, and return its exit status."""
        os.kill(self.pid, signal.SIGKILL)
        status = self._template.wait(self.pid)
        self.stdout.close()
        return status


def serve(connection: socket.socket, main: Callable[..., None]) -> None:
    """Run the template: start processes and wait for them on request, until the connection is closed."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, MAX_BYTES, 1)
        if not message:
            break
        asked = msgspec.json.decode(message, type=Start | Wait)
        if isinstance(asked, Wait):
            reply = os.waitstatus_to_exitcode(os.waitpid(asked.pid, 0)[1])
        else:
            (output,) = descriptors
            reply = os.fork()
            if reply == 0:
                connection.close()
                _run(main, asked, output)
            os.close(output)
        connection.send(str(reply).encode())


def _run(main: Callable[..., None], asked: Start, output: int) -> NoReturn:
    os.dup2(output, 1)
    os.close(output)
    os.environ.clear()
    os.environ.update(asked.environment)
    random.seed()
    status = 1
    try:
        main(*asked.arguments)
        status = 0
    finally:
        if status:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    descriptor, module, *others = sys.argv[1:]
    for other in others:
        importlib.import_module(other)
    serve(socket.socket(fileno=int(descriptor)), importlib.import_module(module).main)
