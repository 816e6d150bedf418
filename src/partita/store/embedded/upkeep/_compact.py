"""Writing the file again without what is free in it, and how far that is.

    rows ──> a copy ──> the log ──> the file

SQLite says how many pages of the copy it has written, but is silent while it brings the copy into the log. So where
somebody wants to know how far it is, it works in a thread, and the caller's looks at the log meanwhile.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

import apsw

from partita import _sqlite
from partita.store.embedded.upkeep._effort import Progress

_STEPS: Final = 5_000
"""Of SQLite's virtual machine, from one report to the next."""
_LOOK_SECONDS: Final = 0.1
"""How often the log is looked at."""
_VACUUM: Final = "VACUUM"


def compact(connection: apsw.Connection, path: str, progress: Progress | None = None) -> None:
    """Write everything again; `progress` gets how many pages were written, of about how many: each is written twice.

    What is raised meanwhile, as by Ctrl-C, ends it: the file is as it was, or compacted where that was all but done.
    """
    if progress is None:
        connection.execute(_VACUUM)
        return
    if path != _sqlite.MEMORY:
        _sqlite.erase_log(connection)  # from here on it has what is written now
    copy = _Copy(connection, Path(f"{path}-wal"))
    progress(0, copy.total)  # before the thread begins, which may be far when it is first looked at
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(copy.write)
        done.add_done_callback(copy.end)
        try:
            copy.report(progress)
        except BaseException:
            connection.interrupt()
            raise
    done.result()
    progress(copy.total, copy.total)


class _Copy:
    """What is written, as two threads see it: one writes, and the other reports."""

    def __init__(self, connection: apsw.Connection, log: Path) -> None:
        self._connection = connection
        self._log = log
        self._page_size: int = connection.pragma("page_size")
        used: int = connection.pragma("page_count") - connection.pragma("freelist_count")
        self.total = 2 * used
        self._before = self._written()
        self._logged_before = self._logged()
        self._copied = SimpleQueue[int | None]()
        """How many pages the copy has; None at the end."""

    def write(self) -> None:
        self._connection.set_progress_handler(self._count, _STEPS)
        try:
            self._connection.execute(_VACUUM)
        finally:
            self._connection.set_progress_handler(None)

    def end(self, _: Future[None]) -> None:
        self._copied.put(None)

    def report(self, progress: Progress) -> None:
        """Say how far it is until the end."""
        copied: int | None = 0
        while copied is not None:
            progress(min(copied + self._logged() - self._logged_before, self.total), self.total)
            try:
                copied = self._copied.get(timeout=_LOOK_SECONDS)
            except Empty:
                continue

    def _count(self) -> bool:
        self._copied.put(self._written() - self._before)
        return False

    def _written(self) -> int:
        """Pages that the connection has written, but for those of the log."""
        return self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0]

    def _logged(self) -> int:
        return self._log.stat().st_size // self._page_size if self._log.exists() else 0
