"""How far the work on an index is, for a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from partita.runtime import warn

QUIET_ROWS: Final = 5_000
"""What there are no more rows of is done at once, and not logged."""
_TENTHS: Final = 10


def log_of(message: str, index: str, table: str) -> Callable[[int, int], None]:
    """What logs each tenth of the rows of a large table: the message gets the index, the table and a percentage."""
    logged = -1

    def log(done: int, total: int) -> None:
        nonlocal logged
        tenths = _TENTHS * done // max(total, 1)
        if logged < tenths and total > QUIET_ROWS:
            logged = tenths
            warn("partita.store", message, index, table, 10 * tenths)

    return log
