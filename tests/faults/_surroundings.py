"""Clocks that jump, stopped processes, odd environments, many processes on one folder, long readers, and backups."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, Final

from tests.cli.processes.servers import MAIN, Client, Command, authorization
from tests.faults._load import CREATED
from tests.faults._report import Fault, Tally

from partita import EmbeddedStore, Key, Registry, Session, Table
from partita.errors import LeaseHeld
from partita.queue import Acknowledge, Receive, Send
from partita.queue.embedded import EmbeddedQueue
from partita.recipes.leases import LeaseRecord, Leases
from partita.store import CreateTable, GetItem, KeyAttribute, PutItem, ScanTable, TableSchema
from partita.store.remote import RemoteStore
from partita.testing import FakeClock

THINGS: Final = TableSchema("things", KeyAttribute("id"))
DAY, YEAR = 86_400.0, 365 * 86_400.0
LEASED: Final = Table("leased", registry=Registry())
_HOLD: Final = """
import sys
from partita.queue import Acknowledge, Receive
from partita.queue.embedded import EmbeddedQueue
with EmbeddedQueue(sys.argv[1], "q") as queue:
    [message] = queue.execute(Receive(visibility=1.0))
    print("received", flush=True)
    sys.stdin.readline()
    print(len(queue.execute(Acknowledge((message.receipt,)))), flush=True)
"""


class Held(LeaseRecord, table=LEASED):
    """A lease that is acquired while the clock is wrong."""

    primary: ClassVar = Key("LEASE#{name}", "LEASE")


class BrieflyHeld(LeaseRecord, table=LEASED):
    """A lease like `Held`, for a minute at most."""

    primary: ClassVar = Key("BRIEF#{name}", "LEASE")


ALL_LEASES: Final[tuple[Leases[Any], ...]] = (Leases(Held), Leases(BrieflyHeld, longest=timedelta(minutes=1)))
"""Leases with the default maximum duration, and with a short one."""


def clock_steps(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Receive a message and acquire a lease while the clock is wrong: both are free once the clock is right."""
    for number in range(rounds):
        for step in (DAY, -DAY, YEAR, -YEAR):
            clock = FakeClock()
            with EmbeddedQueue(folder / f"queue-{number}{step}.db", "q", clock=clock, durable=False) as queue:
                queue.execute(Send("body", "group", "id"))
                clock.advance(step)
                queue.execute(Receive(visibility=30.0))
                clock.advance(-step)
                clock.advance(31)
                tally.expect(
                    queue.execute(Receive(visibility=30.0)),
                    f"a message is still hidden after a clock step of {step:.0f} s",
                )
            for leases in ALL_LEASES:
                tally.expect(_lease_is_free(leases, step), f"a lease is still held after a clock step of {step:.0f} s")
            tally.rounds += 1


def _lease_is_free(leases: Leases[Any], step: float) -> bool:
    clock, duration = FakeClock(), timedelta(seconds=30)
    with EmbeddedStore(":memory:", clock=clock) as store:
        db = Session(store, clock=clock)
        db.create_tables([LEASED])
        clock.advance(step)
        db.run(leases.acquire("work", owner="gone", duration=duration))
        clock.advance(-step)
        clock.advance(31)
        try:
            db.run(leases.acquire("work", owner="next", duration=duration))
        except LeaseHeld:
            return False
    return True


