"""The lock between processes: a file lock with a turnstile in front of it.

SQLite polls while another process writes, and whoever polls at the right instant wins. Here a process passes a
turnstile first:

    process A   holds the lock ────────────── releases ── wants it again: waits at the turnstile
    process B     holds the turnstile, waits for the lock ──┴─ holds the lock, releases the turnstile

A process that just wrote cannot write again before the one at the turnstile, so none starves.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType

from partita._sqlite._fork import leave_to_parent_at_fork
from partita.runtime import open_private

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: SQLite's own busy timeout queues the writers
    fcntl = None  # type: ignore[assignment]


class ProcessLock:
    """A lock between processes; within one process, only one thread may use it at a time."""

    def __init__(self, path: Path) -> None:
        self._turnstile = open_private(path.with_name(path.name + ".turn"))
        self._lock = open_private(path.with_name(path.name + ".lock"))
        # Does nothing where the lock is not held. All in C, so that no Ctrl-C comes before it.
        self.release: Callable[[], None] = (
            _nothing if fcntl is None else partial(fcntl.flock, self._lock, fcntl.LOCK_UN)
        )
        self._close = weakref.finalize(self, _close, self._turnstile, self._lock)
        self._close.atexit = False  # threads may write to the end
        leave_to_parent_at_fork(self)

    def acquire(self, *, blocking: bool = True) -> bool:
        """Take the lock; False if another process holds it, or waits for it, and this is not to wait."""
        if fcntl is None:
            return True
        how = fcntl.LOCK_EX if blocking else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.flock(self._turnstile, how)
            fcntl.flock(self._lock, how)
        except BlockingIOError:
            return False
        finally:
            fcntl.flock(self._turnstile, fcntl.LOCK_UN)
        return True

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def close(self) -> None:
        """Close the files."""
        self._close()

    def leave_to_parent(self) -> None:
        """This process was forked: close the files, so that the lock is free when its parent releases it."""
        self._close()


class NoLock:
    """In place of the lock, where there are no other processes."""

    def acquire(self, *, blocking: bool = True) -> bool:  # noqa: ARG002 - the signature of the lock
        """No other process wants it."""
        return True

    def release(self) -> None:
        """No other process waits for it."""

    def __enter__(self) -> None:
        """Nothing to acquire."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to release."""


def _nothing() -> None:  # pragma: no cover - Windows
    """There is no lock."""


def _close(*files: int) -> None:
    for file in files:
        os.close(file)
