"""The queue of writing processes: a file lock with a turnstile in front of it.

SQLite polls when another process writes, and whoever polls at the right moment wins. Here a process
first takes the turn, then waits for the pen, then gives the turn back. The one that just wrote cannot
write again while another holds the turn, so none starves.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType

from partita.store.embedded._file import leave_to_parent_at_fork

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: SQLite's own busy timeout queues the writers
    fcntl = None  # type: ignore[assignment]


class ProcessLock:
    """A lock between processes; within one process, only one thread may use it at a time."""

    def __init__(self, path: Path) -> None:
        self._turn = _open(path.with_name(path.name + ".turn"))
        self._pen = _open(path.with_name(path.name + ".lock"))
        # Does nothing where the lock was not taken. All in C, so that no Ctrl-C comes before it.
        self.release: Callable[[], None] = _nothing if fcntl is None else partial(fcntl.flock, self._pen, fcntl.LOCK_UN)
        self._close = weakref.finalize(self, _close, self._turn, self._pen)
        self._close.atexit = False  # threads may write to the end
        leave_to_parent_at_fork(self)

    def acquire(self, *, blocking: bool = True) -> bool:
        """Take the lock; False if another process has it, or waits for it, and this is not to wait."""
        if fcntl is None:
            return True
        how = fcntl.LOCK_EX if blocking else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.flock(self._turn, how)
            fcntl.flock(self._pen, how)
        except BlockingIOError:
            return False
        finally:
            fcntl.flock(self._turn, fcntl.LOCK_UN)
        return True

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def close(self) -> None:
        """Give the files back."""
        self._close()

    def leave_to_parent(self) -> None:
        """This process was forked: close the files, so that the lock goes when its parent lets go of it."""
        self._close()


class NoLock:
    """In place of the lock, where there are no other processes."""

    def acquire(self, *, blocking: bool = True) -> bool:  # noqa: ARG002 - as a lock has it
        """Nobody else wants it."""
        return True

    def release(self) -> None:
        """Nobody waits for it."""

    def __enter__(self) -> None:
        """Nothing to take."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to give back."""


def _nothing() -> None:  # pragma: no cover - Windows
    """There is no lock."""


def _close(*files: int) -> None:
    for file in files:
        os.close(file)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
