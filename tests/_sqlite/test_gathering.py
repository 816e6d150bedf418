"""Gathering: if the disk is slow, writers that return share the next commit, and nobody waits for those that do not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.store.embedded.support import count, note

from partita._sqlite._commit_time import CommitTime
from partita._sqlite._gathering import IN_VAIN, MAX_SKIPPED, MIN_COMMIT_SECONDS, MIN_SKIPPED, Gathering
from partita.store.embedded import EmbeddedStore


def slow(seconds: float = 2 * MIN_COMMIT_SECONDS) -> CommitTime:
    commit_time = CommitTime()
    for _ in range(32):
        commit_time.add(seconds)
    return commit_time


PATIENCE = 60.0
"""The timeout of a wait, in seconds; no passing test reaches it."""


def test_nobody_waits_where_the_disk_is_quick() -> None:
    assert not Gathering(slow(MIN_COMMIT_SECONDS / 2)).is_worthwhile()
    assert Gathering(slow(2 * MIN_COMMIT_SECONDS)).is_worthwhile()


def test_nobody_waits_where_commits_seem_long_because_other_threads_have_the_interpreter() -> None:
    commit_time = slow()
    commit_time.add(MIN_COMMIT_SECONDS / 2)
    for _ in range(31):
        commit_time.add(2 * MIN_COMMIT_SECONDS)
        assert not Gathering(commit_time).is_worthwhile()
    commit_time.add(2 * MIN_COMMIT_SECONDS)
    assert Gathering(commit_time).is_worthwhile()


def come(gathering: Gathering, queue: list[int]) -> Callable[[], None]:
    def write() -> None:
        queue.append(1)
        gathering.arrived(len(queue))

    return write


def test_the_wait_ends_when_all_are_back() -> None:
    gathering, queue = Gathering(slow(PATIENCE)), [0]
    other = threading.Thread(target=come(gathering, queue))

    class Watched(list[int]):
        """Starts the other write as soon as the wait begins."""

        def __len__(self) -> int:
            if gathering._wanted and other.ident is None:
                other.start()
            return len(queue)

    gathering.wait(Watched(), 1)
    other.join()
    assert (len(queue), gathering.is_worthwhile()) == (2, True)


def test_who_comes_once_more_does_not_end_the_next_wait() -> None:
    gathering, queue = Gathering(slow()), [0, 1]
    gathering._wanted = 2
    gathering.arrived(2)
    gathering.arrived(3)  # ending a wait twice is harmless
    gathering.wait(queue, 1)
    assert not gathering._until_complete.acquire(blocking=False)


def test_a_writer_alone_is_not_waited_for() -> None:
    gathering = Gathering(slow(PATIENCE))
    gathering.wait([], 1)
    assert gathering.is_worthwhile()


def waited(gathering: Gathering, seconds: float, *, missing: int = 0) -> None:
    """Run a wait for two writers that takes this long; at its end, `missing` of them have not returned."""
    begun_and_ended = iter((0.0, seconds))
    gathering._commit_time.timer = lambda: next(begun_and_ended)
    gathering.wait([0] * (2 - missing), missing)


def tried(gathering: Gathering) -> list[int]:
    """Return which of the next commits are preceded by a wait."""
    return [number for number in range(3 * (MAX_SKIPPED + 1)) if gathering.is_worthwhile()]


@pytest.mark.parametrize(
    ("commits", "missing"),
    [
        pytest.param(1.1, 0, id="they come back, and it takes longer than a commit"),
        pytest.param(0.1, 1, id="one does not come back"),
    ],
)
def test_where_waits_do_not_pay_one_is_tried_now_and_then(commits: float, missing: int) -> None:
    commit_time = slow()
    gathering = Gathering(commit_time)
    for _ in range(20):
        waited(gathering, commits * commit_time.seconds, missing=missing)
    assert tried(gathering) == [MAX_SKIPPED, 2 * MAX_SKIPPED + 1, 3 * MAX_SKIPPED + 2]


def test_the_more_tries_have_failed_the_later_is_the_next() -> None:
    commit_time = slow()
    gathering = Gathering(commit_time)
    while gathering._cost < 1:  # as at the end of a burst
        assert gathering.is_worthwhile()
        waited(gathering, commit_time.seconds, missing=1)
    skipped = []
    for _ in range(7):
        skipped.append(next(number for number in range(MAX_SKIPPED + 1) if gathering.is_worthwhile()))
        waited(gathering, commit_time.seconds, missing=1)
    assert skipped == [MIN_SKIPPED, 3, 7, 15, 31, MAX_SKIPPED, MAX_SKIPPED]


def test_waits_that_pay_again_are_made_again() -> None:
    commit_time = slow()
    gathering = Gathering(commit_time)
    for _ in range(50):
        waited(gathering, commit_time.seconds, missing=2)
    assert gathering._cost == pytest.approx(IN_VAIN, rel=0.01)
    assert len(tried(gathering)) == 3
    for _ in range(4):
        waited(gathering, 0.5 * commit_time.seconds)
        assert tried(gathering)[:2] == [MIN_SKIPPED, 2 * MIN_SKIPPED + 1]  # soon again, because the last try succeeded
    waited(gathering, 0.5 * commit_time.seconds)
    assert len(tried(gathering)) == 3 * (MAX_SKIPPED + 1)


def test_one_long_wait_among_short_ones_does_not_end_them() -> None:
    commit_time = slow()
    gathering = Gathering(commit_time)
    waited(gathering, 0.5 * commit_time.seconds)
    waited(gathering, 100 * commit_time.seconds)
    assert gathering.is_worthwhile()


@pytest.mark.parametrize("threads", [1, 8])
def test_threads_on_a_slow_disk_lose_no_write(store: EmbeddedStore, threads: int) -> None:
    store._commit._commit_time.timer = iter(range(10**6)).__next__  # a commit takes a second

    def write(first: int) -> None:
        for number in range(first, 64, threads):
            store.execute(note(number))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(write, range(threads)))
    assert count(store) == 64


class SlowUntilAllHaveBegun:
    """A disk so slow that each commit waits for all writers, until all writes have begun."""

    def __init__(self, writes: int) -> None:
        self._left = writes

    def begin(self) -> None:
        self._left -= 1

    def timer(self) -> float:
        """Return a constant, so that no wait seems long."""
        return 0.0

    @property
    def seconds(self) -> float:
        return PATIENCE if self._left > 0 else 0.0

    least = seconds


def test_threads_that_write_again_at_once_share_every_commit(store: EmbeddedStore) -> None:
    commit, threads, turns = store._commit, 3, 10
    disk: Any = SlowUntilAllHaveBegun(threads * turns)
    commit._gathering._commit_time = disk
    before, started = commit.commits, threading.Barrier(threads)

    def write(first: int) -> None:
        started.wait()
        for number in range(first, threads * turns, threads):
            disk.begin()
            store.execute(note(number))

    with ThreadPoolExecutor(threads) as pool:
        with commit.exclusively():
            writing = [pool.submit(write, first) for first in range(threads)]
            while len(commit._queue) < threads:
                pass  # they wait for the lock
        for each in writing:
            each.result(PATIENCE)
    assert (commit.commits - before, count(store)) == (turns, threads * turns)
