"""Waiting for a commit by any thread or process, without polling the database.

A process that has committed to a file writes to its lock file (`ProcessLock.notify`):

    a process that commits     BEGIN ── COMMIT ── writes to the lock file
    a process that waits       sleeps ················ woken ── reads the database

On Linux, inotify wakes the processes that watch the lock file. Elsewhere, and if the kernel grants no more watches,
they compare the content of the lock file several times a second, which needs no SQL statement.

A commit before the wait is not missed, because the watch begins when the `CommitNotice` is created.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from partita._sqlite._fork import leave_to_parent_at_fork
from partita._sqlite._process_lock import lock_file

LOOK_SECONDS: Final = 0.05
"""The interval at which the lock file is read if the kernel does not report writes to it."""
_IN_MODIFY: Final = 0x2
_READ_BYTES: Final = 65_536


class CommitNotice:
    """Waits for commits to one file. It belongs to one thread; any thread may wake and close it."""

    def __init__(self, path: str | Path) -> None:
        """Watch a database whose lock file exists. Any commit from now on ends the next wait."""
        self._watch = _watch_of(lock_file(Path(path)))
        self._close = weakref.finalize(self, self._watch.close)
        leave_to_parent_at_fork(self)

    def wait(self, seconds: float) -> bool:
        """Wait for a commit or for `wake`; return False on timeout. Read the database first, then wait."""
        return self._watch.wait(max(0.0, seconds))

    def wake(self) -> None:
        """End the current wait or, if there is none, the next one."""
        self._watch.wake()

    def close(self) -> None:
        """Stop watching."""
        self._close()

    def leave_to_parent(self) -> None:
        """Close the watch in a forked child: it belongs to the parent."""
        self._close()


class _Watch(Protocol):
    def wait(self, seconds: float) -> bool: ...
    def wake(self) -> None: ...
    def close(self) -> None: ...


def _watch_of(lock: Path) -> _Watch:
    if sys.platform == "linux":
        with suppress(OSError):  # the number of watches per user is limited
            return InotifyWatch(lock)
    return LookingWatch(lock)


class InotifyWatch:
    """The kernel reports writes to the file."""

    def __init__(self, lock: Path) -> None:
        """Start to watch.

        Raises:
            OSError: the kernel refuses the watch.
        """
        self._changes = _inotify(lock)
        self._wakes, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll = select.poll()
        for each in (self._changes, self._wakes):
            self._poll.register(each, select.POLLIN)

    def wait(self, seconds: float) -> bool:
        found = self._poll.poll(seconds * 1_000)
        for each, _ in found:
            with suppress(BlockingIOError):
                while os.read(each, _READ_BYTES):
                    pass  # discard the pending events, so that none of them ends the next wait
        return bool(found)

    def wake(self) -> None:
        with suppress(BlockingIOError):  # the pipe is full, so the wait ends anyway
            os.write(self._waker, b"!")

    def close(self) -> None:
        for each in (self._changes, self._wakes, self._waker):
            os.close(each)


class LookingWatch:
    """Polls the file and compares its content."""

    def __init__(self, lock: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = lock
        self._clock = clock
        self._seen = self._read()
        self._woken = threading.Event()

    def wait(self, seconds: float) -> bool:
        until = self._clock() + seconds
        while not (happened := self._has_happened()) and (left := until - self._clock()) > 0:
            self._woken.wait(min(left, LOOK_SECONDS))
        return happened

    def _has_happened(self) -> bool:
        before, self._seen = self._seen, self._read()
        was_woken = self._woken.is_set()
        self._woken.clear()
        return was_woken or self._seen != before

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        """Do nothing: no file is kept open."""

    def _read(self) -> bytes:
        try:
            return self._lock.read_bytes()
        except OSError:
            return b""


def _inotify(lock: Path) -> int:
    import ctypes  # noqa: PLC0415 - only processes that wait need it

    libc = ctypes.CDLL(None, use_errno=True)
    opened: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if opened < 0:
        raise OSError(ctypes.get_errno(), "No file can be watched")
    if libc.inotify_add_watch(opened, os.fsencode(lock), _IN_MODIFY) < 0:
        os.close(opened)
        raise OSError(ctypes.get_errno(), "The file cannot be watched")
    return opened
