"""Deleting a global index: it is gone at once, and what it leaves is cleared in many short transactions.

    begin      the index is not in the catalog; its entries are a table that nobody keeps, its columns are unused
    clear      some of those entries; then the columns of some rows ── and how far it is, in the same transaction
    …          others write between two of them

Whoever deletes an index waits for all of it. What a killed process leaves, `sweep` clears.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from partita._sqlite import Handler
from partita.errors import TableNotFound
from partita.store._requests import DeleteIndex, Request, TableDescription
from partita.store.embedded._connection import Writer
from partita.store.embedded.tables._definitions import redefine
from partita.store.embedded.tables._index_columns import leave_columns
from partita.store.embedded.tables._index_entries import index_to_entries
from partita.store.embedded.tables._index_progress import log_of
from partita.store.embedded.tables._leftovers import Cleared, clear_some, leave

_SQL_FORGET: Final = "DELETE FROM index_builds WHERE number = ?"


class Removal(msgspec.Struct, frozen=True):
    """An index that is removed: its number, the number of the last row, and its table without it."""

    number: int
    rows: int
    description: TableDescription


class BeginRemoval(Request[Removal], frozen=True):
    """Take a global index out of the catalog, be it unfinished."""

    table: str
    index: str


class ClearLeftovers(Request[Cleared], frozen=True):
    """Clear some of what an index has left."""

    number: int


def delete_index(write: Callable[[Any], Any], request: DeleteIndex) -> TableDescription:
    """Remove a global index, or one that is not finished; every tenth is logged.

    Raises:
        TableNotFound: there is no such global index.
    """
    removal: Removal = write(BeginRemoval(request.table, request.index))
    report = log_of("The index %s is being deleted from the table %s: %d %%.", request.index, request.table)
    clear_all(write, removal.number, lambda part: report(int(part * removal.rows), removal.rows))
    report(removal.rows, removal.rows)
    return removal.description


def clear_all(write: Callable[[Any], Any], number: int, report: Callable[[float], object] = lambda _: None) -> None:
    """Clear all that an index has left; `report` gets which part is done, of 1."""
    cleared: Cleared = write(ClearLeftovers(number))
    while not cleared.is_done:
        report(cleared.part)
        cleared = write(ClearLeftovers(number))


def begin_removal(writer: Writer, request: BeginRemoval) -> Removal:
    """Take the index out of the catalog.

    Raises:
        TableNotFound: there is no such global index.
    """
    table, connection = writer.table(request.table), writer.connection
    every = (*table.indexes, *table.building)
    index = next((index for index in every if index.name == request.index and not index.local), None)
    if index is None:
        raise index_not_found(request.index)
    index_to_entries(connection, index)
    leave(connection, table, index, leave_columns(connection, table, index))
    connection.execute("DELETE FROM indexes WHERE id = ?", (index.number,))
    if index in table.building:
        connection.execute(_SQL_FORGET, (index.number,))
    left = tuple(other for other in table.schema.indexes if other.name != request.index)
    rows: int = connection.execute(f"SELECT max(id) FROM items_{table.id}").get or 0
    return Removal(index.number, rows, redefine(writer, table, msgspec.structs.replace(table.schema, indexes=left)))


def index_not_found(name: str) -> TableNotFound:
    """The error for an index that is not there."""
    return TableNotFound(f"Requested resource not found: Index: {name} not found")


def clear_leftovers(writer: Writer, request: ClearLeftovers) -> Cleared:
    """Clear some of what was left."""
    return clear_some(writer.connection, request.number)


REMOVAL: Final[Mapping[type, Handler]] = {BeginRemoval: begin_removal, ClearLeftovers: clear_leftovers}
"""What removes global indexes, by the type of the request. `delete_index` runs both."""
