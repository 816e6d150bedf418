"""Upgrading a file of an earlier format to the current format, in one transaction."""

from __future__ import annotations

from typing import Any

import apsw

from partita.store.embedded import _catalog, _file
from partita.store.embedded._keys import partition_hash
from partita.store.embedded._table import Table


def upgrade(connection: apsw.Connection) -> bool:
    """Add the hashes of its partition keys to every row. Return whether the file had the earlier format.

    Call this while no other process writes. Processes that have the file open with an earlier version then fail.
    """
    if connection.pragma("user_version") != 1:
        return False
    connection.create_scalar_function("partition_hash", _hashed, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        for table in _catalog.load(connection).tables.values():
            _add_hashes(connection, table)
        _catalog.changed(connection)
        connection.pragma("user_version", _file.WITHOUT_CHECKSUMS)
    connection.execute("COMMIT")
    connection.create_scalar_function("partition_hash", None)
    return True


def _hashed(*columns: Any) -> int | None:
    return None if columns[0] is None else partition_hash(*columns)


def _add_hashes(connection: apsw.Connection, table: Table) -> None:
    items, hashes = f"items_{table.id}", {"hh": "partition_hash(hk)"}
    connection.execute(f"DROP INDEX key_{table.id}")
    connection.execute(f"ALTER TABLE {items} ADD COLUMN hh NOT NULL DEFAULT 0")
    for index in table.indexes:
        connection.execute(f"DROP INDEX index_{index.number}")
        if not index.local:
            connection.execute(f"ALTER TABLE {items} ADD COLUMN {index.order_column}")
            hashes[index.order_column] = f"partition_hash({', '.join(index.hash_columns)})"
    changes = ", ".join(f"{column} = {value}" for column, value in hashes.items())
    connection.execute(f"UPDATE {items} SET {changes}")
    for sql in (table.sql_create_key(), *(index.sql_create(table.id) for index in table.indexes)):
        connection.execute(sql)
