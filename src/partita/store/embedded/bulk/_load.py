"""Thousands of puts: invalid ones are skipped and reported, the others are written in one transaction.

    plain items, no stream, no continuous backups     rows, in the order of their keys ── one statement for all
    a condition, a stream, continuous backups         plan and apply each, as a single put does
    or a vector index

In both cases, index entries are columns of the item's own row, so they are written in the same pass. The caller keeps
a journal of its progress, which is written in the same transaction, so it is always consistent with the items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final

from msgspec import Struct, field

from partita.errors import ConditionFailed, ValidationFailed
from partita.expressions import Condition, validate_condition
from partita.store._requests import PutItem, Request
from partita.store.embedded import _capacity
from partita.store.embedded._connection import Writer
from partita.store.embedded._planned_writes import TOO_LARGE, PlannedWrite, apply, encoded, plan
from partita.store.embedded._table import Row, Table, entry_size
from partita.values import Item, write_units

_KEY: Final = itemgetter(0, 1, 2)
"""The key of a row: hash of the partition, its key, and the sort key."""


class BulkPut(Struct, frozen=True):
    """An item to be put if its condition is true for the stored item."""

    item: Item
    condition: Condition | None = None


class RejectedPut(Struct, frozen=True):
    """A put that was not written: its position and the error, which contains the stored item if a condition failed."""

    position: int
    error: ValidationFailed | ConditionFailed


class LoadResponse(Struct):
    """The outcome of the puts. Sizes and units are those of the puts that were written."""

    rejected: list[RejectedPut] = field(default_factory=list)
    size: int = 0
    index_sizes: dict[str, int] = field(default_factory=dict)
    vector_sizes: dict[str, int] = field(default_factory=dict)
    units: float = 0.0


class LoadItems(Request[LoadResponse], frozen=True):
    """Put any number of items into a table. `journal` receives the response and returns further puts to write."""

    table: str
    puts: Sequence[BulkPut]
    journal: Callable[[LoadResponse], Sequence[PutItem]] = lambda _: ()


def load_items(writer: Writer, request: LoadItems) -> LoadResponse:
    """Write the valid puts and the journal.

    Raises:
        TableNotFound: the table, or that of the journal, does not exist.
    """
    table = writer.table(request.table)
    response = LoadResponse(index_sizes={index.name: 0 for index in table.indexes})
    is_logged = table.stream is not None or table.sql_log is not None
    is_alone = not is_logged and not table.vectors  # an item is written as one row and nothing else
    if is_alone and all(put.condition is None for put in request.puts):
        _write_rows(writer, table, request.puts, response)
    else:
        _write_each(writer, table, request.puts, response)
    now = writer.clock()
    for put in request.journal(response):
        apply(writer.connection, plan(writer.connection, writer.table(put.table), put), now)
    return response


def _write_rows(writer: Writer, table: Table, puts: Sequence[BulkPut], response: LoadResponse) -> None:
    """Write all rows with one statement, in the order of the key index."""
    rows: list[Row] = []
    for position, put in enumerate(puts):
        item = put.item
        try:
            key, (blob, size) = table.item_columns(item), encoded(item, TOO_LARGE)
            entries = [index.entry(item) for index in table.indexes]
        except ValidationFailed as error:
            response.rejected.append(RejectedPut(position, error))
            continue
        columns = (*(column for entry in entries for column in entry), *table.building_row(item))
        rows.append((*key, table.expiry(item), size, *columns, blob))
        _count(response, table, item, size, entries)
    rows.sort(key=_KEY)  # stable: of several puts of one key, the last one wins
    writer.connection.executemany(table.sql_upsert, rows)


def _write_each(writer: Writer, table: Table, puts: Sequence[BulkPut], response: LoadResponse) -> None:
    """Write the puts one by one, so that each condition sees the previous puts."""
    now = writer.clock()
    for position, put in enumerate(puts):
        try:
            if put.condition is not None:
                validate_condition(put.condition)
            planned = plan(writer.connection, table, PutItem(table.name, put.item, put.condition, on_failure_item=True))
        except (ValidationFailed, ConditionFailed) as error:
            response.rejected.append(RejectedPut(position, error))
            continue
        _count_planned(response, planned)
        apply(writer.connection, planned, now)


def _count_planned(response: LoadResponse, planned: PlannedWrite) -> None:
    assert planned.after is not None  # noqa: S101 - it is a put
    _count(response, planned.table, planned.after, planned.size, planned.entries)
    for name, _, size in _capacity.of_write(planned).vectors if planned.table.vectors else ():
        response.vector_sizes[name] = response.vector_sizes.get(name, 0) + int(size)


def _count(response: LoadResponse, table: Table, item: Item, size: int, entries: Sequence[Row]) -> None:
    response.size += size
    response.units += write_units(size)
    for index, entry in zip(table.indexes, entries, strict=True):
        if entry[0] is not None:
            stored = entry_size(index, item, size)
            response.index_sizes[index.name] += stored
            response.units += write_units(stored)
