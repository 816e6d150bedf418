"""The lock between processes. Two locks on one path stand for two processes: the files are opened twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from tests.store.embedded.support import TABLE, note

from partita._sqlite import ProcessLock
from partita.errors import StoreBusy
from partita.store import CreateTable
from partita.store.embedded import EmbeddedStore

DEADLINE = 60.0
Impatience = Callable[[], AbstractContextManager[None]]
HOLDER = """
import sys
from pathlib import Path
from partita._sqlite import ProcessLock
with ProcessLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def locks(tmp_path: Path) -> Iterator[tuple[ProcessLock, ProcessLock]]:
    with closing(ProcessLock(tmp_path / "store.db")) as ours, closing(ProcessLock(tmp_path / "store.db")) as theirs:
        yield ours, theirs


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> Impatience:
    """A context manager in which every wait times out almost immediately."""

    @contextmanager
    def impatience() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr("partita._sqlite._process_lock.PATIENCE_SECONDS", 0.01)
            yield

    return impatience


def test_a_lock_can_be_tried(locks: tuple[ProcessLock, ProcessLock]) -> None:
    ours, theirs = locks
    assert ours.acquire(blocking=False)
    assert not theirs.acquire(blocking=False)
    ours.release()
    with theirs:
        assert not ours.acquire(blocking=False)
    assert ours.acquire(blocking=False)


def test_whoever_waits_gets_the_lock_when_it_is_released(locks: tuple[ProcessLock, ProcessLock]) -> None:
    ours, theirs = locks
    ours.acquire()
    waiting = threading.Thread(target=theirs.acquire)
    waiting.start()
    ours.release()
    waiting.join(DEADLINE)
    assert not ours.acquire(blocking=False)
    theirs.release()
    assert ours.acquire(blocking=False)


def test_a_wait_has_a_deadline(locks: tuple[ProcessLock, ProcessLock], impatience: Impatience, tmp_path: Path) -> None:
    ours, theirs = locks
    ours.acquire()
    with impatience(), pytest.raises(StoreBusy) as caught:
        theirs.acquire()
    assert str(caught.value) == (
        f"Another process has held {tmp_path / 'store.db'} for 0 seconds. "
        "That process may be stopped: `ps` shows it in state T. Continue it (kill -CONT) or end it."
    )
    assert not theirs.acquire(blocking=False)


def test_a_lock_that_nobody_waits_for_any_more_is_not_kept(
    locks: tuple[ProcessLock, ProcessLock], impatience: Impatience
) -> None:
    ours, theirs = locks
    ours.acquire()
    with impatience(), pytest.raises(StoreBusy):
        theirs.acquire()
    ours.release()
    assert ours.acquire()
    ours.release()
    assert theirs.acquire()


def test_whoever_comes_again_after_a_deadline_gets_the_lock(
    locks: tuple[ProcessLock, ProcessLock], impatience: Impatience
) -> None:
    ours, theirs = locks
    ours.acquire()
    with impatience(), pytest.raises(StoreBusy):
        theirs.acquire()
    again = threading.Thread(target=theirs.acquire)
    again.start()
    ours.release()
    again.join(DEADLINE)
    assert not ours.acquire(blocking=False)


def test_a_store_that_is_closed_while_it_waits_leaves_no_lock_behind(
    locks: tuple[ProcessLock, ProcessLock], impatience: Impatience
) -> None:
    ours, theirs = locks
    ours.acquire()
    with impatience(), pytest.raises(StoreBusy):
        theirs.acquire()
    theirs.close()
    ours.release()
    assert ours.acquire()


def test_a_write_does_not_wait_for_ever_for_a_process_that_was_stopped(impatience: Impatience, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with EmbeddedStore(path, durable=False) as store:
        store.execute(CreateTable(TABLE))
        command = [sys.executable, "-c", HOLDER, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            os.kill(holder.pid, signal.SIGSTOP)
            with impatience(), pytest.raises(StoreBusy, match="Another process has held"):
                store.execute(note(1))
            os.kill(holder.pid, signal.SIGCONT)
            holder.communicate("")
        store.execute(note(2))
