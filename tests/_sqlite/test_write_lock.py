"""The write lock: its owner, its waiting threads, and what a signal handler sees at the worst instant."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from partita._sqlite._write_lock import WriteLock


@pytest.fixture
def lock() -> WriteLock:
    return WriteLock()


def in_another_thread(question: Callable[[], bool]) -> bool:
    results: list[bool] = []
    thread = threading.Thread(target=lambda: results.append(question()))
    thread.start()
    thread.join()
    return results[0]


def test_a_lock_belongs_to_the_thread_that_acquired_it(lock: WriteLock) -> None:
    assert not lock.is_mine()
    lock.acquire()
    assert lock.is_mine()
    assert not in_another_thread(lock.is_mine)
    lock.release()
    assert not lock.is_mine()


def test_only_a_free_lock_can_be_acquired_without_waiting(lock: WriteLock) -> None:
    assert lock.try_acquire()
    assert not in_another_thread(lock.try_acquire)
    lock.release()
    assert in_another_thread(lock.try_acquire)


def test_only_its_owner_can_release_it(lock: WriteLock) -> None:
    def release() -> bool:
        with pytest.raises(RuntimeError):
            lock.release()
        return True

    assert release()
    lock.acquire()
    assert in_another_thread(release)
    assert lock.is_mine()


class HandledSignal:
    """Calls a function in a signal handler as soon as the main thread has acquired the lock."""

    def __init__(self, lock: Any, call: Callable[[], object]) -> None:
        self.results: list[object] = []
        self._call = call
        self._acquire, lock._acquire = lock._acquire, self._acquire_and_raise
        self._before = signal.signal(signal.SIGUSR1, self._handle)

    def _acquire_and_raise(self, *, blocking: bool = True) -> bool:
        acquired = bool(self._acquire(blocking))
        signal.raise_signal(signal.SIGUSR1)
        return acquired

    def _handle(self, *_: object) -> None:
        self.results.append(self._call())

    def close(self) -> None:
        signal.signal(signal.SIGUSR1, self._before)


@pytest.fixture
def handled(lock: WriteLock) -> Iterator[HandledSignal]:
    handled = HandledSignal(lock, lambda: (lock.is_mine(), lock.is_awaited_by_me()))
    yield handled
    handled.close()


def test_a_signal_handler_learns_that_its_thread_has_just_acquired_the_lock(
    lock: WriteLock, handled: HandledSignal
) -> None:
    lock.try_acquire()
    lock.release()
    lock.acquire()
    assert handled.results == [(True, False), (True, True)]
    assert (lock.is_mine(), lock.is_awaited_by_me()) == (True, False)


def test_a_thread_knows_that_it_waits(lock: WriteLock) -> None:
    held: Any = lock
    acquire, seen = held._acquire, list[bool]()

    def acquire_and_look() -> None:
        seen.append(lock.is_awaited_by_me())
        seen.append(in_another_thread(lock.is_awaited_by_me))
        acquire()

    held._acquire = acquire_and_look
    lock.acquire()
    assert seen == [True, False]


@pytest.mark.parametrize("where", ["_turnstile", "_acquire"])
def test_who_is_interrupted_while_waiting_does_not_wait_any_more(lock: WriteLock, where: str) -> None:
    held: Any = lock
    before = getattr(held, where)
    setattr(held, where, Interrupted())
    with pytest.raises(KeyboardInterrupt):
        lock.acquire()
    assert (lock.is_mine(), lock.is_awaited_by_me()) == (False, False)
    setattr(held, where, before)
    assert in_another_thread(lock.try_acquire)


class Interrupted:
    """A lock whose `acquire` is interrupted by Ctrl-C."""

    def acquire(self) -> None:
        raise KeyboardInterrupt

    def release(self) -> None:
        raise RuntimeError("it was not acquired")

    __call__ = acquire
