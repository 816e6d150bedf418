"""The rows of vector indexes, which are written in the transaction that writes the item.

    vectors(index_id, version, count)                     one row for each vector index
    vectors_<index>(id, version, p0, p1, …, vector)       id is that of the item's row

Each change of an index increments its version, and the changed row gets the new version. So a cache in memory reads
only the rows that are newer than its own version; if it then has more rows than the index, it reads all identifiers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import apsw

from partita.store.embedded.vectors._index import VectorEntry, VectorIndex
from partita.values import Item, decode_item

if TYPE_CHECKING:
    from partita.store.embedded._table import Table

_SQL_INDEXES: Final = (
    "CREATE TABLE IF NOT EXISTS vectors (index_id INTEGER PRIMARY KEY, version INTEGER, count INTEGER)"
)
_SQL_RAISE: Final = "UPDATE vectors SET version = version + 1, count = count + ? WHERE index_id = ? RETURNING version"
SQL_STATE: Final = "SELECT version, count FROM vectors WHERE index_id = ?"


def create_rows(connection: apsw.Connection, index: VectorIndex) -> None:
    """Create the empty table of an index."""
    connection.execute(_SQL_INDEXES)
    connection.execute("INSERT INTO vectors VALUES (?, 0, 0)", (index.number,))
    columns = "".join(f"{column}, " for column in index.columns)
    name = f"vectors_{index.number}"
    connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, version INTEGER, {columns}vector BLOB NOT NULL)")
    connection.execute(f"CREATE INDEX {name}_version ON {name} (version)")


def fill_rows(connection: apsw.Connection, index: VectorIndex, items: Iterable[tuple[int, Item]]) -> None:
    """Add the existing items, except those that are invalid for the index."""
    for row_id, item in items:
        change_rows(connection, index, row_id, None, index.entry_or_none(item))


def drop_rows(connection: apsw.Connection, indexes: Iterable[VectorIndex]) -> None:
    """Remove all data of indexes."""
    for index in indexes:
        connection.execute(f"DROP TABLE vectors_{index.number}")
        connection.execute("DELETE FROM vectors WHERE index_id = ?", (index.number,))


def drop_rows_of(connection: apsw.Connection, table_id: int) -> None:
    """Remove all data of the vector indexes of a table that is not in the catalog."""
    numbers: list[Any] = connection.execute("SELECT id FROM indexes WHERE table_id = ?", (table_id,)).fetchall()
    for (number,) in numbers:
        if connection.table_exists("main", f"vectors_{number}"):
            connection.execute(f"DROP TABLE vectors_{number}")
            connection.execute("DELETE FROM vectors WHERE index_id = ?", (number,))


def change_rows(
    connection: apsw.Connection, index: VectorIndex, row_id: int, before: VectorEntry | None, after: VectorEntry | None
) -> None:
    """Change the row of an item from its old entry to its new one; either may be None."""
    if before == after:
        return
    grown = (after is not None) - (before is not None)
    version = connection.execute(_SQL_RAISE, (grown, index.number)).get
    if after is None:
        connection.execute(f"DELETE FROM vectors_{index.number} WHERE id = ?", (row_id,))
        return
    marks = "?, " * (len(after) + 1) + "?"
    connection.execute(f"INSERT OR REPLACE INTO vectors_{index.number} VALUES ({marks})", (row_id, version, *after))


def wrong_rows(connection: apsw.Connection, table: Table) -> Iterator[str]:
    """Yield a finding for each difference between the rows of the vector indexes and the items."""
    for index in table.vectors:
        names = "".join(f", held.{name}" for name in (*index.columns, "vector"))
        joined = f"items_{table.id} kept LEFT JOIN vectors_{index.number} held USING (id)"
        rows: Any = connection.execute(f"SELECT kept.id, kept.item{names} FROM {joined}")
        held = 0
        for row_id, blob, *columns in rows:
            entry = None if columns[-1] is None else tuple(columns)
            held += entry is not None
            if entry != index.entry_or_none(decode_item(blob)):
                yield f"row {row_id}: the vector index {index.name} differs from its item"
        count = connection.execute(f"SELECT count(*) FROM vectors_{index.number}").get
        _, stated = connection.execute(SQL_STATE, (index.number,)).get
        if not held == count == stated:
            yield f"the vector index {index.name} has {count} rows for {held} items, but its count is {stated}"
