"""The entries of an index as a separate table: until the index is complete, and again when it is deleted.

    entries_<index>(columns of the index, id)    in the order of the index
    changed_<index>(id)                          rows written since: their entries are already correct

SQLite creates and drops an index in one transaction each. A table can be filled and emptied in many. A WITHOUT ROWID
table with the columns of an index and the row number consists of exactly the same pages as an SQLite index: both are
B-trees of the same records (sqlite.org/fileformat2.html, 2.4 and 2.5). So one can be turned into the other by changing
only its entry in the schema, whatever its size. Triggers keep the table up to date for all writers while it is filled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import apsw

from partita.store.embedded._table import Index, Row, Table

_TRIGGERS: Final = ("inserted", "updated", "deleted")
_SQL_RELABEL: Final = "UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, sql = ? WHERE name = ?"


def entries_table(number: int) -> str:
    """The name of the table with the entries of an index."""
    return f"entries_{number}"


def changed_table(number: int) -> str:
    """The name of the table with the numbers of rows that were written since the table of entries was created."""
    return f"changed_{number}"


def begin_entries(connection: apsw.Connection, table: Table, index: Index) -> None:
    """Create the table unless it exists; from then on, it contains the entries of all rows that are written."""
    entries, changed, items = entries_table(index.number), changed_table(index.number), f"items_{table.id}"
    old, new = (", ".join(f"{row}.{column}" for column in (*index.order, "id")) for row in ("old", "new"))
    present, touched = f"new.{index.columns[0]} IS NOT NULL", f"SELECT 1 FROM {changed} WHERE id = old.id"
    insert = f"INSERT INTO {entries} SELECT {new} WHERE {present};"
    delete = f"DELETE FROM {entries} WHERE ({', '.join((*index.order, 'id'))}) = ({old});"
    # Not OR IGNORE: the conflict clause of the statement that fires the trigger would override it.
    change = f"INSERT INTO {changed} SELECT old.id WHERE NOT EXISTS ({touched});"
    for sql in (
        _sql_entries(index),
        f"CREATE TABLE IF NOT EXISTS {changed} (id INTEGER PRIMARY KEY)",
        _sql_trigger("inserted", index, f"INSERT ON {items}", insert),
        _sql_trigger("updated", index, f"UPDATE OF {', '.join(index.columns)} ON {items}", delete + insert + change),
        _sql_trigger("deleted", index, f"DELETE ON {items}", delete + change),
    ):
        connection.execute(sql)


def _sql_entries(index: Index) -> str:
    columns = ", ".join(index.order)
    name = entries_table(index.number)
    return f"CREATE TABLE IF NOT EXISTS {name} ({columns}, id INTEGER, PRIMARY KEY ({columns}, id)) WITHOUT ROWID"


def _sql_trigger(name: str, index: Index, event: str, body: str) -> str:
    return f"CREATE TRIGGER IF NOT EXISTS {name}_{index.number} AFTER {event} BEGIN {body} END"


def add_entries(connection: apsw.Connection, index: Index, rows: Iterable[Row]) -> None:
    """Add entries of rows, each with its row number. Rows that were written since already have their entries."""
    marks = ", ".join(f"?{place + 1}" for place in range(len(index.order) + 1))
    changed = f"SELECT 1 FROM {changed_table(index.number)} WHERE id = ?{len(index.order) + 1}"
    sql = f"INSERT OR IGNORE INTO {entries_table(index.number)} SELECT {marks} WHERE NOT EXISTS ({changed})"
    connection.executemany(sql, rows)


def entries_to_index(connection: apsw.Connection, table: Table, index: Index) -> None:
    """Turn the table into an SQLite index."""
    name = f"index_{index.number}"
    _relabel(connection, entries_table(index.number), ("index", name, f"items_{table.id}", index.sql_create(table.id)))
    _drop_triggers(connection, index)


def index_to_entries(connection: apsw.Connection, index: Index) -> None:
    """Turn the SQLite index into a table that is no longer maintained. The caller must also change the schema.

    An unfinished index already has such a table, or no entries.
    """
    name = entries_table(index.number)
    _relabel(connection, f"index_{index.number}", ("table", name, name, _sql_entries(index)))
    _drop_triggers(connection, index)


def _relabel(connection: apsw.Connection, old: str, new: tuple[str, str, str, str]) -> None:
    """Change the schema entry of a table or index that keeps its pages; do nothing if there is no such entry.

    This does not increment SQLite's schema version, which makes other connections (and this one after a rollback)
    reload the schema. So another statement in the same transaction must change the schema.
    """
    connection.pragma("writable_schema", True)
    try:
        connection.execute(_SQL_RELABEL, (*new, old))
    finally:
        connection.pragma("writable_schema", "reset")  # turns it off, and makes this connection reload the schema


def _drop_triggers(connection: apsw.Connection, index: Index) -> None:
    for name in _TRIGGERS:
        connection.execute(f"DROP TRIGGER IF EXISTS {name}_{index.number}")
