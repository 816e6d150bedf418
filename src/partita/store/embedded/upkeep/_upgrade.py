"""Upgrading a file of an earlier format to the current format, in one transaction.

Format 1 had no hashes of partition keys, and format 2 has them. Format 3 is format 2 with page checksums. In all three,
SQLite numbered the records of streams (`AUTOINCREMENT`), which wrote one more page for each record.
"""

from __future__ import annotations

from typing import Any, Final

import apsw

from partita.errors import StoreBusy
from partita.store.embedded import _catalog, _file
from partita.store.embedded._keys import partition_hash
from partita.store.embedded._table import Table

_WITHOUT_HASHES: Final = 1
_FORMER_WITH_CHECKSUMS: Final = 3
_SQL_EXPLICIT: Final = (
    "UPDATE sqlite_schema SET sql = replace(sql, ' AUTOINCREMENT', '') WHERE type = 'table' AND name GLOB 'changes_*'"
)


def upgrade(connection: apsw.Connection) -> bool:
    """Upgrade the file, and return whether it had an earlier format. Checksums are added separately.

    Call this while no other process opens the file.

    Raises:
        StoreBusy: a process has the file open. If its version is an earlier one, it would write in the earlier format.
    """
    version = connection.pragma("user_version")
    if version >= _file.WITHOUT_CHECKSUMS:
        return False
    _refuse_used(connection)
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        if version == _WITHOUT_HASHES:
            _add_all_hashes(connection)
        _number_explicitly(connection)
        _catalog.changed(connection)
        has_checksums = version == _FORMER_WITH_CHECKSUMS
        connection.pragma("user_version", _file.FORMAT_VERSION if has_checksums else _file.WITHOUT_CHECKSUMS)
    connection.execute("COMMIT")
    connection.execute("PRAGMA writable_schema = RESET")  # read the changed definitions
    connection.pragma("journal_mode", "wal")
    return True


def _number_explicitly(connection: apsw.Connection) -> None:
    """Remove `AUTOINCREMENT` from the tables of stream records. Only their definition differs, not their rows."""
    schema_version = connection.pragma("schema_version")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(_SQL_EXPLICIT)
    connection.execute("DELETE FROM sqlite_sequence WHERE name GLOB 'changes_*'")
    connection.pragma("schema_version", schema_version + 1)


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


def _add_all_hashes(connection: apsw.Connection) -> None:
    connection.create_scalar_function("partition_hash", _hashed, deterministic=True)
    for table in _catalog.load(connection).tables.values():
        _add_hashes(connection, table)
    connection.create_scalar_function("partition_hash", None)


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
