"""The lock between processes: a file lock with a turnstile in front of it.

SQLite polls while another process writes, and the process that polls at the right instant wins. Here a process passes a
turnstile first:

    process A   holds the lock ────────────── releases ── wants it again: waits at the turnstile
    process B     holds the turnstile, waits for the lock ──┴─ holds the lock, releases the turnstile

A process that just wrote cannot write again before the process at the turnstile, so none starves.

A process that holds the lock may be stopped (SIGSTOP, a debugger, a frozen container) and not release it, and `flock`
has no timeout. So if the lock is not free at once, a dedicated thread waits for the lock, and the caller waits for that
thread with a deadline (`LockWaiter`).
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final

from partita._sqlite._database_file import MEMORY
from partita._sqlite._fork import leave_to_parent_at_fork
from partita._sqlite._lock_waiter import LockWaiter
from partita.errors import StoreBusy
from partita.runtime import open_private

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: writers wait by SQLite's own busy timeout
    fcntl = None  # type: ignore[assignment]


PATIENCE_SECONDS: Final = 60.0
"""How long to wait for another process to release the lock: longer than any write, and most maintenance, takes."""

_HINT: Final = "That process may be stopped: `ps` shows it in state T. Continue it (kill -CONT) or end it."


class ProcessLock:
    """A lock between processes; within one process, only one thread may use it at a time."""

    def __init__(self, path: Path) -> None:
        self._turnstile = open_private(path.with_name(path.name + ".turn"))
        self._lock = open_private(lock_file(path))
        # Does nothing if the lock is not held. All in C, so that no KeyboardInterrupt can be raised before its effect.
        self.release: Callable[[], None] = (
            _nothing if fcntl is None else partial(fcntl.flock, self._lock, fcntl.LOCK_UN)
        )
        self._path = path
        self._waiter = LockWaiter(self._turnstile, self._lock)
        self._close = weakref.finalize(self, _close, self._waiter, self._turnstile, self._lock)
        self._close.atexit = False  # threads may still write while the interpreter exits
        leave_to_parent_at_fork(self)

    def acquire(self, *, blocking: bool = True) -> bool:
        """Acquire the lock; return False if not `blocking` and another process holds the lock or waits for it.

        Raises:
            StoreBusy: another process has held it for too long.
        """
        if self._try():
            return True
        if not blocking:
            return False
        if not self._waiter.wait(PATIENCE_SECONDS):
            message = f"Another process has held {self._path} for {PATIENCE_SECONDS:.0f} seconds."
            raise StoreBusy(message, hint=_HINT)
        return True

    def _try(self) -> bool:
        if fcntl is None:
            return True
        if self._waiter.is_waiting:  # its thread already waits on the same descriptors
            return False
        try:
            fcntl.flock(self._turnstile, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            fcntl.flock(self._turnstile, fcntl.LOCK_UN)
        return True

    def notify(self) -> None:
        """Notify all processes of a commit. Only the holder of the lock calls this."""
        try:  # noqa: SIM105 - this runs for each commit, and suppress() is slower
            _overwrite(self._lock, time.time_ns().to_bytes(8, "little"), 0)
        except OSError:  # for example a full disk: processes that wait also read the database now and then
            pass

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def close(self) -> None:
        """Close the files; if a thread still waits for the lock, that thread closes them afterwards."""
        self._close()

    def leave_to_parent(self) -> None:
        """Close the files in a forked child, so that the lock is free when its parent releases it."""
        if self._close.detach() is not None:
            _close_files(self._turnstile, self._lock)


class NoLock:
    """A substitute for `ProcessLock` if there are no other processes; its methods do nothing."""

    def acquire(self, *, blocking: bool = True) -> bool:  # noqa: ARG002 - the signature of the lock
        """Return True: no other process can hold it."""
        return True

    def release(self) -> None:
        """No other process waits for it."""

    def notify(self) -> None:
        """No other process waits for a commit."""

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> None:
        """Nothing to acquire."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to release."""


def lock_file(path: Path) -> Path:
    """The path of a database's lock file. Each commit changes the content of that file."""
    return path.with_name(path.name + ".lock")


def _seek_and_write(file: int, content: bytes, position: int) -> int:  # pragma: no cover - Windows
    os.lseek(file, position, os.SEEK_SET)
    return os.write(file, content)


_overwrite: Final[Callable[[int, bytes, int], int]] = getattr(os, "pwrite", _seek_and_write)


def _nothing() -> None:  # pragma: no cover - Windows
    """There is no lock."""


def _close(waiter: LockWaiter, *files: int) -> None:
    if waiter.stop():
        _close_files(*files)


def _close_files(*files: int) -> None:
    for file in files:
        os.close(file)


def lock_beside(path: object, purpose: str) -> ProcessLock | NoLock:
    """Return a lock for one `purpose` on a database file, or on one in memory; it is released if the process ends."""
    return NoLock() if path == MEMORY else ProcessLock(Path(f"{path}.{purpose}"))
