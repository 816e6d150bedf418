"""Writes of tasks: their event loop commits them if that is quick, and the writer thread if it is not."""

from __future__ import annotations

import asyncio
import fcntl
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.store.embedded.support import TABLE, note

from partita._sqlite import ProcessLock, _process_lock
from partita._sqlite._commit_time import CommitTime
from partita._sqlite._database_file import CHECKPOINT_PAGES
from partita._sqlite._loop_commit import MAX_WAIT_SECONDS, MAX_WRITES, LoopCommits
from partita.store._requests import CreateTable
from partita.store.embedded import EmbeddedStore


class Log:
    """A connection that only reports the length of its log."""

    def __init__(self, pages: int = 0, in_file: int = 0) -> None:
        self._pages = pages, in_file

    def wal_checkpoint(self, **_: int) -> tuple[int, int]:
        return self._pages


def is_short(commit_time: CommitTime, log: Any = Log()) -> bool:  # noqa: B008 - never changed
    return LoopCommits((), commit_time).is_short(log)


def test_a_disk_that_is_slow_for_some_time_is_waited_for_by_the_thread() -> None:
    commits = CommitTime()
    assert is_short(commits)
    for _ in range(2):  # two measurements are not enough
        commits.add(1_000 * MAX_WAIT_SECONDS)
        assert is_short(commits)
    commits.add(1_000 * MAX_WAIT_SECONDS)
    assert not is_short(commits)
    for _ in range(3):
        commits.add(MAX_WAIT_SECONDS / 2)
    assert is_short(commits)


def test_a_disk_is_not_slow_because_other_threads_have_the_interpreter() -> None:
    commits = CommitTime()
    for number in range(50):
        commits.add(MAX_WAIT_SECONDS / 2 if number % 3 == 0 else 10 * MAX_WAIT_SECONDS)
    assert is_short(commits)


def test_a_disk_that_always_takes_a_little_longer_is_waited_for_by_the_thread() -> None:
    commits = CommitTime()
    for _ in range(50):
        commits.add(1.1 * MAX_WAIT_SECONDS)
    assert not is_short(commits)


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (Log(-1, -1), True),  # in memory
        (Log(CHECKPOINT_PAGES // 2), True),
        (Log(CHECKPOINT_PAGES - 1), False),
        (Log(CHECKPOINT_PAGES + 1, CHECKPOINT_PAGES), False),
        (Log(CHECKPOINT_PAGES, CHECKPOINT_PAGES), True),  # the next commit restarts the log
    ],
)
def test_a_loop_never_brings_the_log_into_the_file(log: Log, expected: object) -> None:
    assert is_short(CommitTime(), log) is expected


class Threads:
    """A clock that records which threads ask for the time: those that write."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self) -> float:
        self.names.append(threading.current_thread().name)
        return 1.0


@pytest.fixture
def threads() -> Threads:
    return Threads()


@pytest.fixture
def written(path: Path, threads: Threads) -> EmbeddedStore:
    store = EmbeddedStore(path, clock=threads, durable=False)
    store.execute(CreateTable(TABLE))
    store._commit._commit_time.timer = lambda: 0.0
    threads.names.clear()
    return store


HERE = "MainThread"
THERE = "partita-writer"


def write(store: EmbeddedStore, count: int = 1) -> None:
    async def write_all() -> None:
        await asyncio.gather(*(store.execute_async(note(number)) for number in range(count)))

    asyncio.run(write_all())
    store.close()


def test_a_loop_commits_few_writes_by_itself(written: EmbeddedStore, threads: Threads) -> None:
    write(written, MAX_WRITES)
    assert (set(threads.names), written._commit.commits) == ({HERE}, 2)


def test_the_thread_commits_many_writes(written: EmbeddedStore, threads: Threads) -> None:
    write(written, MAX_WRITES + 1)
    assert set(threads.names) == {THERE}


def test_the_thread_commits_where_the_disk_is_slow(written: EmbeddedStore, threads: Threads) -> None:
    for _ in range(8):
        written._commit._commit_time.add(10 * MAX_WAIT_SECONDS)
    write(written)
    assert threads.names == [THERE]


def test_the_thread_commits_what_may_take_long(written: EmbeddedStore, threads: Threads) -> None:
    async def write_both() -> None:
        table = written.execute_async(CreateTable(replace(TABLE, name="others")))
        await asyncio.gather(written.execute_async(note(1)), table)

    asyncio.run(write_both())
    written.close()
    assert threads.names == [HERE, THERE]


def test_a_loop_waits_for_no_other_process(written: EmbeddedStore, threads: Threads, path: Path) -> None:
    async def write_meanwhile() -> None:
        other = ProcessLock(path)
        other.acquire()
        writing = asyncio.ensure_future(written.execute_async(note(1)))
        for _ in range(3):
            await asyncio.sleep(0)
        assert not writing.done()
        other.release()
        other.close()
        await writing

    asyncio.run(write_meanwhile())
    written.close()
    assert threads.names == [THERE]


def test_a_loop_commits_with_the_lock_that_it_has_while_another_process_waits_for_it(
    written: EmbeddedStore, threads: Threads, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ProcessLock(path)
    transactions = written._commit._transactions
    reserve = transactions.reserve

    def reserve_and_be_awaited() -> bool:
        assert reserve()
        fcntl.flock(other._turnstile, fcntl.LOCK_EX)
        return True

    monkeypatch.setattr(transactions, "reserve", reserve_and_be_awaited)
    monkeypatch.setattr(_process_lock, "PATIENCE_SECONDS", 0.0)  # any wait for the lock would fail
    write(written)
    other.close()
    assert threads.names == [HERE]
