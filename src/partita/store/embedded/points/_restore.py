"""Restoring the items of a table at an instant into a new table, which is filled in steps and visible when complete.

Until then the table is not in the catalog; its number is in `restoring(table_id, at)`. Unfinished tables of a killed
process are dropped by the next restore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, Final

import apsw

from partita.errors import TableInUse
from partita.runtime import chunks
from partita.store._points import RestoreTable
from partita.store._requests import Request
from partita.store._schema import TableSchema
from partita.store.embedded._catalog import definition_text
from partita.store.embedded._checks import check_readable, check_table
from partita.store.embedded._connection import Writer
from partita.store.embedded._table import Table
from partita.store.embedded.points._access import StoreAccess
from partita.store.embedded.points._past_table import opened
from partita.store.embedded.vectors import change_rows, create_rows, drop_rows_of
from partita.values import decode_item, item_size

CHUNK: Final = 500
ABANDONED_SECONDS: Final = 3_600
"""A restore that has written nothing for this time is considered abandoned."""
_SQL_RESTORING: Final = "CREATE TABLE IF NOT EXISTS restoring (table_id INTEGER PRIMARY KEY, at REAL NOT NULL)"


class BeginRestore(Request[int], frozen=True):
    """Create a table that is not visible yet. The response is its number."""

    schema: TableSchema


class FillRestored(Request[None], frozen=True):
    """Put items, in the stored form, into a table that is not visible yet."""

    number: int
    schema: TableSchema
    blobs: tuple[bytes, ...]


class FinishRestore(Request[None], frozen=True):
    """Make the table visible."""

    number: int
    schema: TableSchema


class AbandonRestore(Request[None], frozen=True):
    """Drop a table that was not finished."""

    number: int


def restore_table(access: StoreAccess, request: RestoreTable, progress: Callable[[int], object]) -> None:
    """Restore the table. `progress` receives the number of items written since its last call.

    Raises:
        RecoveryDisabled, InstantOutOfRange: the source cannot be read at this instant. TableInUse: the target exists.
    """
    with opened(access, request.table, request.instant) as past:
        fill_table(access.write, request.schema, past.blobs(), progress)


def fill_table(
    write: Callable[[Any], Any], schema: TableSchema, blobs: Iterable[bytes], progress: Callable[[int], object]
) -> None:
    """Create a table with items in the stored form, or nothing if an error occurs."""
    number = write(BeginRestore(schema))
    try:
        for chunk in chunks(blobs, CHUNK):
            write(FillRestored(number, schema, chunk))
            progress(len(chunk))
        write(FinishRestore(number, schema))
    except BaseException:
        write(AbandonRestore(number))
        raise


def begin_restore(writer: Writer, request: BeginRestore) -> int:
    """Create the table with a number that was never used before.

    Raises:
        TableInUse: a table of that name exists. ValidationFailed: the definition breaks a rule.
    """
    connection, schema, now = writer.connection, request.schema, writer.clock()
    check_readable(schema)
    check_table(schema)
    _refuse_existing(writer, schema)
    connection.execute(_SQL_RESTORING)
    old: list[Any] = connection.execute(
        "SELECT table_id FROM restoring WHERE at < ?", (now - ABANDONED_SECONDS,)
    ).fetchall()
    for (number,) in old:
        _drop(connection, number)
    connection.execute("INSERT INTO tables (name, definition, created_at) VALUES (?, '', 0)", (schema.name,))
    number = connection.last_insert_rowid()
    connection.execute("DELETE FROM tables WHERE id = ?", (number,))
    connection.execute("INSERT INTO restoring VALUES (?, ?)", (number, now))
    for name in schema.index_names:
        connection.execute("INSERT INTO indexes (table_id, name) VALUES (?, ?)", (number, name))
    table = _table(connection, number, schema)
    for sql in table.sql_create():
        connection.execute(sql)
    for index in table.vectors:
        create_rows(connection, index)
    return number


def _refuse_existing(writer: Writer, schema: TableSchema) -> None:
    if schema.name in writer.catalog.tables:
        raise TableInUse(f"Table already exists: {schema.name}")


def _table(connection: apsw.Connection, number: int, schema: TableSchema) -> Table:
    indexes = dict(connection.execute("SELECT name, id FROM indexes WHERE table_id = ?", (number,)))
    return Table(number, schema, indexes, None)


def fill_restored(writer: Writer, request: FillRestored) -> None:
    """Write the rows of some items. Items with an invalid key for an index are not in that index."""
    connection, number = writer.connection, request.number
    table = _table(connection, number, request.schema)
    rows = [row_of(table, blob) for blob in request.blobs]
    if table.vectors:
        _insert_each(connection, table, rows)
    else:
        connection.executemany(table.sql_insert, rows)
    connection.execute("UPDATE restoring SET at = ? WHERE table_id = ?", (writer.clock(), number))


def _insert_each(connection: apsw.Connection, table: Table, rows: list[tuple[Any, ...]]) -> None:
    """Write rows one by one, each with its vector index entries."""
    for row in rows:
        connection.execute(table.sql_insert, row)
        item, row_id = decode_item(row[-1]), connection.last_insert_rowid()
        for index in table.vectors:
            change_rows(connection, index, row_id, None, index.entry_or_none(item))


def row_of(table: Table, blob: bytes) -> tuple[Any, ...]:
    """The row of an item in the stored form. An item with an invalid key for an index is not in that index."""
    item = decode_item(blob)
    entries = chain.from_iterable(index.entry_or_none(item) for index in table.indexes)
    return (*table.item_columns(item), table.expiry(item), item_size(item), *entries, blob)


def finish_restore(writer: Writer, request: FinishRestore) -> None:
    """Add the table to the catalog.

    Raises:
        TableInUse: a table of that name was created meanwhile.
    """
    _refuse_existing(writer, request.schema)
    connection = writer.connection
    connection.execute(
        "INSERT INTO tables (id, name, definition, created_at) VALUES (?, ?, ?, ?)",
        (request.number, request.schema.name, definition_text(request.schema), writer.clock()),
    )
    connection.execute("DELETE FROM restoring WHERE table_id = ?", (request.number,))
    writer.catalog_changed()


def abandon_restore(writer: Writer, request: AbandonRestore) -> None:
    """Drop the unfinished table."""
    _drop(writer.connection, request.number)


def _drop(connection: apsw.Connection, number: int) -> None:
    connection.execute(f"DROP TABLE IF EXISTS items_{number}")
    drop_rows_of(connection, number)
    connection.execute("DELETE FROM indexes WHERE table_id = ?", (number,))
    connection.execute("DELETE FROM restoring WHERE table_id = ?", (number,))
