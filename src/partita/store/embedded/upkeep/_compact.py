"""Rewriting the file without free pages, and reporting the progress.

    rows ──> a copy ──> the log ──> the file

SQLite reports how many pages of the copy it has written, but reports nothing while it writes the copy to the log. So if
progress is requested, the work runs in a separate thread while the caller's thread watches the size of the log.
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
"""Steps of SQLite's virtual machine between two reports."""
_LOOK_SECONDS: Final = 0.1
"""The interval at which the size of the log is checked."""
_VACUUM: Final = "VACUUM"


def compact(connection: apsw.Connection, path: str, progress: Progress | None = None) -> None:
    """Rewrite everything. `progress` receives the pages written and the approximate total (each is written twice).

    An exception, for example Ctrl-C, ends it: the file is then unchanged, or compacted if that was almost complete.
    """
    if progress is None:
        connection.execute(_VACUUM)
        return
    if path != _sqlite.MEMORY:
        _sqlite.erase_log(connection)  # so that it only contains what is written from here on
    copy = _Copy(connection, Path(f"{path}-wal"))
    progress(0, copy.total)  # before the thread starts, which may have advanced by the first check
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
    """The state shared by two threads, of which one writes and the other reports progress."""

    def __init__(self, connection: apsw.Connection, log: Path) -> None:
        self._connection = connection
        self._log = log
        self._page_size: int = connection.pragma("page_size")
        used: int = connection.pragma("page_count") - connection.pragma("freelist_count")
        self.total = 2 * used
        self._before = self._written()
        self._logged_before = self._logged()
        self._copied = SimpleQueue[int | None]()
        """Receives how many pages the copy has so far; None at the end."""

    def write(self) -> None:
        self._connection.set_progress_handler(self._count, _STEPS)
        try:
            self._connection.execute(_VACUUM)
        finally:
            self._connection.set_progress_handler(None)

    def end(self, _: Future[None]) -> None:
        self._copied.put(None)

    def report(self, progress: Progress) -> None:
        """Report the progress until the end."""
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
        """The number of pages that the connection has written, except those of the log."""
        return self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0]

    def _logged(self) -> int:
        return self._log.stat().st_size // self._page_size if self._log.exists() else 0
