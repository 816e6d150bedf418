"""Disks that are full or read-only, are removed, or return other bytes than were written."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from tests.cli.processes.servers import MAIN, Client, Command, authorization
from tests.cli.waiting import soon
from tests.faults._report import Fault, Tally
from tests.store.embedded.flipping import copied, filled, flip, responses, without_the_last_commit, wrong

from partita import EmbeddedStore
from partita.errors import StoreFull, StoreReadOnly
from partita.store import CreateTable, GetItem, KeyAttribute, PutItem, TableSchema

CREATED, UNAVAILABLE = 201, 503
MAX_LINES: Final = 8
"""The maximum number of log lines about a missing folder: one for each app, worker and report of each process."""
THINGS: Final = TableSchema("things", KeyAttribute("id"))


@contextmanager
def _small_disk(folder: Path, tally: Tally, megabytes: int = 16) -> Iterator[Path | None]:
    """Mount a small disk. Yield None if this user may not mount one."""
    disk = folder / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if done.returncode:
        tally.skipped = "this user is not allowed to mount a disk"
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def full_disk(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Fill a disk: writes fail with `store_full`, acknowledged ones are not lost, and free space lets them succeed."""
    with _small_disk(folder, tally) as disk:
        for number in range(rounds if disk else 0):
            _fill(disk / f"round-{number}", rng, tally)  # type: ignore[operator]  # there are no rounds without it
            shutil.rmtree(disk / f"round-{number}")  # type: ignore[operator]


def _fill(folder: Path, rng: random.Random, tally: Tally) -> None:
    folder.mkdir()
    ballast, names = folder / "ballast", []
    ballast.write_bytes(bytes(rng.randint(6, 10) * 1_000_000))
    with EmbeddedStore(folder / "partita.db") as store:
        store.execute(CreateTable(THINGS))
        try:
            for number in range(100_000):
                store.execute(PutItem("things", {"id": str(number), "text": "x" * rng.randint(1_000, 100_000)}))
                names.append(str(number))
        except StoreFull:
            tally.rounds += 1
        else:
            tally.broken.append("the disk was never full")
        ballast.unlink()
        store.execute(PutItem("things", {"id": "after"}))
        names.append("after")
    with EmbeddedStore(folder / "partita.db") as store:
        store.verify()
        tally.acknowledged += len(names)
        tally.lost += sum(store.execute(GetItem("things", {"id": each})).item is None for each in names)


def read_only(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Open a store on a read-only disk: it is refused with `store_read_only`, but `partita check` still works."""
    with _small_disk(folder, tally) as disk:
        if disk is None:
            return
        with EmbeddedStore(disk / "partita.db") as store:
            store.execute(CreateTable(THINGS))
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for _ in range(rounds):
            try:
                EmbeddedStore(disk / "partita.db").close()
            except StoreReadOnly:
                tally.rounds += 1
            else:
                tally.broken.append("a store on a read-only disk was opened")
            check = subprocess.run([*MAIN, "check", "--data", str(disk)], check=False, capture_output=True, text=True)
            tally.expect(check.returncode == 0, f"partita check: {check.stderr.strip()[-200:]}")


def vanished(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Remove the data folder of a running server: all requests fail with `store_moved`, and the log says why.

    A process that is killed afterwards is replaced, and does not create the folder again.
    """
    for number in range(rounds):
        data = folder / f"data-{number}"
        with Command(data, "serve", "todo", "events", "--workers", "1") as command:
            said: list[str] = []
            threading.Thread(target=_hear, args=(command, said), daemon=True).start()
            _take_away(data, command, tally)
            served = command.pids()
            os.kill(served.pop(), signal.SIGKILL)
            soon(partial(_has_said, said, "is replaced"))
            tally.expect(not data.exists(), "another folder was created in its place")
            tally.expect(not _has_said(said, "Traceback"), "the log has a traceback")
            moved = sum("was moved or deleted while it was open" in line for line in said)
            tally.expect(0 < moved <= MAX_LINES, f"the log reports {moved} times that the folder is gone")
        tally.rounds += 1


def _take_away(data: Path, command: Command, tally: Tally) -> None:
    with Client(command.address, authorization(data)) as client:
        status, _ = client.send("POST", "/todo/api/tasks", {"title": "before"})
        tally.expect(status == CREATED, "the write before the removal was not acknowledged")
        while data.exists():  # the server may create a file at the same time
            shutil.rmtree(data, ignore_errors=True)
        for _ in range(100):
            for method, path, body in (("POST", "/todo/api/tasks", {"title": "after"}), ("GET", "/healthz", None)):
                status, response = client.send(method, path, body)
                tally.expect(
                    (status, json.loads(response)["code"]) == (UNAVAILABLE, "store_moved"),
                    f"{method} {path}: {status} {response!r:.100} after the folder was gone",
                )


def _has_said(said: list[str], text: str) -> bool:
    return any(text in line for line in said)


def _hear(command: Command, said: list[str]) -> None:
    assert command.process.stdout is not None
    said.extend(iter(command.process.stdout.readline, ""))


def flipped_file(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Flip one bit of the file: every read is correct, or fails with `store_damaged`."""
    right = responses(copied(filled(folder), folder, "live.db"))
    for _ in range(rounds):
        path = copied(folder, folder, "live.db")
        flip(path, rng)
        _judge(responses(path), [right], tally)


def flipped_log(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Flip one bit of the log: every read is correct or fails, or the last commit is missing, as if incomplete."""
    right = responses(copied(filled(folder), folder, "killed.db"))
    shorter = without_the_last_commit(folder, folder)
    for _ in range(rounds):
        path = copied(folder, folder, "killed.db")
        flip(path.with_name("store.db-wal"), rng)
        _judge(responses(path), [right, shorter], tally)


def truncated_file(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Truncate the file: every read is correct, or fails with `store_damaged`."""
    right = responses(copied(filled(folder), folder, "live.db"))
    for _ in range(rounds):
        path = copied(folder, folder, "live.db")
        os.truncate(path, rng.randrange(1, path.stat().st_size))
        _judge(responses(path), [right], tally)


def truncated_log(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Truncate the log, as a crash does: the store opens, and passes its verification."""
    right = responses(copied(filled(folder), folder, "killed.db"))
    for _ in range(rounds):
        path = copied(folder, folder, "killed.db")
        log = path.with_name("store.db-wal")
        os.truncate(log, rng.randrange(log.stat().st_size))
        with EmbeddedStore(path) as store:
            store.verify()
        tally.rounds += 1
        tally.acknowledged += len(right)


def _judge(found: list[object], rights: list[list[object]], tally: Tally) -> None:
    tally.rounds += 1
    tally.acknowledged += len(rights[0])
    if all(wrong(found, right) for right in rights):
        tally.broken.append(f"a read was wrong: {wrong(found, rights[0])[0]!r:.200}")


FAULTS: Final = (
    Fault("full-disk", "a disk that is full, and then has space again", 3, full_disk),
    Fault("read-only", "a disk that cannot be written", 2, read_only),
    Fault("vanished", "the data folder of a running server is removed", 2, vanished),
    Fault("flipped-file", "one bit of the file is flipped", 30, flipped_file),
    Fault("flipped-log", "one bit of the log is flipped", 30, flipped_log),
    Fault("truncated-file", "the file is truncated", 30, truncated_file),
    Fault("truncated-log", "the log is truncated", 30, truncated_log),
)
