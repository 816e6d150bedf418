"""Adding vector indexes to existing tables, and deleting them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from partita._sqlite import Handler
from partita.errors import TableNotFound
from partita.store._requests import TableDescription
from partita.store._vector_requests import CreateVectorIndex, DeleteVectorIndex
from partita.store.embedded._checks import check_readable, check_table
from partita.store.embedded._connection import Writer
from partita.store.embedded.tables._chunks import items_of
from partita.store.embedded.tables._definitions import new_index, redefine, refuse_known
from partita.store.embedded.vectors import VectorIndex, create_rows, drop_rows, fill_rows


def create_vector_index(writer: Writer, request: CreateVectorIndex) -> TableDescription:
    """Add a vector index and fill it. Items with invalid vectors for the index are not in it.

    Raises:
        ValidationFailed: the index exists or breaks a rule.
    """
    table, connection = writer.table(request.table), writer.connection
    schema = msgspec.structs.replace(table.schema, vectors=(*table.schema.vectors, request.index))
    check_readable(schema)
    refuse_known(table, request.index.name)
    check_table(schema)
    index = VectorIndex(new_index(connection, table.id, request.index.name), request.index, schema)
    create_rows(connection, index)
    fill_rows(connection, index, items_of(connection, table))
    return redefine(writer, table, schema)


def delete_vector_index(writer: Writer, request: DeleteVectorIndex) -> TableDescription:
    """Delete a vector index.

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
    return redefine(writer, table, msgspec.structs.replace(table.schema, vectors=left))


VECTOR_INDEXES: Final[Mapping[type, Handler]] = {
    CreateVectorIndex: create_vector_index,
    DeleteVectorIndex: delete_vector_index,
}
"""The functions that create and delete vector indexes, by the type of the request."""
