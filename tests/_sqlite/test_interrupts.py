"""Ctrl-C at every possible place of a write: nobody is left waiting, and callers learn the true outcome.

CPython checks for signals after a call into C, at the start of a function, and at a backward jump. A trace function
raises `KeyboardInterrupt` at each of these places in turn.
"""

from __future__ import annotations

import asyncio
import dis
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
from tests.store.embedded.support import TABLE, enqueue, note

from partita import _sqlite
from partita._sqlite import GroupCommit, PendingWrite, ProcessLock
from partita.errors import StoreUnavailable
from partita.store._requests import CreateTable, GetItem, WriteResponse
from partita.store.embedded import EmbeddedStore

TRACED: Final = str(Path(_sqlite.__file__).parent)
LOOKS: Final = ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD", "RESUME")
PATIENCE: Final = 60.0
"""Seconds after which a thread counts as waiting forever; no passing test reaches them."""


class CtrlC:
    """A trace function that interrupts the traced package at one of the places where CPython checks for signals."""

    def __init__(self, place: int) -> None:
        self.where: tuple[str, int] | None = None
        self._left = place
        self._before: dict[FrameType, int] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "call" and frame.f_code.co_filename.rpartition(os.sep)[0] != TRACED:
            return None  # do not trace the rest of that frame
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "call":
            self._before[frame] = frame.f_lasti
        elif event == "opcode" and self.where is None:
            before = self._before.get(frame)
            self._before[frame] = frame.f_lasti
            if before is not None and dis.opname[frame.f_code.co_code[before]] in LOOKS:
                self._look(frame)
        return self

    def _look(self, frame: FrameType) -> None:
        if self._left == 0:
            self.where = (frame.f_code.co_name, frame.f_lineno)
            self._before.clear()
            raise KeyboardInterrupt
        self._left -= 1


def run_traced(trace: CtrlC, work: Callable[[], object]) -> None:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        next(_apart(work))
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)


def _apart(work: Callable[[], object]) -> Iterator[None]:
    """Do the work in a generator, which has its own exception state.

    If a trace function raises inside `except`, CPython leaves the handled exception behind as the context of all
    later ones.
    """
    work()
    yield


def interrupted(work: Callable[[], object], prepare: Callable[[], None] = lambda: None) -> Iterator[tuple[str, int]]:
    """Do the work repeatedly, interrupted at one place after the other; yield each place."""
    for place in count():
        for thread in threading.enumerate():
            if thread.name == "partita-writer":  # would write instead of the interrupted thread
                thread.join()
        prepare()
        trace = CtrlC(place)
        run_traced(trace, work)
        if trace.where is None:
            return
        yield trace.where


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedStore]:
    monkeypatch.setattr("partita._sqlite._writer_thread.IDLE_SECONDS", 0.0)
    with EmbeddedStore(path if request.param == "file" else ":memory:", durable=False) as store:
        store.execute(CreateTable(TABLE))
        yield store


def works_for_others(store: EmbeddedStore, path: Path) -> bool:
    """Whether this thread can write with the lock held, another thread can write, and another process could."""
    with store._commit.exclusively():
        store.execute(note(0))
    other = threading.Thread(target=store.execute, args=(note(0),), daemon=True)
    other.start()
    other.join(PATIENCE)
    if other.is_alive():
        return False
    with store._commit.exclusively():  # keeps this process from writing
        lock = ProcessLock(path)
        free = lock.acquire(blocking=False)
        lock.close()
    return free


def is_notified(write: PendingWrite) -> bool:
    return write._until_notified.acquire(timeout=PATIENCE)


def test_an_interrupted_write_leaves_nobody_waiting(store: EmbeddedStore, path: Path) -> None:
    places = set()
    for place in interrupted(lambda: store.execute(note(1))):
        assert works_for_others(store, path), place
        places.add(place[0])
    assert {
        "run",
        "write_batch",
        "commit",
        "_commit_together",
        "notify_all",
        "notify",
        "try_acquire",
        "is_mine",
    } <= places


class Newcomers:
    """Queues writes as soon as the write lock is acquired."""

    def __init__(self, commit: GroupCommit) -> None:
        self.expect([])
        lock: Any = commit._lock
        self._acquire, lock._acquire = lock._acquire, self._acquire_and_come
        self._queue = commit._queue

    def expect(self, writes: list[PendingWrite]) -> None:
        self._coming = writes
        self.waiting: list[PendingWrite] = []

    def _acquire_and_come(self, *, blocking: bool = True) -> bool:
        acquired = bool(self._acquire(blocking))
        coming, self._coming = self._coming, []
        self.waiting += coming
        for write in coming:
            self._queue.append(write)
        return acquired


