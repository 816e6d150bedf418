"""The queue of writing processes: a file lock with a turnstile in front of it.

SQLite polls when another process writes, and whoever polls at the right moment wins. Here a process
first takes the turn, then waits for the pen, then gives the turn back. The one that just wrote cannot
write again while another holds the turn, so none starves.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: SQLite's own busy timeout queues the writers
    fcntl = None  # type: ignore[assignment]


class ProcessLock:
    """A lock between processes; within one process, only one thread may use it at a time."""

    def __init__(self, path: Path) -> None:
        self._turn = _open(path.with_name(path.name + ".turn"))
        self._pen = _open(path.with_name(path.name + ".lock"))

    def acquire(self, *, blocking: bool = True) -> bool:
        """Take the lock; False if another process has it, or waits for it, and this is not to wait."""
        if fcntl is None:
            return True
        how = fcntl.LOCK_EX if blocking else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.flock(self._turn, how)
            try:
                fcntl.flock(self._pen, how)
            finally:
                fcntl.flock(self._turn, fcntl.LOCK_UN)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Give the lock back."""
        if fcntl is not None:
            fcntl.flock(self._pen, fcntl.LOCK_UN)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def close(self) -> None:
        """Give the files back."""
        os.close(self._turn)
        os.close(self._pen)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
