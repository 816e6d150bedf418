"""Creating, describing and changing tables, their indexes, TTL and streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import apsw
import msgspec

from partita._sqlite import Handler, refuse_moved
from partita.errors import TableInUse, TableNotFound, ValidationFailed
from partita.store._requests import (
    CreateIndex,
    CreateTable,
    DeleteIndex,
    DeleteTable,
    DescribeTable,
    ListTables,
    SetStream,
    SetTimeToLive,
    TableDescription,
)
from partita.store._schema import TableSchema
from partita.store._vector_requests import CreateVectorIndex, DeleteVectorIndex
from partita.store.embedded import _streams, points
from partita.store.embedded._catalog import definition_text
from partita.store.embedded._checks import check_index, check_name_length, check_readable, check_table
from partita.store.embedded._connection import Reader, Writer
from partita.store.embedded._table import ITEM, Index, Table
from partita.store.embedded._table_stats import table_stats
from partita.store.embedded.vectors import VectorIndex, create_rows, drop_rows, fill_rows
from partita.values import Item, decode_item

_SQL_CREATE: Final = "INSERT INTO tables (name, definition, created_at) VALUES (?, ?, ?)"
_SQL_INDEX: Final = "INSERT INTO indexes (table_id, name) VALUES (?, ?)"
_SQL_DEFINE: Final = "UPDATE tables SET definition = ? WHERE id = ?"
_CHUNK: Final = 500


def create_table(writer: Writer, request: CreateTable) -> TableDescription:
    """Make the table with its indexes and stream.

    Raises:
        TableInUse: it exists. ValidationFailed: its definition breaks a rule.
    """
    schema, connection, now = request.schema, writer.connection, writer.clock()
    check_readable(schema)
    check_table(schema)
    if schema.name in writer.catalog.tables:
        raise TableInUse(f"Table already exists: {schema.name}")
    connection.execute(_SQL_CREATE, (schema.name, definition_text(schema), now))
    number = connection.last_insert_rowid()
    indexes = {name: _new_index(connection, number, name) for name in schema.index_names}
    table = Table(number, schema, indexes, None)
    for sql in table.sql_create():
        connection.execute(sql)
    for index in table.vectors:
        create_rows(connection, index)
    if schema.stream is not None:
        _streams.enable(connection, number, schema.stream, now, complete=True)
    writer.catalog_changed()
    return _describe(writer, schema.name)


def _new_index(connection: apsw.Connection, table_id: int, name: str) -> int:
    connection.execute(_SQL_INDEX, (table_id, name))
    return connection.last_insert_rowid()


def describe_table(reader: Reader, request: DescribeTable) -> TableDescription:
    """The table as it is now, with about how many items it holds.

    Raises:
        StoreMoved: the file is not at its path any more; whoever asks after its health learns it here.
    """
    refuse_moved(reader.connection)
    reader.refresh()  # another process may have changed it
    return _describe(reader, request.table)


def _describe(reader: Reader, name: str) -> TableDescription:
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
    description, table = _describe(writer, request.table), writer.table(request.table)
    _streams.drop_all(writer.connection, table.id)
    drop_rows(writer.connection, table.vectors)
    points.drop(writer.connection, table.id)
    writer.connection.execute(f"DROP TABLE items_{table.id}")
    writer.connection.execute("DELETE FROM indexes WHERE table_id = ?", (table.id,))
    writer.connection.execute("DELETE FROM tables WHERE id = ?", (table.id,))
    writer.catalog_changed()
    return description


def create_index(writer: Writer, request: CreateIndex) -> TableDescription:
    """Add a global index and fill it; items whose keys do not fit are left off it.

    Raises:
        ValidationFailed: the index exists, or breaks a rule.
    """
    table, connection = writer.table(request.table), writer.connection
    schema = msgspec.structs.replace(table.schema, indexes=(*table.schema.indexes, request.index))
    check_readable(schema)
    if request.index.local:
        raise ValidationFailed("A local index can only be created together with its table")
    _refuse_known(table, request.index.name)
    check_index(schema, request.index)
    check_table(schema)
    index = Index(table.id, _new_index(connection, table.id, request.index.name), request.index, schema)
    for column in index.columns:
        connection.execute(f"ALTER TABLE items_{table.id} ADD COLUMN {column}")
    _fill_index(connection, table, index)
    connection.execute(index.sql_create(table.id))
    return _redefine(writer, table, schema)


def _fill_index(connection: apsw.Connection, table: Table, index: Index) -> None:
    columns = ", ".join(f"{column} = ?" for column in index.columns)
    sql = f"UPDATE items_{table.id} SET {columns} WHERE id = ?"
    for row_id, item in _items(connection, table):
        connection.execute(sql, (*index.entry_or_none(item), row_id))


def _items(connection: apsw.Connection, table: Table) -> Iterator[tuple[int, Item]]:
    """Every item with its row; in chunks, so that rows may be changed between them."""
    sql, last = f"SELECT id, {ITEM} FROM items_{table.id} WHERE id > ? ORDER BY id LIMIT {_CHUNK}", 0
    while rows := _fetched(connection, sql, last):
        for row_id, blob in rows:
            yield row_id, decode_item(blob)
        last = rows[-1][0]


def _fetched(connection: apsw.Connection, sql: str, last: int) -> list[Any]:
    return connection.execute(sql, (last,)).fetchall()


def _redefine(writer: Writer, table: Table, schema: TableSchema) -> TableDescription:
    writer.connection.execute(_SQL_DEFINE, (definition_text(schema), table.id))
    writer.catalog_changed()
    return _describe(writer, schema.name)


def delete_index(writer: Writer, request: DeleteIndex) -> TableDescription:
    """Remove a global index.

    Raises:
        TableNotFound: there is no such global index.
    """
    table, connection = writer.table(request.table), writer.connection
    index = next((index for index in table.indexes if index.name == request.index and not index.local), None)
    if index is None:
        raise TableNotFound(f"Requested resource not found: Index: {request.index} not found")
    connection.execute(f"DROP INDEX index_{index.number}")
    for column in index.columns:
        connection.execute(f"ALTER TABLE items_{table.id} DROP COLUMN {column}")
    connection.execute("DELETE FROM indexes WHERE id = ?", (index.number,))
    left = tuple(other for other in table.schema.indexes if other.name != request.index)
    return _redefine(writer, table, msgspec.structs.replace(table.schema, indexes=left))


def create_vector_index(writer: Writer, request: CreateVectorIndex) -> TableDescription:
    """Add a vector index and fill it; items whose vectors do not fit are left off it.

    Raises:
        ValidationFailed: the index exists, or breaks a rule.
    """
    table, connection = writer.table(request.table), writer.connection
    schema = msgspec.structs.replace(table.schema, vectors=(*table.schema.vectors, request.index))
    check_readable(schema)
    _refuse_known(table, request.index.name)
    check_table(schema)
    index = VectorIndex(_new_index(connection, table.id, request.index.name), request.index, schema)
    create_rows(connection, index)
    fill_rows(connection, index, _items(connection, table))
    return _redefine(writer, table, schema)


def delete_vector_index(writer: Writer, request: DeleteVectorIndex) -> TableDescription:
    """Remove a vector index.

    Raises:
        TableNotFound: there is no such vector index.
    """
    table = writer.table(request.table)
    gone = [index for index in table.vectors if index.name == request.index]
    if not gone:
        raise TableNotFound(f"Requested resource not found: Index: {request.index} not found")
    drop_rows(writer.connection, gone)
    writer.connection.execute("DELETE FROM indexes WHERE id = ?", (gone[0].number,))
    left = tuple(other for other in table.schema.vectors if other.name != request.index)
    return _redefine(writer, table, msgspec.structs.replace(table.schema, vectors=left))


def _refuse_known(table: Table, name: str) -> None:
    if table.schema.index(name) is not None or table.schema.vector(name) is not None:
        raise ValidationFailed(f"Attempting to create an index which already exists: {name}")


def set_time_to_live(writer: Writer, request: SetTimeToLive) -> TableDescription:
    """Name the attribute that says when an item expires, or none.

    Raises:
        ValidationFailed: TTL is so already, or is on with another attribute; or the attribute has no name.
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
    description = _redefine(writer, table, schema)
    _fill_expiry(writer.connection, writer.table(request.table))
    return description


def _fill_expiry(connection: apsw.Connection, table: Table) -> None:
    if table.schema.ttl is None:
        connection.execute(f"UPDATE items_{table.id} SET ttl = NULL WHERE ttl IS NOT NULL")
        return
    sql = f"UPDATE items_{table.id} SET ttl = ? WHERE id = ?"
    for row_id, item in _items(connection, table):
        connection.execute(sql, (table.expiry(item), row_id))


def set_stream(writer: Writer, request: SetStream) -> TableDescription:
    """Enable the table's stream with a view, or disable it.

    Raises:
        ValidationFailed: it is enabled, or disabled, already; or there is no such view.
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
    return _redefine(writer, table, schema)


VECTOR_INDEXES: Final[Mapping[type, Handler]] = {
    CreateVectorIndex: create_vector_index,
    DeleteVectorIndex: delete_vector_index,
}
"""What makes and removes vector indexes, by the type of the request."""