def test_who_waited_for_an_interrupted_write_learns_the_truth(store: EmbeddedStore, path: Path) -> None:
    newcomers = Newcomers(store._commit)
    numbers = count(2)

    def come() -> None:
        newcomers.expect([PendingWrite(note(next(numbers))) for _ in range(2)])

    places = 0
    for place in interrupted(lambda: store.execute(note(1)), come):
        for write in newcomers.waiting:
            places += 1
            assert is_notified(write), place
            with suppress(StoreUnavailable):
                write.result()
                assert store.execute(GetItem("notes", write.request.item)).item == write.request.item, place
    assert places > 100
    assert works_for_others(store, path)


def test_tasks_that_waited_for_an_interrupted_write_are_notified(store: EmbeddedStore) -> None:
    newcomers = Newcomers(store._commit)

    async def all_notified() -> None:
        loop = asyncio.get_running_loop()

        def come() -> None:
            newcomers.expect([PendingWrite(note(number), loop.create_future()) for number in (2, 3)])

        for _ in interrupted(lambda: store.execute(note(1)), come):
            futures = [write.future for write in newcomers.waiting if write.future is not None]
            for result in await asyncio.gather(*futures, return_exceptions=True):
                assert isinstance(result, WriteResponse | StoreUnavailable)

    asyncio.run(asyncio.wait_for(all_notified(), PATIENCE))


def test_who_is_interrupted_while_holding_the_lock_releases_it(store: EmbeddedStore, path: Path) -> None:
    def visit() -> None:
        with store._commit.exclusively():
            pass

    for place in interrupted(visit):
        assert works_for_others(store, path), place


@pytest.mark.parametrize("fails", [False, True], ids=["succeeds", "fails"])
def test_who_waited_for_an_interrupted_thread_is_notified(store: EmbeddedStore, *, fails: bool) -> None:
    newcomers = Newcomers(store._commit)

    def visit() -> None:
        with suppress(ZeroDivisionError), store._commit.exclusively():
            if fails:
                raise ZeroDivisionError

    for place in interrupted(visit, lambda: newcomers.expect([PendingWrite(note(1))])):
        assert all(is_notified(write) for write in newcomers.waiting), place


def test_closing_does_not_wait_for_who_was_interrupted(path: Path) -> None:
    place = 0
    while True:
        store = EmbeddedStore(path, durable=False)
        trace = CtrlC(place)
        run_traced(trace, store.sweep)
        closing = threading.Thread(target=store.close, daemon=True)
        closing.start()
        closing.join(PATIENCE)
        assert not closing.is_alive(), trace.where
        if trace.where is None:
            break
        place += 1


def test_a_writer_thread_whose_start_was_interrupted_is_started(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, starts = threading.Thread.start, []

    def interrupted_once(thread: threading.Thread) -> None:
        starts.append(thread)
        if len(starts) == 1:
            raise KeyboardInterrupt
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupted_once)
    (waiting,) = enqueue(store, note(1))
    with pytest.raises(KeyboardInterrupt):
        store._commit._wake_thread()
    assert is_notified(waiting)
    assert len(starts) == 2


def test_a_write_of_a_loop_that_is_interrupted_leaves_nobody_waiting(store: EmbeddedStore, path: Path) -> None:
    commit, places = store._commit, set[str]()
    commit._commit_time.timer = lambda: 0.0  # commits seem short, although they are traced

    async def all_notified() -> None:
        loop = asyncio.get_running_loop()
        writes: list[PendingWrite] = []

        def come() -> None:
            writes[:] = [PendingWrite(note(number), loop.create_future()) for number in (1, 2)]
            for write in writes:
                commit._queue.append(write)

        for place in interrupted(lambda: commit._write_from(loop, 2), come):
            places.add(place[0])
            if place[0] in ("_write_from", "__len__"):  # not begun: the next write commits them
                store.execute(note(0))
            futures = [write.future for write in writes if write.future is not None]
            for result in await asyncio.gather(*futures, return_exceptions=True):
                assert isinstance(result, WriteResponse | StoreUnavailable)

    asyncio.run(asyncio.wait_for(all_notified(), PATIENCE))
    assert {"_write_here", "reserve", "write_batch", "commit", "notify_all", "release"} <= places
    assert works_for_others(store, path)
