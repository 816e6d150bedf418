"""Waiting for a commit by any thread or process, without looking for one all the time.

Whoever has committed to a file writes to its lock file (`ProcessLock.notify`):

    a process that commits     BEGIN ── COMMIT ── writes to the lock file
    one that waits             sleeps ················ woken ── looks into the database

Linux wakes those who watch the lock file (inotify). Elsewhere, and where the kernel gives no more watches, they compare
what it has in it, some times a second, which takes no statement of SQL.

A commit that comes before the wait is not missed: the watch begins when the notice is made.
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
"""How often the lock file is read where nobody says that it was written."""
_IN_MODIFY: Final = 0x2
_READ_BYTES: Final = 65_536


class CommitNotice:
    """Waits for commits to one file. It belongs to one thread; any thread may wake and close it."""

    def __init__(self, path: str | Path) -> None:
        """Watch a database whose lock file is there. Whatever is committed from now on ends the next wait."""
        self._watch = _watch_of(lock_file(Path(path)))
        self._close = weakref.finalize(self, self._watch.close)
        leave_to_parent_at_fork(self)

    def wait(self, seconds: float) -> bool:
        """Wait for a commit, or to be woken; False when the time is over. Look first, then wait."""
        return self._watch.wait(max(0.0, seconds))

    def wake(self) -> None:
        """End the wait of now, or the next one."""
        self._watch.wake()

    def close(self) -> None:
        """Watch no more."""
        self._close()

    def leave_to_parent(self) -> None:
        """This process was forked: the watch is the parent's."""
        self._close()


class _Watch(Protocol):
    def wait(self, seconds: float) -> bool: ...
    def wake(self) -> None: ...
    def close(self) -> None: ...


def _watch_of(lock: Path) -> _Watch:
    if sys.platform == "linux":
        with suppress(OSError):  # a user may have so many watches, and no more
            return InotifyWatch(lock)
    return LookingWatch(lock)


class InotifyWatch:
    """The kernel says when the file is written."""

    def __init__(self, lock: Path) -> None:
        """Begin to watch.

        Raises:
            OSError: the kernel refuses.
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
                    """None of what came before is to end the next wait."""
        return bool(found)

    def wake(self) -> None:
        with suppress(BlockingIOError):  # what is in the pipe already wakes it
            os.write(self._waker, b"!")

    def close(self) -> None:
        for each in (self._changes, self._wakes, self._waker):
            os.close(each)


class LookingWatch:
    """What the file has in it is compared again and again."""

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
        """Nothing is open."""

    def _read(self) -> bytes:
        try:
            return self._lock.read_bytes()
        except OSError:
            return b""


def _inotify(lock: Path) -> int:
    import ctypes  # noqa: PLC0415 - where nobody waits, nothing needs it

    libc = ctypes.CDLL(None, use_errno=True)
    opened: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if opened < 0:
        raise OSError(ctypes.get_errno(), "No file can be watched")
    if libc.inotify_add_watch(opened, os.fsencode(lock), _IN_MODIFY) < 0:
        os.close(opened)
        raise OSError(ctypes.get_errno(), "The file cannot be watched")
    return opened
