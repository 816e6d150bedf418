"""Global indexes of tables that are there already: made in many short transactions, and removed.

    begin      columns for its entries ── from here on, whoever writes an item writes its entry too
    fill       the entries of some thousand items ── and how far it is, in the same transaction
    …          others write between two of them
    finish     SQLite's index over the entries ── the index can be queried

So neither memory nor the log grow with the table until the last step, whose log is as large as the index. A process
that is killed leaves an unfinished index, which nobody can query; who asks for the same index again goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import apsw
import msgspec

from partita._sqlite import Handler
from partita.errors import TableNotFound, ValidationFailed
from partita.store._requests import DeleteIndex, Request, TableDescription
from partita.store._schema import IndexSchema, TableSchema
from partita.store.embedded._checks import check_index, check_readable, check_table
from partita.store.embedded._connection import Writer
from partita.store.embedded._table import Index, Table
from partita.store.embedded.tables._definitions import chunk_of, description_of, new_index, redefine
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
_REPORT_STEPS: Final = 10_000
"""Of SQLite's virtual machine, from one report of progress to the next."""
_STEPS_OF_A_ROW: Final = 10
"""That SQLite takes for a row of an index, besides one for each of its columns."""


class BeginIndex(Request[None], frozen=True):
    """Make room for an index, or find the one that was not finished."""

    table: str
    index: IndexSchema


class Filled(msgspec.Struct, frozen=True):
    """How far an index is filled: up to which row, of which; and whether that is all of them."""

    last: int
    highest: int
    is_done: bool


class FillIndex(Request[Filled], frozen=True):
    """Write the entries of the next items into an unfinished index."""

    table: str
    index: str


class FinishIndex(Request[TableDescription], frozen=True):
    """Make an index that is filled one that can be queried. `progress` gets which part of it is done, of 1."""

    table: str
    index: str
    progress: Callable[[float], object]


def begin_index(writer: Writer, request: BeginIndex) -> None:
    """Make room for an index, unless it is being made already.

    Raises:
        ValidationFailed: the index exists, or breaks a rule.
    """
    table, connection = writer.table(request.table), writer.connection
    schema = _with_index(table, request.index)
    check_readable(schema)
    if request.index.local:
        raise ValidationFailed("A local index can only be created together with its table")
    if any(index.schema == request.index for index in table.building):
        return
    refuse_known(table, request.index.name)
    check_index(schema, request.index)
    check_table(schema)
    connection.execute(_SQL_TABLE)
    number = new_index(connection, table.id, request.index.name)
    for column in Index(table.id, number, request.index, schema).columns:
        connection.execute(f"ALTER TABLE items_{table.id} ADD COLUMN {column}")
    definition = msgspec.json.encode(request.index).decode()
    connection.execute(_SQL_BEGIN, (number, table.id, definition))
    writer.catalog_changed()


def _with_index(table: Table, index: IndexSchema) -> TableSchema:
    return msgspec.structs.replace(table.schema, indexes=(*table.schema.indexes, index))


def refuse_known(table: Table, name: str) -> None:
    """Raise ValidationFailed where a table has an index of that name, be it unfinished."""
    known = {*table.schema.index_names, *(index.name for index in table.building)}
    if name in known:
        raise ValidationFailed(f"Attempting to create an index which already exists: {name}")


def fill_index(writer: Writer, request: FillIndex) -> Filled:
    """Write some entries; items whose keys do not fit are left off the index."""
    table, connection = writer.table(request.table), writer.connection
    index = _unfinished(table, request.index)
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


def _unfinished(table: Table, name: str) -> Index | None:
    """The index that is being made; None where it is finished.

    Raises:
        TableNotFound: it was deleted meanwhile.
    """
    if table.schema.index(name) is not None:
        return None
    for index in table.building:
        if index.name == name:
            return index
    raise _not_found(name)


def finish_index(writer: Writer, request: FinishIndex) -> TableDescription:
    """Sort the entries, and let the index be queried. Writers wait meanwhile, readers do not."""
    table, connection = writer.table(request.table), writer.connection
    index = _unfinished(table, request.index)
    if index is None:
        return description_of(writer, table.name)
    with _reporting(connection, table, index, request.progress):
        connection.execute(index.sql_create(table.id))
    connection.execute(_SQL_FORGET, (index.number,))
    return redefine(writer, table, _with_index(table, index.schema))


@contextmanager
def _reporting(
    connection: apsw.Connection, table: Table, index: Index, progress: Callable[[float], object]
) -> Iterator[None]:
    rows = connection.execute(f"SELECT max(id) FROM items_{table.id}").get or 1
    steps = rows * (_STEPS_OF_A_ROW + len(index.columns) + len(index.ties) + 1)
    done = 0

    def report() -> bool:
        nonlocal done
        done += _REPORT_STEPS
        progress(min(done / steps, 1.0))
        return False

    connection.set_progress_handler(report, _REPORT_STEPS)
    try:
        yield
    finally:
        connection.set_progress_handler(None)


def delete_index(writer: Writer, request: DeleteIndex) -> TableDescription:
    """Remove a global index, or one that is not finished.

    Raises:
        TableNotFound: there is no such global index.
    """
    table, connection = writer.table(request.table), writer.connection
    every = (*table.indexes, *table.building)
    index = next((index for index in every if index.name == request.index and not index.local), None)
    if index is None:
        raise _not_found(request.index)
    connection.execute(f"DROP INDEX IF EXISTS index_{index.number}")
    for column in index.columns:
        connection.execute(f"ALTER TABLE items_{table.id} DROP COLUMN {column}")
    connection.execute("DELETE FROM indexes WHERE id = ?", (index.number,))
    if index in table.building:
        connection.execute(_SQL_FORGET, (index.number,))
    left = tuple(other for other in table.schema.indexes if other.name != request.index)
    return redefine(writer, table, msgspec.structs.replace(table.schema, indexes=left))


def _not_found(name: str) -> TableNotFound:
    return TableNotFound(f"Requested resource not found: Index: {name} not found")


INDEXES: Final[Mapping[type, Handler]] = {
    BeginIndex: begin_index,
    FillIndex: fill_index,
    FinishIndex: finish_index,
    DeleteIndex: delete_index,
}
"""What makes and removes global indexes, by the type of the request. `create_index` runs the first three."""
