"""The processor time of starting: the command line, the library, a model, a server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench._compare import Bar, Comparison, Side, compare

REPETITIONS: Final = 11
ALLOWED: Final = 1.5
"""The seconds within which a server on an existing folder must be ready."""

PACKAGE: Final = "import partita"
MODEL: Final = """
from typing import ClassVar
from partita import Entity, Key, Put, Rcu, Table, Wcu, get, insert, pattern

class Task(Entity, table=Table("tasks")):
    primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}")
    user_id: str
    task_id: str

@get(Task, budget=Rcu(0.5))
def task_by_id(user_id: str, task_id: str) -> None: ...

@pattern(budget=Wcu(1))
def create_task(task: Task) -> Put[Task]:
    return insert(task)
"""
NAMES: Final = "from partita import EmbeddedStore, Entity, Session"  # names are loaded on first use
FUNCTION: Final = "import partita.functions, partita_services.todo.bootstrap"  # before a handler is created
HTTP: Final = (  # everything that a function loads before its first request
    "import partita.functions._handlers, partita_services.todo.http, partita.app; "
    "from partita.store.remote import Credentials, RemoteStore; "
    "RemoteStore('https://dynamodb.eu-west-1.amazonaws.com', credentials=Credentials('a', 'b'))"
)
SETTINGS: Final = {"region_name": "us-east-1", "aws_access_key_id": "bench", "aws_secret_access_key": "bench"}
"""The settings of a boto3 client."""
BOTO3: Final = f"import boto3; boto3.client('dynamodb', **{SETTINGS!r})"
PROGRAM: Final = str(Path(sys.executable).with_name("partita"))
"""The installed command line."""


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    start, boto3 = _python(folder, ""), _python(folder, BOTO3)
    helped = _started(folder, PROGRAM, "--help")
    yield compare("partita --help, to Python's start", Bar("at most", 2), helped, start, repetitions=5 * REPETITIONS)
    for name, code, most in (
        ("import partita, to boto3 with a client", PACKAGE, 0.5),
        ("import a model, to boto3 with a client", MODEL, 0.5),
        ("import a model, a session and a store, to boto3", NAMES, 1.0),
        ("import a function for messages, to boto3", FUNCTION, 1.5),
        ("import a function for requests, to boto3", HTTP, 3.0),
    ):
        yield compare(name, Bar("at most", most), _python(folder, code), boto3, repetitions=REPETITIONS)
    _served(folder)  # creates the folder, with sample data
    ready = lambda: _served(folder)  # noqa: E731 - a side
    yield compare("serve --all until it is ready, to 1.5 s", Bar("at most", 1), ready, lambda: ALLOWED, repetitions=5)


def _python(folder: Path, code: str) -> Side:
    return _started(folder, sys.executable, "-c", code)


def _started(folder: Path, *command: str) -> Side:
    """A side that runs a program and returns its processor time, from start to end."""

    def measure() -> float:
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        return usage.ru_utime + usage.ru_stime

    return measure


def _served(folder: Path) -> float:
    """The processor time of `partita serve` until it prints its address."""
    data = ["--data", str(folder / "served"), "--port", "0", "--workers", "0"]
    command = [PROGRAM, "serve", "--all", *data]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            assert any(line.startswith("Partita serves at") for line in server.stdout)
            return _spent(server.pid)
        finally:
            server.terminate()
            server.stdout.read()


def _spent(process: int) -> float:
    """The processor time that a process has used so far."""
    figures = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(figures[11]) + int(figures[12])) / os.sysconf("SC_CLK_TCK")
