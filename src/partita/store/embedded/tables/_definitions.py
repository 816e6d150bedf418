"""Creating, describing and changing tables, their TTL and their streams."""

from __future__ import annotations

from typing import Any, Final

import apsw
import msgspec

from partita._sqlite import refuse_moved
from partita.errors import TableInUse, ValidationFailed
from partita.store._requests import (
    CreateTable,
    DeleteTable,
    DescribeTable,
    ListTables,
    SetStream,
    SetTimeToLive,
    TableDescription,
)
from partita.store._schema import TableSchema
from partita.store.embedded import _streams, points
from partita.store.embedded._catalog import definition_text
from partita.store.embedded._checks import check_name_length, check_readable, check_table
from partita.store.embedded._connection import Reader, Writer
from partita.store.embedded._table import Table
from partita.store.embedded._table_stats import table_stats
from partita.store.embedded.tables._chunks import items_of
from partita.store.embedded.tables._index_work import drop_leftovers
from partita.store.embedded.vectors import create_rows, drop_rows

_SQL_CREATE: Final = "INSERT INTO tables (name, definition, created_at) VALUES (?, ?, ?)"
_SQL_INDEX: Final = "INSERT INTO indexes (table_id, name) VALUES (?, ?)"
_SQL_DEFINE: Final = "UPDATE tables SET definition = ? WHERE id = ?"


def create_table(writer: Writer, request: CreateTable) -> TableDescription:
    """Create the table with its indexes and stream.

    Raises:
        TableInUse: the table exists. ValidationFailed: its definition breaks a rule.
    """
    schema, connection, now = request.schema, writer.connection, writer.clock()
    check_readable(schema)
    check_table(schema)
    if schema.name in writer.catalog.tables:
        raise TableInUse(f"Table already exists: {schema.name}")
    connection.execute(_SQL_CREATE, (schema.name, definition_text(schema), now))
    number = connection.last_insert_rowid()
    indexes = {name: new_index(connection, number, name) for name in schema.index_names}
    table = Table(number, schema, indexes, None)
    for sql in table.sql_create():
        connection.execute(sql)
    for index in table.vectors:
        create_rows(connection, index)
    if schema.stream is not None:
        _streams.enable(connection, number, schema.stream, now, complete=True)
    writer.catalog_changed()
    return description_of(writer, schema.name)


def new_index(connection: apsw.Connection, table_id: int, name: str) -> int:
    """Assign a number to a new index and return it."""
    connection.execute(_SQL_INDEX, (table_id, name))
    return connection.last_insert_rowid()


def refuse_known(table: Table, name: str) -> None:
    """Raise ValidationFailed if a table has an index of that name, even an unfinished one."""
    known = {*table.schema.index_names, *(index.name for index in table.building)}
    if name in known:
        raise ValidationFailed(f"Attempting to create an index which already exists: {name}")


def describe_table(reader: Reader, request: DescribeTable) -> TableDescription:
    """Describe the current state of a table, with its approximate number of items.

    Raises:
        StoreMoved: the file is no longer at its path; health checks rely on this check.
    """
    refuse_moved(reader.connection)
    reader.refresh()  # another process may have changed it
    return description_of(reader, request.table)


def description_of(reader: Reader, name: str) -> TableDescription:
    """The description of a table from the catalog of this reader."""
    table, connection = reader.table(name), reader.connection
    count, size = table_stats(connection, f"items_{table.id}")
    created_at = connection.execute("SELECT created_at FROM tables WHERE id = ?", (table.id,)).get
    return TableDescription(table.schema, created_at, count, size, _streams.latest_id(connection, table))


def list_tables(reader: Reader, _: ListTables) -> tuple[str, ...]:
    """All table names, sorted."""
    rows: list[Any] = reader.connection.execute("SELECT name FROM tables ORDER BY name").fetchall()
    return tuple(name for (name,) in rows)


def delete_table(writer: Writer, request: DeleteTable) -> TableDescription:
    """Remove the table with its items, indexes and streams."""
    description, table = description_of(writer, request.table), writer.table(request.table)
    _streams.drop_all(writer.connection, table.id)
    drop_rows(writer.connection, table.vectors)
    points.drop(writer.connection, table.id)
    writer.connection.execute(f"DROP TABLE items_{table.id}")
    drop_leftovers(writer.connection, table)
    for index in table.building:
        writer.connection.execute("DELETE FROM index_builds WHERE number = ?", (index.number,))
    writer.connection.execute("DELETE FROM indexes WHERE table_id = ?", (table.id,))
    writer.connection.execute("DELETE FROM tables WHERE id = ?", (table.id,))
    writer.catalog_changed()
    return description


def redefine(writer: Writer, table: Table, schema: TableSchema) -> TableDescription:
    """Replace the definition of a table."""
    writer.connection.execute(_SQL_DEFINE, (definition_text(schema), table.id))
    writer.catalog_changed()
    return description_of(writer, schema.name)


def set_time_to_live(writer: Writer, request: SetTimeToLive) -> TableDescription:
    """Set the attribute that contains the expiry time of an item, or disable TTL with None.

    Raises:
        ValidationFailed: nothing would change, TTL is enabled with another attribute, or the name is invalid.
    """
    table = writer.table(request.table)
    schema = msgspec.structs.replace(table.schema, ttl=request.attribute)
    check_readable(schema)
    current = table.schema.ttl
    if request.attribute == current:
        raise ValidationFailed(f"TimeToLive is already {'disabled' if current is None else 'enabled'}")
    if request.attribute is not None:
        check_name_length(request.attribute)
        if current is not None:
            message = "TimeToLive is active on a different AttributeName: current AttributeName is "
            raise ValidationFailed(message + current)
    description = redefine(writer, table, schema)
    _fill_expiry(writer.connection, writer.table(request.table))
    return description


def _fill_expiry(connection: apsw.Connection, table: Table) -> None:
    if table.schema.ttl is None:
        connection.execute(f"UPDATE items_{table.id} SET ttl = NULL WHERE ttl IS NOT NULL")
        return
    sql = f"UPDATE items_{table.id} SET ttl = ? WHERE id = ?"
    for row_id, item in items_of(connection, table):
        connection.execute(sql, (table.expiry(item), row_id))


def set_stream(writer: Writer, request: SetStream) -> TableDescription:
    """Enable the table's stream with a view, or disable it with None.

    Raises:
        ValidationFailed: the stream is already enabled or disabled, or the view is invalid.
    """
    table, now = writer.table(request.table), writer.clock()
    schema = msgspec.structs.replace(table.schema, stream=request.view)
    check_readable(schema)
    if request.view is None:
        if table.stream is None:
            raise ValidationFailed(f"Table has no enabled stream to disable: TableName: {table.name}")
        _streams.disable(writer.connection, table.id, now)
    else:
        if table.stream is not None:
            raise ValidationFailed(f"Table already has an enabled stream: TableName: {table.name}")
        _streams.enable(writer.connection, table.id, request.view, now, complete=False)
    return redefine(writer, table, schema)
