"""Deleting a global index: it disappears at once, and its leftovers are cleared in many short transactions.

    begin      remove the index from the catalog; its entries become an unused table, its columns unused columns
    clear      delete some of those entries, then clear the columns of some rows ── and save the progress
    …          other writers run between these transactions

The caller waits until everything is cleared. If the process is killed, `sweep` clears the rest.
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
    """A removed index: its number, the number of the last row, and the description of its table without it."""

    number: int
    rows: int
    description: TableDescription


class BeginRemoval(Request[Removal], frozen=True):
    """Remove a finished or unfinished global index from the catalog."""

    table: str
    index: str


class ClearLeftovers(Request[Cleared], frozen=True):
    """Clear some leftovers of an index."""

    number: int


def delete_index(write: Callable[[Any], Any], request: DeleteIndex) -> TableDescription:
    """Delete a finished or unfinished global index. Progress is logged in steps of ten percent.

    Raises:
        TableNotFound: there is no such global index.
    """
    removal: Removal = write(BeginRemoval(request.table, request.index))
    report = log_of("The index %s is being deleted from the table %s: %d %%.", request.index, request.table)
    clear_all(write, removal.number, lambda part: report(int(part * removal.rows), removal.rows))
    report(removal.rows, removal.rows)
    return removal.description


def clear_all(write: Callable[[Any], Any], number: int, report: Callable[[float], object] = lambda _: None) -> None:
    """Clear all leftovers of an index; `report` receives the fraction that is done, from 0 to 1."""
    cleared: Cleared = write(ClearLeftovers(number))
    while not cleared.is_done:
        report(cleared.part)
        cleared = write(ClearLeftovers(number))


def begin_removal(writer: Writer, request: BeginRemoval) -> Removal:
    """Remove the index from the catalog.

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
    """The error for an index that does not exist."""
    return TableNotFound(f"Requested resource not found: Index: {name} not found")


def clear_leftovers(writer: Writer, request: ClearLeftovers) -> Cleared:
    """Clear some leftovers."""
    return clear_some(writer.connection, request.number)


REMOVAL: Final[Mapping[type, Handler]] = {BeginRemoval: begin_removal, ClearLeftovers: clear_leftovers}
"""The functions that remove global indexes, by the type of the request. `delete_index` runs both."""