def stopped(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Stop a receiver for longer than its visibility timeout: another gets its message, and the first is too late."""
    path = folder / "queue-q.db"
    with EmbeddedQueue(path, "q") as queue:
        for number in range(rounds):
            queue.execute(Send("body", "group", str(number)))
            command = [sys.executable, "-c", _HOLD, str(path)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                process.stdout.readline()
                process.send_signal(signal.SIGSTOP)
                received = queue.execute(Receive(visibility=600.0, wait=20.0))
                process.send_signal(signal.SIGCONT)
                late, _ = process.communicate("\n")
            tally.rounds += 1
            tally.acknowledged += 1
            tally.expect(len(received) == 1, "no other receiver got the message of the stopped one")
            tally.expect(late.strip() == "1", "the stopped receiver acknowledged a message that another had received")
            queue.execute(Acknowledge(tuple(each.receipt for each in received)))


def environment(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Run commands without HOME, with unknown locales, and with closed or broken output: none prints a traceback."""
    plain = {name: value for name, value in os.environ.items() if name not in ("HOME", "LANG", "LC_ALL")}
    data = ["--data", str(folder / "data")]
    commands = (
        ("no HOME", plain, f"{_shell(*data)}"),
        ("LC_ALL=C", plain | {"LC_ALL": "C"}, f"{_shell(*data)}"),
        ("LANG=xx_YY", plain | {"LANG": "xx_YY", "PYTHONUTF8": "0"}, f"{_shell(*data)}"),
        ("closed output", plain, f"{_shell(*data)} 1>&-"),
        ("a broken pipe", plain, f"{_shell('--help', command='')} | head -1"),
    )
    subprocess.run([*MAIN, "seed", "todo", *data], check=True, capture_output=True)
    for _ in range(rounds):
        for name, variables, command in commands:
            done = subprocess.run(["sh", "-c", command], env=variables, capture_output=True, text=True, check=False)
            tally.expect("Traceback" not in done.stdout + done.stderr, f"{name}: {done.stderr.strip()[-200:]}")
            tally.rounds += 1


def _shell(*words: str, command: str = "check") -> str:
    program = 'from partita.cli import main; main(prog_name="partita")'
    return f"{sys.executable} -c '{program}' {command} {' '.join(words)}"


def together(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Let two servers, a DynamoDB server and their workers write to one folder concurrently: no write is refused."""
    with (
        Command(folder, "serve", "todo", "--workers", "1") as first,
        Command(folder, "serve", "todo", "--workers", "1") as second,
        Command(folder, "dynamodb") as wire,
    ):
        host, port = wire.address
        with RemoteStore(f"http://{host}:{port}") as store:
            store.execute(CreateTable(THINGS))
        made: list[str] = []
        threads = [
            threading.Thread(target=_add_tasks, args=(folder, each.address, rounds, f"{number}", made, tally))
            for number, each in enumerate((first, second))
        ]
        threads.append(threading.Thread(target=_put, args=(f"http://{host}:{port}", rounds, made)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    tally.rounds, tally.acknowledged = rounds, len(made)
    tally.expect(len(made) == 3 * rounds, "a write was refused")
    with EmbeddedStore(folder / "partita.db") as embedded:
        embedded.verify()


def _add_tasks(folder: Path, address: tuple[str, int], count: int, name: str, made: list[str], tally: Tally) -> None:
    with Client(address, authorization(folder)) as client:
        for number in range(count):
            status, body = client.send("POST", "/todo/api/tasks", {"title": f"{name} {number}"})
            if status in CREATED:
                made.append(f"{name} {number}")
            else:
                tally.broken.append(f"{status}: {body!r:.200}")


def _put(url: str, count: int, made: list[str]) -> None:
    with RemoteStore(url) as store:
        for number in range(count):
            store.execute(PutItem("things", {"id": str(number)}))
            made.append(str(number))


def long_reader(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Keep a snapshot open during writes: it does not see them, and the log shrinks after it is closed."""
    log = folder / "partita.db-wal"
    with EmbeddedStore(folder / "partita.db") as store:
        store.execute(CreateTable(THINGS))
        for number in range(rounds):
            with store.snapshot() as snapshot:
                before = snapshot.execute(ScanTable("things", count_only=True)).count
                for each in range(200):
                    store.execute(PutItem("things", {"id": f"{number}/{each}", "text": "x" * 10_000}))
                tally.expect(
                    snapshot.execute(ScanTable("things", count_only=True)).count == before,
                    "the snapshot saw later writes",
                )
                grown = log.stat().st_size
            store.sweep()
            tally.expect(log.stat().st_size < grown, "the log did not shrink")
            tally.rounds += 1
            tally.acknowledged += 200
        store.verify()


def backup_under_load(folder: Path, rounds: int, rng: random.Random, tally: Tally) -> None:
    """Back up during writes, and restore elsewhere: the copy has all writes acknowledged before the backup began."""
    data = folder / "data"
    data.mkdir()
    with EmbeddedStore(data / "partita.db") as store:
        store.execute(CreateTable(THINGS))
        names: list[str] = []
        over = threading.Event()

        def write() -> None:
            while not over.is_set():
                store.execute(PutItem("things", {"id": str(len(names)), "text": "x" * 1_000}))
                names.append(str(len(names)))

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for number in range(rounds):
                known = names[:]
                archive, elsewhere = folder / f"{number}.archive", folder / f"elsewhere-{number}"
                _run("backup", str(archive), data=data)
                _run("restore", str(archive), data=elsewhere)
                with EmbeddedStore(elsewhere / "partita.db") as restored:
                    restored.verify()
                    found = [each for each in known if restored.execute(GetItem("things", {"id": each})).item]
                tally.compare(known, found)
                tally.rounds += 1
        finally:
            over.set()
            thread.join()
        tally.acknowledged = len(names)


def _run(*words: str, data: Path) -> None:
    done = subprocess.run([*MAIN, *words, "--data", str(data)], check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"partita {' '.join(words)}: {done.stderr.strip()[-300:]}")


FAULTS: Final = (
    Fault("clock-steps", "an injected clock that jumps by a day and a year, in both directions", 2, clock_steps),
    Fault("stopped", "SIGSTOP of a receiver for longer than the visibility timeout of its message", 3, stopped),
    Fault("environment", "no HOME, odd locales, closed and broken output", 1, environment),
    Fault("together", "two servers, a DynamoDB server and workers on one folder", 100, together),
    Fault("long-reader", "a reader keeps its snapshot while the log grows", 3, long_reader),
    Fault("backup", "a backup under load, restored elsewhere", 3, backup_under_load),
)
