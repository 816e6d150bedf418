"""The progress of a verification: SQLite checks all rows; then each item is read twice, and each change once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import apsw

Progress: TypeAlias = Callable[[int, int], None]
"""Receives the amount done and the approximate total."""

_EVERY: Final = 1_000
"""Rows between two reports."""
_STEPS: Final = 5_000
"""Steps of SQLite's virtual machine between two reports."""
_STEPS_OF_A_ROW: Final = 6
_STEPS_OF_AN_ENTRY: Final = 10
_SQL_TABLES: Final = """
    SELECT name, (SELECT count(*) FROM sqlite_schema AS made WHERE made.tbl_name = found.name AND made.type = 'index')
    FROM sqlite_schema AS found WHERE type = 'table' AND (name GLOB 'items_*' OR name GLOB 'changes_*')
"""


class Effort:
    """Counts the work done and reports progress; does nothing if `progress` is None."""

    def __init__(self, connection: apsw.Connection, progress: Progress | None) -> None:
        self._connection = connection
        self._progress = progress
        self._rows = self._steps = self._done = self._total = 0
        if progress is not None:
            found: list[Any] = connection.execute(_SQL_TABLES).fetchall()
            for name, indexes in found:
                rows: int = connection.execute(f"SELECT max(_rowid_) FROM {name}").get or 0
                self._rows += rows
                self._total += rows * (2 if name.startswith("changes_") else 3)
                self._steps += rows * (_STEPS_OF_A_ROW + _STEPS_OF_AN_ENTRY * indexes)

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Report progress while SQLite checks all rows and their entries in indexes."""
        if self._progress is None:
            yield
            return
        steps = 0

        def report() -> bool:
            nonlocal steps
            steps += _STEPS
            self._report(int(self._rows * min(steps / max(self._steps, 1), 1)))
            return False

        self._connection.set_progress_handler(report, _STEPS)
        try:
            yield
        finally:
            self._connection.set_progress_handler(None)
        self._done = self._rows
        self._report(self._done)

    def counted(self, rows: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows, and report progress at some of them."""
        for row in rows:
            self._done += 1
            if self._done % _EVERY == 0:
                self._report(self._done)
            yield row

    def finish(self) -> None:
        """Report that all is done."""
        self._report(self._total)

    def _report(self, done: int) -> None:
        if self._progress is not None:
            self._progress(min(done, self._total), self._total)
