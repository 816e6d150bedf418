"""Leftovers of a deleted index in the file: a table with its entries, and columns in every row.

They are recorded in `index_removals` and cleared in transactions that are short regardless of the size of the table.
"""

from __future__ import annotations

from typing import Any, Final

import apsw
import msgspec

from partita.store.embedded._table import HASHES, Index, Table
from partita.store.embedded.tables import _chunks
from partita.store.embedded.tables._index_columns import clear_columns, column_names
from partita.store.embedded.tables._index_entries import changed_table, entries_table

_NAME: Final = "index_removals"
_SQL_TABLE: Final = f"""
    CREATE TABLE IF NOT EXISTS {_NAME} (
        number INTEGER PRIMARY KEY, table_id INTEGER NOT NULL, columns TEXT NOT NULL,
        last INTEGER NOT NULL, highest INTEGER NOT NULL
    )
"""
_SQL_NOTE: Final = f"INSERT OR REPLACE INTO {_NAME} VALUES (?, ?, ?, 0, ?)"
_SQL_NEXT: Final = f"SELECT * FROM {_NAME} WHERE ifnull(number = ?, true) LIMIT 1"
_SQL_NUMBERS: Final = f"SELECT number FROM {_NAME} WHERE table_id = ?"
_SQL_ADVANCE: Final = f"UPDATE {_NAME} SET last = ? WHERE number = ?"
_SQL_END: Final = f"DELETE FROM {_NAME} WHERE number = ?"
_ENTRIES_PART: Final = 0.25
"""The approximate fraction of the work that is deleting the entries."""


class Cleared(msgspec.Struct, frozen=True):
    """The fraction of the leftovers that is cleared, from 0 to 1, and whether nothing is left."""

    part: float
    is_done: bool = False


_ALL: Final = Cleared(1, is_done=True)


def leave(connection: apsw.Connection, table: Table, index: Index, columns: tuple[str, ...] = ()) -> None:
    """Record leftovers to be cleared: the tables of an index that are no longer maintained, and these columns.

    Rows that are written from here on have no values in these columns.
    """
    connection.execute(_SQL_TABLE)
    highest = connection.execute(f"SELECT max(id) FROM items_{table.id}").get or 0
    connection.execute(_SQL_NOTE, (index.number, table.id, " ".join(columns), highest))


def left_by(connection: apsw.Connection, table: Table) -> list[int]:
    """The numbers of deleted indexes of a table that have leftovers."""
    if not connection.table_exists("main", _NAME):
        return []
    return [number for (number,) in connection.execute(_SQL_NUMBERS, (table.id,))]


def drop_all(connection: apsw.Connection, table: Table) -> None:
    """Drop the separate tables of a deleted table's indexes, which exist for deleted and unfinished indexes."""
    for number in (*left_by(connection, table), *(index.number for index in table.building)):
        for name in (entries_table(number), changed_table(number)):
            connection.execute(f"DROP TABLE IF EXISTS {name}")
    for number in left_by(connection, table):
        connection.execute(_SQL_END, (number,))


def clear_some(connection: apsw.Connection, number: int | None = None) -> Cleared:
    """Clear some entries of a deleted index, or the columns of some rows; of any deleted index if `number` is None."""
    found = connection.execute(_SQL_NEXT, (number,)).get if connection.table_exists("main", _NAME) else None
    if found is None:
        return _ALL
    cleared, table_id, columns, last, highest = found
    for name in (entries_table(cleared), changed_table(cleared)):
        if connection.table_exists("main", name):
            return Cleared(_ENTRIES_PART * _delete_first(connection, name))
    end = clear_columns(connection, f"items_{table_id}", columns.split(), (last, highest)) if columns else None
    if end is None:
        connection.execute(_SQL_END, (cleared,))
        return Cleared(1)
    connection.execute(_SQL_ADVANCE, (end, cleared))
    return Cleared(_ENTRIES_PART + (1 - _ENTRIES_PART) * min(end / highest, 1))


def _delete_first(connection: apsw.Connection, name: str) -> float:
    """Delete the first rows of a table in key order (the key is all its columns), and drop the table with the last.

    Return the approximate fraction that is deleted, which the order by evenly distributed hashes makes possible.
    """
    columns = ", ".join(column_names(connection, name))
    sql = f"SELECT {columns} FROM {name} ORDER BY {columns} LIMIT 1 OFFSET ?"
    row: Any = connection.execute(sql, (_chunks.MAX_ROWS - 1,)).fetchone()
    if row is None:
        connection.execute(f"DROP TABLE {name}")
        return 1
    marks = ", ".join("?" * len(row))
    connection.execute(f"DELETE FROM {name} WHERE ({columns}) <= ({marks})", row)
    first: int = row[0]
    return min(first / HASHES, 1)
