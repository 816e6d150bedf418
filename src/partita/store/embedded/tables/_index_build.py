"""Building an index: running its transactions one after the other, and reporting progress."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from itertools import islice
from typing import Any, Final, TypeAlias

import apsw

from partita.errors import StoreError
from partita.store._requests import CreateIndex, TableDescription
from partita.store.embedded._table import Row
from partita.store.embedded.tables import _chunks
from partita.store.embedded.tables._index_progress import log_of
from partita.store.embedded.tables._index_removal import clear_all
from partita.store.embedded.tables._indexes import (
    AddEntries,
    BeginEntries,
    BeginIndex,
    EntrySource,
    Filled,
    FillIndex,
    FinishIndex,
)

_SORTING: Final = 4
"""Sorting and writing the entries of this many rows takes about as long as filling one row."""
_COPIED_ROWS: Final = 50_000
"""Rows between two reports of progress while entries are copied, which blocks no writer."""

Write: TypeAlias = Callable[[Any], Any]
Connected: TypeAlias = Callable[[], AbstractContextManager[apsw.Connection]]
"""Opens a separate connection for long reads."""
Report: TypeAlias = Callable[[float], object]
"""Receives the fraction that is done, from 0 to 1."""


def create_index(write: Write, connected: Connected, request: CreateIndex) -> TableDescription:
    """Add a global index and fill it. Items with invalid keys for the index are not in it.

    `request.progress` receives the amount done and the total, both in rows. Without it, progress is logged in steps of
    ten percent.

    Raises:
        ValidationFailed: the index exists or breaks a rule. TableNotFound: it was deleted meanwhile.
    """
    number: int = write(BeginIndex(request.table, request.index))
    table, index = request.table, request.index.name
    report = request.progress or log_of("The index %s is being added to the table %s: %d %%.", index, table)
    filled: Filled = write(FillIndex(table, index, number))
    while not filled.is_done:
        report(filled.last, filled.highest + filled.highest // _SORTING)
        filled = write(FillIndex(table, index, number))
    rows, sorting = filled.highest, filled.highest // _SORTING
    begin = BeginEntries(table, index, number)
    _add_entries(write, connected, begin, lambda part: report(rows + int(sorting * part), rows + sorting))
    description: TableDescription = write(FinishIndex(table, index, number))
    clear_all(write, number)
    report(rows + sorting, rows + sorting)
    return description


def _add_entries(write: Write, connected: Connected, begin: BeginEntries, report: Report) -> None:
    source: EntrySource | None = write(begin)
    if source is None:  # another process has finished it
        return
    try:
        with connected() as connection, closing(_sorted(connection, source, report)) as entries:
            for some in entries:
                write(AddEntries(begin.table, begin.index, begin.number, some))
    except StoreError:
        write(begin)  # if the index was deleted meanwhile, its columns are gone: this then raises TableNotFound
        raise


def _sorted(connection: apsw.Connection, source: EntrySource, report: Report) -> Generator[list[Row], None, None]:
    """All entries in the order of the index, in chunks; SQLite sorts them in temporary files.

    They are first copied in chunks, so that no snapshot is held, which would let the log grow, while they are sorted.
    """
    columns = ", ".join((*source.columns, "id"))
    connection.execute("ATTACH '' AS sorting")
    connection.pragma("journal_mode", "off", schema="sorting")
    rows = connection.cursor()
    try:
        connection.execute(f"CREATE TABLE sorting.copied ({columns})")
        copied = _copy(connection, source, columns, lambda part: report(part / 2))
        rows.execute(f"SELECT {columns} FROM sorting.copied ORDER BY {columns}")
        done = 0
        while entries := list(islice(rows, _chunks.MAX_ROWS)):
            yield entries
            done += len(entries)
            report((1 + done / copied) / 2)
    finally:
        rows.close()
        connection.execute("DETACH sorting")


def _copy(connection: apsw.Connection, source: EntrySource, columns: str, report: Report) -> int:
    """Copy the entries and return their number."""
    sql = (
        f"INSERT INTO sorting.copied SELECT {columns} FROM main.{source.items} "
        f"WHERE id > ? AND id <= ? AND {source.columns[0]} IS NOT NULL"
    )
    highest: int = connection.execute(f"SELECT max(id) FROM {source.items}").get or 0
    copied = 0
    for start in range(0, highest, _COPIED_ROWS):
        connection.execute(sql, (start, start + _COPIED_ROWS))
        copied += connection.changes()
        report(start / highest)
    return copied
