"""Adding a global index to an existing table, in many short transactions.

    begin      add columns for its entries to the rows ── from here on, each write of an item also writes its entry
    fill       write the entries of up to a thousand rows ── and save the progress in the same transaction
    …          other writers run between these transactions
    entries    create a table for all entries in order, which triggers maintain for all writes from here on
    add        add up to a thousand of the other entries, sorted
    …          other writers run between these transactions
    finish     turn the table into an SQLite index ── the index can be queried

So neither memory use, nor the log, nor the wait of other writers grows with the size of the table. A killed process
leaves an unfinished index, which cannot be queried; creating the same index again resumes its build.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from partita._sqlite import Handler
from partita.errors import ValidationFailed
from partita.store._requests import Request, TableDescription
from partita.store._schema import IndexSchema, TableSchema
from partita.store.embedded._checks import check_index, check_readable, check_table
from partita.store.embedded._connection import Writer
from partita.store.embedded._table import Index, Row, Table
from partita.store.embedded.tables._chunks import chunk_of
from partita.store.embedded.tables._definitions import description_of, new_index, redefine, refuse_known
from partita.store.embedded.tables._index_columns import make_columns
from partita.store.embedded.tables._index_entries import add_entries, begin_entries, entries_to_index
from partita.store.embedded.tables._index_removal import index_not_found
from partita.store.embedded.tables._leftovers import leave, left_by
from partita.values import decode_item

_SQL_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS index_builds (
        number INTEGER PRIMARY KEY, table_id INTEGER NOT NULL, definition TEXT NOT NULL, last INTEGER NOT NULL
    )
"""
_SQL_BEGIN: Final = "INSERT INTO index_builds VALUES (?, ?, ?, 0)"
_SQL_LAST: Final = "SELECT last FROM index_builds WHERE number = ?"
_SQL_ADVANCE: Final = "UPDATE index_builds SET last = ? WHERE number = ?"
_SQL_FORGET: Final = "DELETE FROM index_builds WHERE number = ?"


class BeginIndex(Request[int], frozen=True):
    """Begin an index, or find the unfinished one. The response is its number."""

    table: str
    index: IndexSchema


class Filled(msgspec.Struct, frozen=True):
    """The progress of filling an index: the last filled row, the highest row, and whether all rows are filled."""

    last: int
    highest: int
    is_done: bool


class FillIndex(Request[Filled], frozen=True):
    """Write the entries of the next items into an unfinished index."""

    table: str
    index: str
    number: int


class EntrySource(msgspec.Struct, frozen=True):
    """The table and columns that contain the entries of an index."""

    items: str
    columns: tuple[str, ...]


class BeginEntries(Request[EntrySource | None], frozen=True):
    """Create the table of entries of a filled index. The response is None if the index is already finished."""

    table: str
    index: str
    number: int


class AddEntries(Request[None], frozen=True):
    """Add some entries to that table, each with its row number."""

    table: str
    index: str
    number: int
    entries: list[Row]


class FinishIndex(Request[TableDescription], frozen=True):
    """Make an index with all its entries available for queries."""

    table: str
    index: str
    number: int


def begin_index(writer: Writer, request: BeginIndex) -> int:
    """Begin an index, or return the number of the same unfinished index.

    Raises:
        ValidationFailed: the index exists or breaks a rule.
    """
    table, connection = writer.table(request.table), writer.connection
    schema = _with_index(table, request.index)
    check_readable(schema)
    if request.index.local:
        raise ValidationFailed("A local index can only be created together with its table")
    for unfinished in table.building:
        if unfinished.schema == request.index:
            return unfinished.number
    refuse_known(table, request.index.name)
    check_index(schema, request.index)
    check_table(schema)
    connection.execute(_SQL_TABLE)
    number = new_index(connection, table.id, request.index.name)
    index = Index(table.id, number, request.index, schema)
    make_columns(connection, table, index, being_cleared=left_by(connection, table))
    definition = msgspec.json.encode(request.index).decode()
    connection.execute(_SQL_BEGIN, (number, table.id, definition))
    writer.catalog_changed()
    return number


def _with_index(table: Table, index: IndexSchema) -> TableSchema:
    return msgspec.structs.replace(table.schema, indexes=(*table.schema.indexes, index))


def fill_index(writer: Writer, request: FillIndex) -> Filled:
    """Write some entries. Items with invalid keys for the index are not in it."""
    table, connection = writer.table(request.table), writer.connection
    index = _unfinished(table, request)
    if index is None:  # another process has finished it
        return Filled(1, 1, is_done=True)
    rows = chunk_of(connection, table, connection.execute(_SQL_LAST, (index.number,)).get)
    sql = f"UPDATE items_{table.id} SET {', '.join(f'{column} = ?' for column in index.columns)} WHERE id = ?"
    entries = [(index.entry_or_none(decode_item(blob)), row_id) for row_id, blob in rows]
    connection.executemany(sql, [(*entry, row_id) for entry, row_id in entries if entry is not index.empty])
    highest = connection.execute(f"SELECT max(id) FROM items_{table.id}").get or 0
    last = rows[-1][0] if rows else highest
    connection.execute(_SQL_ADVANCE, (last, index.number))
    return Filled(last, highest, is_done=last >= highest)


def _unfinished(table: Table, request: FillIndex | BeginEntries | AddEntries | FinishIndex) -> Index | None:
    """The index that is being built; None if it is finished.

    Raises:
        TableNotFound: it was deleted meanwhile, even if there is another index of that name.
    """
    if any(index.number == request.number for index in table.indexes):
        return None
    for index in table.building:
        if index.number == request.number:
            return index
    raise index_not_found(request.index)


def begin_entries_of(writer: Writer, request: BeginEntries) -> EntrySource | None:
    """Create the table of entries unless it exists."""
    table = writer.table(request.table)
    index = _unfinished(table, request)
    if index is None:
        return None
    begin_entries(writer.connection, table, index)
    return EntrySource(f"items_{table.id}", index.order)


def add_entries_of(writer: Writer, request: AddEntries) -> None:
    """Add entries, except those of rows that were written since, which already have theirs."""
    index = _unfinished(writer.table(request.table), request)
    if index is not None:
        add_entries(writer.connection, index, request.entries)


def finish_index(writer: Writer, request: FinishIndex) -> TableDescription:
    """Make the index available for queries."""
    table, connection = writer.table(request.table), writer.connection
    index = _unfinished(table, request)
    if index is None:
        return description_of(writer, table.name)
    entries_to_index(connection, table, index)
    leave(connection, table, index)
    connection.execute(_SQL_FORGET, (index.number,))
    return redefine(writer, table, _with_index(table, index.schema))


INDEXES: Final[Mapping[type, Handler]] = {
    BeginIndex: begin_index,
    FillIndex: fill_index,
    BeginEntries: begin_entries_of,
    AddEntries: add_entries_of,
    FinishIndex: finish_index,
}
"""The functions that build global indexes, by the type of the request, in order. `create_index` runs them."""
