"""Copies of tables: compared with a script that uses boto3, and a copy of a million items with kills on both sides.

`python -m bench.copy` fills a file, serves another, and copies the first into the second while another process writes
to the first. The copying process and the server are killed at random. At the end both sides are compared item by item.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any, Final

import boto3
import click

from bench._compare import Bar, Comparison, Side, compare
from bench._servers import partita, started
from partita import EmbeddedStore
from partita.store import (
    BatchWriteItem,
    CreateTable,
    DeleteItem,
    GetItem,
    KeyAttribute,
    PutItem,
    TableNames,
    TableSchema,
)
from partita.store.remote import Credentials, RemoteStore
from partita.transfer import CHECKPOINTS, StoreCopy, TableCopy
from partita.transfer import Side as CopySide

ITEMS: Final = 10_000
PARTITIONS: Final = 5_000
MAX_MEGABYTES: Final = 300
TABLE: Final = TableSchema("tasks", KeyAttribute("pk"), KeyAttribute("sk"), stream="NEW_AND_OLD_IMAGES")
_CLI: Final = 'from partita.cli import main; main(prog_name="partita")'
_WRITERS: Final = "from bench.copy import keep_writing; import sys; keep_writing(sys.argv[1], int(sys.argv[2]))"
_KEYS: Final = {"region_name": "us-east-1", "aws_access_key_id": "bench", "aws_secret_access_key": "bench"}


def item_of(number: int, n: int = 0) -> dict[str, Any]:
    """An item of about 450 bytes."""
    return {
        "pk": f"USER#{number % PARTITIONS:05}",
        "sk": f"TASK#{number:08}",
        "title": "A task with a title of the usual length",
        "status": "pending",
        "priority": 3,
        "done": False,
        "created": 1_767_268_800 + number,
        "cost": Decimal("12.50"),
        "notes": "x" * 200,
        "tags": {"home", "work"},
        "owner": {"name": "Ada", "email": "ada@example.org"},
        "n": n,
    }


def fill(path: Path, items: int) -> None:
    """Write the items into a file."""
    with EmbeddedStore(path, durable=False) as store:
        store.execute(CreateTable(TABLE))
        for first in range(0, items, 25):
            numbers = range(first, min(first + 25, items))
            store.execute(BatchWriteItem(tuple(PutItem(TABLE.name, item_of(number)) for number in numbers)))


# --- compared with boto3 ---


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    yield beside_boto3(folder, ITEMS, repetitions=3)


def beside_boto3(folder: Path, items: int, *, repetitions: int) -> Comparison:
    """A copy from a file to a server on another file, compared with a scan and a batch writer of boto3."""
    source, target = folder / "copy-source", folder / "copy-target"
    (source / "wire").mkdir(parents=True)
    target.mkdir()
    fill(source / "wire" / "partita.db", items)
    with (
        started(partita(source), folder) as from_port,
        started(partita(target), folder) as to_port,
        EmbeddedStore(source / "wire" / "partita.db") as store,
        RemoteStore(f"http://127.0.0.1:{to_port}", credentials=Credentials("bench", "bench")) as remote,
    ):
        runs = count()
        ours = _ours(store, remote, items, runs)
        theirs = _theirs(from_port, to_port, remote, items, runs)
        name = f"copy of {items:,} items, to boto3's scan"
        return compare(name, Bar("at least", 3), ours, theirs, repetitions=repetitions)


def _ours(store: EmbeddedStore, remote: RemoteStore, items: int, runs: Iterator[int]) -> Side:
    def measure() -> float:
        run = f"ours-{next(runs)}-"
        source, target = CopySide(store), CopySide(remote, TableNames(prefix=run))
        start = time.perf_counter()
        with StoreCopy(source, [TableCopy(source, target, TABLE.name, owner=run)]) as copy:
            copy.prepare()
            copy.load()
        return (time.perf_counter() - start) / items

    return measure


def _theirs(from_port: int, to_port: int, remote: RemoteStore, items: int, runs: Iterator[int]) -> Side:
    resource: Any = boto3.resource("dynamodb", endpoint_url=f"http://127.0.0.1:{from_port}", **_KEYS)
    source = resource.Table(TABLE.name)
    target: Any = boto3.resource("dynamodb", endpoint_url=f"http://127.0.0.1:{to_port}", **_KEYS)

    def measure() -> float:
        name = f"theirs-{next(runs)}"
        start = time.perf_counter()
        remote.execute(CreateTable(TableSchema(name, TABLE.hash, TABLE.range, stream=TABLE.stream)))
        with target.Table(name).batch_writer() as batch:
            more: dict[str, Any] = {}
            while True:
                page = source.scan(**more)
                for item in page["Items"]:
                    batch.put_item(Item=item)
                if "LastEvaluatedKey" not in page:
                    return (time.perf_counter() - start) / items
                more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    return measure


# --- following ---


def follow_rate(folder: Path, changes: int) -> float:
    """The changes per second that a copy of 2,000 items applies while it follows, to a server on another file."""
    path = folder / "follow-source.db"
    (folder / "follow-target").mkdir()
    fill(path, 2_000)
    with (
        started(partita(folder / "follow-target"), folder) as port,
        EmbeddedStore(path, durable=False) as store,
        RemoteStore(f"http://127.0.0.1:{port}", credentials=Credentials("bench", "bench")) as remote,
        StoreCopy(CopySide(store), [TableCopy(CopySide(store), CopySide(remote), TABLE.name, owner="bench")]) as copy,
    ):
        copy.prepare()
        copy.load()
        rng = random.Random(1)
        for n in range(changes):
            store.execute(PutItem(TABLE.name, item_of(rng.randrange(2_000), n + 1)))
        stop = threading.Event()
        start = time.perf_counter()
        copy.follow(stop, stop.set)
        return changes / (time.perf_counter() - start)


# --- with kills ---


def keep_writing(path: str, items: int) -> None:
    """Write to the source a hundred times per second, until standard input ends; runs in its own process."""
    rng = random.Random(1)
    os.set_blocking(0, False)
    with EmbeddedStore(path) as store:
        for n in count(1):
            number = rng.randrange(items + items // 10)
            if rng.random() < 0.1:
                key = {"pk": f"USER#{number % PARTITIONS:05}", "sk": f"TASK#{number:08}"}
                store.execute(DeleteItem(TABLE.name, key))
            else:
                store.execute(PutItem(TABLE.name, item_of(number, n)))
            time.sleep(0.01)
            if sys.stdin.buffer.read(1) == b"":
                print(n)
                return


class Killed:
    """A copy and the server that it writes to, both of which are killed and restarted."""

    def __init__(self, folder: Path, items: int) -> None:
        self.source = folder / "source.db"
        self.items = items
        self._folder = folder
        self._log = (folder / "copy.log").open("wb")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.peak = 0
        self._server = self._serve()
        self._copy: subprocess.Popen[bytes] | None = None

    def _serve(self) -> subprocess.Popen[bytes]:
        command = [*partita(self._folder), str(self.port)]
        server = subprocess.Popen(command, stdout=self._log, stderr=self._log)
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return server
            if server.poll() is not None:
                raise RuntimeError("The server ended without being killed.")
            time.sleep(0.05)

    def copy(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a copy."""
        ends = ["--from", str(self.source), "--to", self.url]
        command = [sys.executable, "-c", _CLI, "copy", *ends, *options]
        self._copy = subprocess.Popen(command, stdout=self._log, stderr=self._log)
        return self._copy

    def kill_server(self) -> None:
        """Kill and restart the server."""
        self._server.kill()
        self._server.wait()
        self._server = self._serve()

    def kill_copy(self) -> None:
        """Kill and restart the copy."""
        assert self._copy is not None
        self._copy.kill()
        self.ended()
        self.copy("--yes", "--follow")

    def ended(self) -> int:
        """Wait for the copy to end, and update the peak memory."""
        assert self._copy is not None
        _, status, usage = os.wait4(self._copy.pid, 0)
        self._copy.returncode = os.waitstatus_to_exitcode(status)
        self.peak = max(self.peak, usage.ru_maxrss // 1024)
        return self._copy.returncode

    def state(self) -> tuple[str, int]:
        """The phase of the copy, and the number of items of the scan that are copied."""
        assert self._copy is not None
        if self._copy.poll() is not None:
            raise RuntimeError(f"The copy ended without being killed; see {self._log.name}.")
        with RemoteStore(self.url, credentials=Credentials("bench", "bench")) as remote:
            try:
                item = remote.execute(GetItem(CHECKPOINTS.name, {"copy": TABLE.name})).item
            except Exception:  # noqa: BLE001 - the table is not created yet, or the server was just killed
                return "", 0
        state: dict[str, Any] = json.loads(item["state"]) if item else {"phase": "", "copied": 0}
        return state["phase"], state["copied"]

    def close(self) -> None:
        """End the server."""
        self._server.terminate()
        self._server.wait()
        self._log.close()


@contextmanager
def writing(path: Path, items: int) -> Iterator[None]:
    """Have another process write to the source while the block runs."""
    command = [sys.executable, "-c", _WRITERS, str(path), str(items)]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        yield
    finally:
        assert writer.stdin is not None
        writer.stdin.close()
        writer.wait()


def kill_often(killed: Killed, kills: int, rng: random.Random) -> float:
    """Copy with kills, most during the scan and some after it, and return the seconds that the scan took."""
    later = kills // 5
    places = sorted(rng.randrange(killed.items) for _ in range(kills - later))
    start = time.perf_counter()
    killed.copy("--yes", "--follow")
    for number, place in enumerate(places):
        while (state := killed.state())[1] < place and state[0] in ("", "scan"):
            time.sleep(0.1)
        side = rng.choice((killed.kill_copy, killed.kill_server))
        side()
        print(f"kill {number + 1} ({side.__name__}) at {state[1]:,} items of {killed.items:,}, {state[0]}", flush=True)
    while killed.state()[0] != "changes":
        time.sleep(0.1)
    seconds = time.perf_counter() - start
    for number in range(later):
        time.sleep(rng.uniform(1, 4))
        side = rng.choice((killed.kill_copy, killed.kill_server))
        side()
        print(f"kill {kills - later + number + 1} ({side.__name__}) after the scan", flush=True)
    return seconds


@click.command()
@click.option("--items", default=1_000_000, show_default=True, help="Number of items to copy.")
@click.option("--kills", default=20, show_default=True, help="Number of kills, of either side.")
@click.option("--beside", default=50_000, show_default=True, help="Number of items to compare with boto3; 0 skips it.")
@click.option("--seed", type=int, help="Repeat the random choices of an earlier run.")
def main(items: int, kills: int, beside: int, seed: int | None) -> None:
    """Copy items while another process writes and processes are killed, and compare both sides at the end."""
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="partita-copy-") as name:
        passed = killed_and_equal(Path(name), items, kills, random.Random(seed))
    if beside:
        with tempfile.TemporaryDirectory(prefix="partita-copy-") as name:
            result = beside_boto3(Path(name), beside, repetitions=1)
        print(f"{result.name}: {1 / result.ours:,.0f} items/s to {1 / result.theirs:,.0f} items/s, {result.ratio:.1f}x")
        passed = passed and result.passed
    with tempfile.TemporaryDirectory(prefix="partita-copy-") as name:
        print(f"every change of 2,000 items followed, in order: {follow_rate(Path(name), 10_000):,.0f} changes/s")
    sys.exit(0 if passed else 1)


def killed_and_equal(folder: Path, items: int, kills: int, rng: random.Random) -> bool:
    """Whether both sides are equal after all kills, and the copy stayed within its memory limit."""
    start = time.perf_counter()
    fill(folder / "source.db", items)
    print(f"filled with {items:,} items in {time.perf_counter() - start:.0f} s", flush=True)
    killed = Killed(folder, items)
    try:
        with writing(killed.source, items):
            seconds = kill_often(killed, kills, rng)
        killed._copy.send_signal(signal.SIGTERM)  # type: ignore[union-attr]  # noqa: SLF001 - it runs
        killed.ended()
        killed.copy("--yes")
        last = killed.ended()
        killed.copy("--verify", "--yes")
        different = killed.ended()
    finally:
        killed.close()
    print((folder / "copy.log").read_text()[-400:])
    rate = f"{items / seconds:,.0f} items/s with {kills} kills"
    print(f"{items:,} items copied, {rate}, at most {killed.peak} MB; {'equal' if not different else 'DIFFERENT'}")
    return not last and not different and killed.peak < MAX_MEGABYTES


if __name__ == "__main__":
    main()
