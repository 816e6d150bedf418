"""Commit notices: a waiting thread sleeps until the next commit, by any handle of any process."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.embedded.support import TABLE, count, note

from partita import EmbeddedStore
from partita._sqlite import CommitNotice, ProcessLock, _commit_notice
from partita._sqlite._commit_notice import LOOK_SECONDS, LookingWatch
from partita._sqlite._process_lock import lock_file
from partita.store import CreateTable

AGES = 60.0
"""Seconds that no wait of these tests reaches."""


def _refuse(_: Path) -> int:
    raise OSError(24, "Too many open files")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
def lock(database: Path) -> Iterator[ProcessLock]:
    with closing(ProcessLock(database)) as lock:
        yield lock


@pytest.fixture(params=["told", "looking"])
def notice(
    request: pytest.FixtureRequest, database: Path, lock: ProcessLock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[CommitNotice]:
    if request.param == "looking":
        monkeypatch.setattr(_commit_notice, "_inotify", _refuse)
    elif sys.platform != "linux":
        pytest.skip("only Linux tells")
    with closing(CommitNotice(database)) as notice:
        yield notice


def test_nothing_was_committed(notice: CommitNotice) -> None:
    assert not notice.wait(0)


def test_a_commit_before_the_wait_ends_it(notice: CommitNotice, lock: ProcessLock) -> None:
    lock.notify()
    assert notice.wait(AGES)
    assert not notice.wait(0)


def test_many_commits_end_one_wait(notice: CommitNotice, lock: ProcessLock) -> None:
    for _ in range(1_000):
        lock.notify()
    assert notice.wait(AGES)
    assert not notice.wait(0)


@pytest.mark.parametrize("by", ["commit", "wake"])
def test_one_that_comes_later_ends_it_too(by: str, notice: CommitNotice, database: Path) -> None:
    with closing(ProcessLock(database)) as other:
        ends: dict[str, Callable[[], None]] = {"commit": other.notify, "wake": notice.wake}
        timer = threading.Timer(0.01, ends[by])
        timer.start()
        assert notice.wait(AGES)
        timer.join()


def test_two_who_wait_are_both_told(notice: CommitNotice, database: Path, lock: ProcessLock) -> None:
    with closing(CommitNotice(database)) as other:
        lock.notify()
        assert notice.wait(AGES)
        assert other.wait(AGES)


def test_a_watch_may_be_closed_twice_and_is_not_the_childs(notice: CommitNotice) -> None:
    notice.leave_to_parent()
    notice.close()


@pytest.mark.skipif(sys.platform != "linux", reason="there is nothing to close elsewhere")
def test_nothing_stays_open(database: Path, lock: ProcessLock) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        CommitNotice(database).wait(0)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_looking_takes_a_few_looks_a_second(database: Path, lock: ProcessLock, monkeypatch: pytest.MonkeyPatch) -> None:
    now, looks = 0.0, 0

    class Watch(LookingWatch):
        def _read(self) -> bytes:
            nonlocal looks
            looks += 1
            return super()._read()

    watch = Watch(lock_file(database), clock=lambda: now)

    def passes(_: threading.Event, timeout: float | None = None) -> bool:
        nonlocal now
        now += timeout or 0.0
        return False

    monkeypatch.setattr(threading.Event, "wait", passes)
    assert not watch.wait(10)
    assert looks <= 10 / LOOK_SECONDS + 3
    lock.notify()
    assert watch.wait(10)


def test_a_store_tells_of_what_it_commits_and_of_nothing_else(database: Path) -> None:
    with EmbeddedStore(database, durable=False) as store:
        store.execute(CreateTable(TABLE))
        with closing(CommitNotice(database)) as notice:
            assert count(store) == 0
            assert not notice.wait(0)
            store.execute(note(1))
            assert notice.wait(AGES)
            assert not notice.wait(0)


def test_a_disk_that_is_full_does_no_harm(lock: ProcessLock, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    lock.notify()
