"""`kill -9` of every kind of process, under load: acknowledged writes are stored once, and the next start continues."""

from __future__ import annotations

import json
import random
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.cli.processes.servers import MAIN, Command
from tests.faults._load import Load, killed_under_load, money_of
from tests.faults._report import Fault, Tally

from bench import kill
from partita import EmbeddedStore, Session, insert
from partita.queue import GetStats
from partita.queue.embedded import EmbeddedQueue
from partita.store import CreateTable, GetItem, KeyAttribute, PutItem, TableSchema
from partita.store.remote import RemoteStore
from partita_services.todo.model import TABLE, Task

SERVED: Final = ("serve", "todo", "accounts", "events", "--rate-limit", "1000000/1000000")
THINGS: Final = TableSchema("things", KeyAttribute("id"))
DEADLINE: Final = 180.0


def partita(*words: str | Path, folder: Path) -> list[str]:
    """Return the arguments of a `partita` command."""
    return [*MAIN, *map(str, words), "--data", str(folder)]


def kill_writers(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Kill two processes with four threads each, which write items, transactions and sealed fields."""
    try:
        for each in kill.rounds(folder / "kill.db", rounds, rng.randrange(1_000_000)):
            tally.rounds += 1
            tally.acknowledged += each.acknowledged
    except kill.Lost as error:
        tally.lost += 1
        tally.broken.append(str(error))


def kill_serve(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Kill `partita serve` with three services, two processes and a worker."""
    load = Load(folder)
    money = _seeded(folder)
    for _ in range(rounds):
        with Command(folder, *SERVED, "--workers", "1") as command:
            killed_under_load(load, command, load.acknowledged + rng.randint(5, 60), rng)
        tally.rounds += 1
        tally.acknowledged = load.acknowledged
        load.check(tally, money)


def _seeded(folder: Path) -> int:
    subprocess.run(partita("seed", "--all", folder=folder), check=True, capture_output=True)
    with EmbeddedStore(folder / "partita.db") as store:
        return money_of(Session(store))


def kill_wire(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Kill `partita dynamodb` with two processes, while a remote store writes to it."""
    acknowledged: list[str] = []
    with EmbeddedStore(_database(folder)) as store:
        store.execute(CreateTable(THINGS))
    for _ in range(rounds):
        with Command(folder, "dynamodb") as command:
            _put_until_killed(command, acknowledged, len(acknowledged) + rng.randint(5, 80))
        tally.rounds += 1
        tally.acknowledged = len(acknowledged)
        with EmbeddedStore(_database(folder)) as store:
            store.verify()
            tally.lost = sum(store.execute(GetItem("things", {"id": each})).item is None for each in acknowledged)


def _put_until_killed(command: Command, acknowledged: list[str], limit: int) -> None:
    host, port = command.address
    enough = threading.Event()

    def put(thread: int) -> None:
        with RemoteStore(f"http://{host}:{port}") as store:
            for number in range(limit):
                name = f"{len(acknowledged)}/{thread}/{number}"
                try:
                    store.execute(PutItem("things", {"id": name}))
                except Exception:  # noqa: BLE001 - the server is gone
                    return
                acknowledged.append(name)
                if len(acknowledged) >= limit:
                    enough.set()

    threads = [threading.Thread(target=put, args=(thread,)) for thread in range(3)]
    for thread in threads:
        thread.start()
    enough.wait(60)
    command.close()
    for thread in threads:
        thread.join()


def kill_worker(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Kill `partita worker events` while a server accepts requests; at the end, every message has been processed."""
    load, money = Load(folder), _seeded(folder)
    with Command(folder, *SERVED, "--workers", "0") as command:
        for _ in range(rounds):
            worker = _started(partita("worker", "events", "--workers", "1", folder=folder))
            until = threading.Event()
            load.call(command.address, until, load.acknowledged + rng.randint(3, 30))
            worker.kill()
            worker.wait()
            tally.rounds += 1
        tally.acknowledged = load.acknowledged
        worker = _started(partita("worker", "events", "--workers", "1", folder=folder))
        with EmbeddedQueue(folder / "queue-events.db", "events") as queue:
            done = _soon(lambda: (stats := queue.execute(GetStats())).waiting + stats.in_flight == 0)
            tally.expect(done, "messages were left in the queue")
            tally.expect(queue.execute(GetStats()).dead == 0, "messages became dead letters")
        worker.terminate()
        worker.wait()
    load.check(tally, money)


def kill_cdc(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Kill `partita cdc run`; at the end, the lake has every change once."""
    lake, written = folder / "lake", 0
    follow = ("cdc", "run", "todo", "--lake", lake)
    with EmbeddedStore(_database(folder)) as store:
        db = Session(store)
        db.create_tables([TABLE])
        for _ in range(rounds):
            with subprocess.Popen(partita(*follow, folder=folder), stdout=subprocess.DEVNULL) as process:
                for _ in range(rng.randint(20, 60)):
                    db.run(insert(Task(user_id="ann", task_id=f"t{written}", title="x", created_at=1, updated_at=1)))
                    written += 1
                time.sleep(rng.random() * 3)
                process.kill()
            tally.rounds += 1
    tally.acknowledged = written
    subprocess.run(partita(*follow, "--once", folder=folder), check=True, capture_output=True)
    sql = "select count(*) as n, count(distinct task_id) as d from task"
    found = subprocess.run(
        [*MAIN, "lake", "query", sql, "--lake", str(lake), "--json"], check=True, capture_output=True, text=True
    )
    [row] = json.loads(found.stdout)
    tally.lost, tally.doubled = written - row["d"], row["n"] - row["d"]


def kill_copy(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Kill `partita copy`, which then resumes; at the end, both sides are equal."""
    source, target = folder / "source", folder / "target"
    for each in (source, target):
        each.mkdir()
    with EmbeddedStore(_database(source)) as store:
        store.execute(CreateTable(THINGS))
        for number in range(3_000):
            store.execute(PutItem("things", {"id": str(number), "text": "x" * 200}))
    tally.acknowledged = 3_000
    copy = [*MAIN, "copy", "things", "--from", str(source), "--to", str(target), "--yes"]
    for _ in range(rounds):
        with subprocess.Popen(copy, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(0.5 + rng.random() * 2)
            process.kill()
        tally.rounds += 1
    subprocess.run(copy, check=True, capture_output=True)
    compared = subprocess.run([*copy, "--verify"], check=False, capture_output=True)
    tally.expect(compared.returncode == 0, "source and target differ")


def _database(folder: Path) -> Path:
    return folder / "partita.db"


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _soon(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + DEADLINE
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


FAULTS: Final = (
    Fault("kill-writers", "kill -9 of processes that write to one file", 100, kill_writers),
    Fault("kill-serve", "kill -9 of a server with its processes and worker", 5, kill_serve),
    Fault("kill-wire", "kill -9 of the DynamoDB server", 5, kill_wire),
    Fault("kill-worker", "kill -9 of a worker", 5, kill_worker),
    Fault("kill-cdc", "kill -9 of change data capture", 5, kill_cdc),
    Fault("kill-copy", "kill -9 of a copy", 5, kill_copy),
)
