"""Many concurrent threads and processes: no errors except the conflicts that the model declares, and no lost writes."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench._workload import TABLE, Account, Tally, account, tally

from partita import EmbeddedStore, Procedure, Session, f, insert, update
from partita.errors import VersionConflict

ROOT = Path(__file__).parent.parent.parent
THREADS = 16


def test_four_processes_of_many_threads_meet_nothing_but_declared_conflicts() -> None:
    options = ["--operations", "50", "--processes", "4", "--threads", "4", "--seed", "1"]
    command = [sys.executable, "-m", "bench.soak", *options]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1] == "no errors; nothing acknowledged was lost"


def deposit(number: int, amount: int) -> Procedure[Account]:
    """Increase a balance, guarded by the version that was read; retry after each version conflict."""
    while True:
        found = yield from account(number)
        assert found is not None
        try:
            return (yield from update(found, f(Account.balance).set(found.balance + amount)))
        except VersionConflict:
            continue


def test_guarded_changes_of_one_item_lose_nothing(tmp_path: Path) -> None:
    changes = [range(1, 26)] * THREADS

    def make(amounts: range) -> None:
        for amount in amounts:
            db.run(deposit(1, amount))

    with EmbeddedStore(tmp_path / "accounts.db") as store, ThreadPoolExecutor(THREADS) as pool:
        db = Session(store)
        db.create_tables([TABLE])
        db.run(insert(Account(number=1, balance=0)))
        list(pool.map(make, changes))
        stored = db.run(account(1))
    expected = Account(number=1, balance=sum(map(sum, changes)), version=1 + sum(map(len, changes)))
    assert expected == stored


def test_added_numbers_lose_nothing(tmp_path: Path) -> None:
    def add(_: int) -> None:
        for _ in range(50):
            db.run(update(tally("visits"), f(Tally.value).add(1)))

    with EmbeddedStore(tmp_path / "tallies.db") as store, ThreadPoolExecutor(THREADS) as pool:
        db = Session(store)
        db.create_tables([TABLE])
        db.run(insert(Tally(name="visits")))
        list(pool.map(add, range(THREADS)))
        stored = db.run(tally("visits"))
    assert Tally(name="visits", value=50 * THREADS) == stored
