"""Reading one or many items by key."""

from __future__ import annotations

from typing import Final

from partita.errors import ValidationFailed
from partita.expressions import project, validate_projection
from partita.store._requests import (
    BatchGetItem,
    BatchGetResponse,
    Capacity,
    GetItem,
    ItemResponse,
)
from partita.store.embedded import _capacity
from partita.store.embedded._connection import Reader
from partita.values import READ_UNIT_BYTES, Item, decode_item, read_units

MAX_BATCH_GETS: Final = 100
MAX_BATCH_BYTES: Final = 16 * 1024 * 1024


def get_item(reader: Reader, request: GetItem) -> ItemResponse:
    """Read one item by its key."""
    table = reader.catalog.tables[request.table]
    row = reader.connection.execute(table.sql_get, table.key_columns(request.key)).get
    projection = request.projection
    if projection is not None:
        validate_projection(projection)
        table.check_scalars(projection)
    size, blob = (0, None) if row is None else row
    item = None if blob is None else decode_item(blob)
    if projection is not None and item is not None:
        item = project(projection, item)
    units = 0.5 if size <= READ_UNIT_BYTES else read_units(size, consistent=False)  # avoids a call for most items
    return ItemResponse(item, Capacity(request.table, units + units if request.consistent else units))


def batch_get(reader: Reader, request: BatchGetItem) -> BatchGetResponse:
    """Read up to 100 items; those beyond 16 MB are returned as unprocessed.

    Raises:
        ValidationFailed: there are too many gets, or two of the same item.
    """
    _check_batch(reader, request.gets)
    items: list[Item | None] = []
    capacity: list[Capacity] = []
    remaining = MAX_BATCH_BYTES
    for position, get in enumerate(request.gets):
        item, size = read_one(reader, get)
        remaining -= size
        if remaining < 0:
            left = request.gets[position:]
            return BatchGetResponse([*items, *[None] * len(left)], left, _capacity.total(capacity))
        items.append(item)
        capacity.append(_capacity.of_get(get.table, size, consistent=get.consistent))
    return BatchGetResponse(items, (), _capacity.total(capacity))


def _check_batch(reader: Reader, gets: tuple[GetItem, ...]) -> None:
    if not 1 <= len(gets) <= MAX_BATCH_GETS:
        message = f"between 1 and {MAX_BATCH_GETS} items can be read at once, not {len(gets)}"
        raise ValidationFailed(f"1 validation error detected: {message}")
    for get in gets:
        if get.projection is not None:
            validate_projection(get.projection)
            reader.table(get.table).check_scalars(get.projection)
    keys = {(get.table, reader.table(get.table).key_columns(get.key)) for get in gets}
    if len(keys) < len(gets):
        raise ValidationFailed("Provided list of item keys contains duplicates")


def read_one(reader: Reader, get: GetItem) -> tuple[Item | None, int]:
    """The projected item, and the size of the whole item."""
    table = reader.table(get.table)
    row = reader.connection.execute(table.sql_get, table.key_columns(get.key)).get
    if row is None:
        return None, 0
    size, blob = row
    item: Item = decode_item(blob)
    return item if get.projection is None else project(get.projection, item), size
