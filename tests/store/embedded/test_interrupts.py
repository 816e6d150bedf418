"""Ctrl-C wherever it may come in a write: nobody is left waiting, and what was told is true.

CPython looks for signals after a call into C, at the start of a function, and where a loop goes back. A trace function
raises `KeyboardInterrupt` at each of these places in turn.
"""

from __future__ import annotations

import asyncio
import dis
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
from tests.store.embedded.support import TABLE, note

from partita.errors import StoreUnavailable
from partita.store._requests import CreateTable, GetItem, WriteResponse
from partita.store.embedded import EmbeddedStore, _commit, _lock
from partita.store.embedded._commit import GroupCommit, Ticket
from partita.store.embedded._lock import ProcessLock

TRACED: Final = (_commit.__file__, _lock.__file__)
LOOKS: Final = ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD", "RESUME")
PATIENCE: Final = 60.0
"""Seconds after which a thread that waits is taken to wait forever; nothing else depends on it."""


class CtrlC:
    """A trace function that interrupts the traced modules at one of the places where CPython looks for signals."""

    def __init__(self, place: int) -> None:
        self.where: tuple[str, int] | None = None
        self._left = place
        self._before: dict[FrameType, int] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename not in TRACED:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode" and self.where is None:
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


@contextmanager
def tracing(trace: CtrlC) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)


def interrupted(work: Callable[[], object], prepare: Callable[[], None] = lambda: None) -> Iterator[tuple[str, int]]:
    """Do the work again and again, interrupted at one place after the other; gives each place."""
    for place in count():
        for thread in threading.enumerate():
            if thread.name == "partita-scribe":  # would write in place of whoever is to be interrupted
                thread.join()
        prepare()
        trace = CtrlC(place)
        with tracing(trace):
            work()
        if trace.where is None:
            return
        yield trace.where


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedStore]:
    monkeypatch.setattr("partita.store.embedded._commit._PATIENCE", 0.0)
    with EmbeddedStore(path if request.param == "file" else ":memory:", durable=False) as store:
        store.execute(CreateTable(TABLE))
        yield store


def works_for_others(store: EmbeddedStore, path: Path) -> bool:
    """Whether another thread can write, and another process could."""
    other = threading.Thread(target=store.execute, args=(note(0),), daemon=True)
    other.start()
    other.join(PATIENCE)
    if other.is_alive():
        return False
    with store._commit.exclusively():  # this process is not writing now
        lock = ProcessLock(path)
        free = lock.acquire(blocking=False)
        lock.close()
    return free


def is_told(ticket: Ticket) -> bool:
    return ticket._untold.acquire(timeout=PATIENCE)


def test_an_interrupted_write_leaves_nobody_waiting(store: EmbeddedStore, path: Path) -> None:
    places = set()
    for place in interrupted(lambda: store.execute(note(1))):
        assert works_for_others(store, path), place
        places.add(place[0])
    assert {"run", "_write_batch", "_commit", "_transact", "_tell", "tell"} <= places


class WantedPen:
    """A pen for which others come to wait as soon as it is taken."""

    def __init__(self, commit: GroupCommit) -> None:
        self.expect([])
        self.release = commit._pen.release
        self._acquire = commit._pen.acquire
        self._queue = commit._queue

    def expect(self, tickets: list[Ticket]) -> None:
        self._coming = tickets
        self.waiting: list[Ticket] = []

    def acquire(self, *, blocking: bool = True) -> bool:
        taken = self._acquire(blocking)
        coming, self._coming = self._coming, []
        self.waiting += coming
        self._queue.extend(coming)
        return taken


def test_who_waited_for_an_interrupted_write_is_told_the_truth(store: EmbeddedStore, path: Path) -> None:
    commit: Any = store._commit
    pen = commit._pen = WantedPen(commit)
    numbers = count(2)

    def come() -> None:
        pen.expect([Ticket(note(next(numbers))) for _ in range(2)])

    places = 0
    for place in interrupted(lambda: store.execute(note(1)), come):
        for ticket in pen.waiting:
            places += 1
            assert is_told(ticket), place
            with suppress(StoreUnavailable):
                ticket.outcome()
                assert store.execute(GetItem("notes", ticket.request.item)).item == ticket.request.item, place
    assert places > 100
    assert works_for_others(store, path)


def test_tasks_that_waited_for_an_interrupted_write_are_told(store: EmbeddedStore) -> None:
    commit: Any = store._commit
    pen = commit._pen = WantedPen(commit)

    async def all_told() -> None:
        loop = asyncio.get_running_loop()

        def come() -> None:
            pen.expect([Ticket(note(number), loop.create_future()) for number in (2, 3)])

        for _ in interrupted(lambda: store.execute(note(1)), come):
            futures = [ticket.future for ticket in pen.waiting if ticket.future is not None]
            for outcome in await asyncio.gather(*futures, return_exceptions=True):
                assert isinstance(outcome, WriteResponse | StoreUnavailable)

    asyncio.run(asyncio.wait_for(all_told(), PATIENCE))


def test_who_is_interrupted_while_the_pen_is_his_lays_it_down(store: EmbeddedStore, path: Path) -> None:
    def visit() -> None:
        with store._commit.exclusively():
            pass

    for place in interrupted(visit):
        assert works_for_others(store, path), place


def test_closing_does_not_wait_for_who_was_interrupted(path: Path) -> None:
    place = 0
    while True:
        store = EmbeddedStore(path, durable=False)
        trace = CtrlC(place)
        with tracing(trace):
            store.sweep()
        closing = threading.Thread(target=store.close, daemon=True)
        closing.start()
        closing.join(PATIENCE)
        assert not closing.is_alive(), trace.where
        if trace.where is None:
            break
        place += 1


def test_a_scribe_whose_hiring_was_interrupted_is_hired(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    start, starts = threading.Thread.start, []

    def interrupted_once(thread: threading.Thread) -> None:
        starts.append(thread)
        if len(starts) == 1:
            raise KeyboardInterrupt
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupted_once)
    waiting = Ticket(note(1))
    store._commit._queue.append(waiting)
    with pytest.raises(KeyboardInterrupt):
        store._commit._call_scribe()
    assert is_told(waiting)
    assert len(starts) == 2
