"""The entries of an index as a table of their own: until all are there, and again when the index is deleted.

    entries_<index>(columns of the index, id)    in the order of the index
    changed_<index>(id)                          rows written since: their entries are right already

SQLite makes an index in one transaction, and drops it in one. A table is filled and emptied in many. A table WITHOUT
ROWID over the columns of an index and the number of the row has the very pages that SQLite's index has: each is a
B-tree of the same records (sqlite.org/fileformat2.html, 2.4 and 2.5). So one becomes the other by what the schema says
of it, whatever its size. Triggers keep the table right while it is filled, whoever writes.
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
    """The name of the table with the rows that were written since."""
    return f"changed_{number}"


def begin_entries(connection: apsw.Connection, table: Table, index: Index) -> None:
    """Make the table, unless it is there; from here on it has the entries of all rows that are written."""
    entries, changed, items = entries_table(index.number), changed_table(index.number), f"items_{table.id}"
    old, new = (", ".join(f"{row}.{column}" for column in (*index.order, "id")) for row in ("old", "new"))
    present, touched = f"new.{index.columns[0]} IS NOT NULL", f"SELECT 1 FROM {changed} WHERE id = old.id"
    insert = f"INSERT INTO {entries} SELECT {new} WHERE {present};"
    delete = f"DELETE FROM {entries} WHERE ({', '.join((*index.order, 'id'))}) = ({old});"
    # Not OR IGNORE: the statement of whoever writes the row overrules it.
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
    """Add the entries of rows, each with the number of its row; one that was written since has its own already."""
    marks = ", ".join(f"?{place + 1}" for place in range(len(index.order) + 1))
    changed = f"SELECT 1 FROM {changed_table(index.number)} WHERE id = ?{len(index.order) + 1}"
    sql = f"INSERT OR IGNORE INTO {entries_table(index.number)} SELECT {marks} WHERE NOT EXISTS ({changed})"
    connection.executemany(sql, rows)


def entries_to_index(connection: apsw.Connection, table: Table, index: Index) -> None:
    """Let the table be SQLite's index from now on."""
    name = f"index_{index.number}"
    _relabel(connection, entries_table(index.number), ("index", name, f"items_{table.id}", index.sql_create(table.id)))
    _drop_triggers(connection, index)


def index_to_entries(connection: apsw.Connection, index: Index) -> None:
    """Let SQLite's index be a table from now on, which nobody keeps. The caller changes the schema in another way too.

    An index that is not finished has such a table already, or none.
    """
    name = entries_table(index.number)
    _relabel(connection, f"index_{index.number}", ("table", name, name, _sql_entries(index)))
    _drop_triggers(connection, index)


def _relabel(connection: apsw.Connection, old: str, new: tuple[str, str, str, str]) -> None:
    """Change what the schema says of the pages of one table or index; nothing, where there is none.

    The next statement that changes the schema raises the number by which all connections notice, and by which
    this one reads it again after a rollback. So there has to be one in the same transaction.
    """
    connection.pragma("writable_schema", True)
    try:
        connection.execute(_SQL_RELABEL, (*new, old))
    finally:
        connection.pragma("writable_schema", "reset")  # off, and this connection reads the schema again


def _drop_triggers(connection: apsw.Connection, index: Index) -> None:
    for name in _TRIGGERS:
        connection.execute(f"DROP TRIGGER IF EXISTS {name}_{index.number}")
