"""Upgrading a file of an earlier format to the current format, in one transaction."""

from __future__ import annotations

from typing import Any

import apsw

from partita.errors import StoreBusy
from partita.store.embedded import _catalog, _file
from partita.store.embedded._keys import partition_hash
from partita.store.embedded._table import Table


def upgrade(connection: apsw.Connection) -> bool:
    """Add the hashes of its partition keys to every row. Return whether the file had the earlier format.

    Call this while no other process opens the file.

    Raises:
        StoreBusy: a process has the file open. If its version is an earlier one, it would write rows without hashes.
    """
    if connection.pragma("user_version") != 1:
        return False
    _refuse_used(connection)
    connection.create_scalar_function("partition_hash", _hashed, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        for table in _catalog.load(connection).tables.values():
            _add_hashes(connection, table)
        _catalog.changed(connection)
        connection.pragma("user_version", _file.WITHOUT_CHECKSUMS)
    connection.execute("COMMIT")
    connection.create_scalar_function("partition_hash", None)
    connection.pragma("journal_mode", "wal")
    return True


def _refuse_used(connection: apsw.Connection) -> None:
    patience = connection.pragma("busy_timeout")
    connection.set_busy_timeout(0)
    try:
        connection.pragma("journal_mode", "delete")  # SQLite permits this only if no other connection is open
    except apsw.BusyError as error:
        path = connection.filename
        hint = "Stop it first; then the file is upgraded to the current format."
        raise StoreBusy(f"The store {path} has an earlier format, and a process has it open.", hint=hint) from error
    finally:
        connection.set_busy_timeout(patience)


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
