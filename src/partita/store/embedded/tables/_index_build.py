"""Making an index: its transactions one after the other, and how far they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from partita.runtime import warn
from partita.store._requests import CreateIndex, TableDescription
from partita.store.embedded.tables._indexes import BeginIndex, Filled, FillIndex, FinishIndex

_SORTING: Final = 4
"""To sort and write the entries of so many rows takes about as long as to fill one."""
_TENTHS: Final = 10


def create_index(write: Callable[[Any], Any], request: CreateIndex) -> TableDescription:
    """Add a global index and fill it; items whose keys do not fit are left off it.

    `request.progress` gets what is done and all that there is to do, both in rows. Without it, every tenth is logged.

    Raises:
        ValidationFailed: the index exists, or breaks a rule. TableNotFound: it was deleted meanwhile.
    """
    write(BeginIndex(request.table, request.index))
    table, index = request.table, request.index.name
    filled: Filled = write(FillIndex(table, index))
    report = request.progress or (_ignored if filled.is_done else _log_of(table, index))
    while not filled.is_done:
        report(filled.last, filled.highest + filled.highest // _SORTING)
        filled = write(FillIndex(table, index))
    rows, sorting = filled.highest, filled.highest // _SORTING
    description: TableDescription = write(
        FinishIndex(table, index, lambda part: report(rows + int(sorting * part), rows + sorting))
    )
    report(rows + sorting, rows + sorting)
    return description


def _ignored(_done: int, _total: int) -> None:
    """What is done at once needs no report."""


def _log_of(table: str, index: str) -> Callable[[int, int], None]:
    """Logs each tenth."""
    logged = -1

    def log(done: int, total: int) -> None:
        nonlocal logged
        tenths = _TENTHS * done // total
        if logged < tenths:
            logged = tenths
            warn("partita.store", "The index %s is being added to the table %s: %d %%.", index, table, 10 * tenths)

    return log
