"""The columns of indexes in the rows of a table: created, left behind by deleted indexes, and reused.

    k<index>_<part>         of an index
    unused_<index>_<part>   of a deleted index; cleared in chunks of rows

SQLite would have to rewrite the whole table to drop a column. So a column of a deleted index stays, empty, for the next
index; an empty column takes one byte of a row.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import apsw

from partita.store.embedded._table import Index, Table
from partita.store.embedded.tables._chunks import chunk_end

_UNUSED: Final = "unused_"


def make_columns(connection: apsw.Connection, table: Table, index: Index, being_cleared: Collection[int]) -> None:
    """Add the columns of an index to a table: reuse cleared columns of deleted indexes, or create new ones."""
    items = f"items_{table.id}"
    left = [name for name in column_names(connection, items) if _is_free(name, being_cleared)]
    for column in index.columns:
        if left:
            connection.execute(f"ALTER TABLE {items} RENAME COLUMN {left.pop()} TO {column}")
        else:
            connection.execute(f"ALTER TABLE {items} ADD COLUMN {column}")


def _is_free(name: str, being_cleared: Collection[int]) -> bool:
    return name.startswith(_UNUSED) and int(name.split("_")[1]) not in being_cleared


def leave_columns(connection: apsw.Connection, table: Table, index: Index) -> tuple[str, ...]:
    """Rename the columns of an index that is deleted, and return their new names."""
    names = tuple(f"{_UNUSED}{column.removeprefix('k')}" for column in index.columns)
    for column, name in zip(index.columns, names, strict=True):
        connection.execute(f"ALTER TABLE items_{table.id} RENAME COLUMN {column} TO {name}")
    return names


def clear_columns(connection: apsw.Connection, items: str, columns: Sequence[str], rows: tuple[int, int]) -> int | None:
    """Clear the columns of the next chunk in a range of rows. Return its last row, or None if there are no more."""
    after, highest = rows
    last = chunk_end(connection, items, after)
    if last is None or after >= highest:
        return None
    cleared = ", ".join(f"{column} = NULL" for column in columns)
    sql = f"UPDATE {items} SET {cleared} WHERE id > ? AND id <= ? AND {columns[0]} IS NOT NULL"
    connection.execute(sql, (after, last))
    return last


def column_names(connection: apsw.Connection, name: str) -> list[str]:
    """The columns of an SQLite table, in order."""
    return [column for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))]
