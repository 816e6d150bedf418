"""Logging the progress of work on an index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from partita.runtime import warn

QUIET_ROWS: Final = 5_000
"""Work on at most this many rows is fast and therefore not logged."""
_TENTHS: Final = 10


def log_of(message: str, index: str, table: str) -> Callable[[int, int], None]:
    """A function that logs each tenth of the rows of a large table, with the index, the table and a percentage."""
    logged = -1

    def log(done: int, total: int) -> None:
        nonlocal logged
        tenths = _TENTHS * done // max(total, 1)
        if logged < tenths and total > QUIET_ROWS:
            logged = tenths
            warn("partita.store", message, index, table, 10 * tenths)

    return log
