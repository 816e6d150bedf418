"""Reading items by key: one, many, or many at one instant."""

from __future__ import annotations

from typing import Final

from partita._codec import decode_item
from partita._sizes import read_units
from partita._values import Item
from partita.errors import ValidationFailed
from partita.expressions._paths import project
from partita.expressions._validate import validate_projection
from partita.store._requests import (
    BatchGetItem,
    BatchGetResponse,
    Capacity,
    GetItem,
    ItemResponse,
    TransactGetItems,
    TransactGetResponse,
)
from partita.store.embedded import _capacity
from partita.store.embedded._access import Access

MAX_BATCH_GETS: Final = 100
MAX_TRANSACT_GETS: Final = 100
MAX_BATCH_BYTES: Final = 16 * 1024 * 1024
MAX_TRANSACT_BYTES: Final = 4 * 1024 * 1024
DUPLICATES: Final = "Provided list of item keys contains duplicates"
SAME_ITEM: Final = "Transaction request cannot include multiple operations on one item"


def get_item(access: Access, request: GetItem) -> ItemResponse:
    """One item by its key."""
    table = access.table(request.table)
    row = access.connection.execute(table.sql_get, table.key_columns(request.key)).get
    if request.projection is not None:
        validate_projection(request.projection)
    if row is None:
        return ItemResponse(None, Capacity(request.table, 1.0 if request.consistent else 0.5))
    size, blob = row
    item = decode_item(blob)
    if request.projection is not None:
        item = project(request.projection, item)
    return ItemResponse(item, Capacity(request.table, read_units(size, consistent=request.consistent)))


def batch_get(access: Access, request: BatchGetItem) -> BatchGetResponse:
    """Up to 100 items; what does not fit into 16 MB is left unprocessed.

    Raises:
        ValidationFailed: too many, or the same item twice.
    """
    _check_gets(access, request.gets, MAX_BATCH_GETS, DUPLICATES)
    items: list[Item | None] = []
    capacity: list[Capacity] = []
    remaining = MAX_BATCH_BYTES
    for position, get in enumerate(request.gets):
        item, size = _read(access, get)
        remaining -= size
        if remaining < 0:
            left = request.gets[position:]
            return BatchGetResponse([*items, *[None] * len(left)], left, _capacity.total(capacity))
        items.append(item)
        capacity.append(_capacity.of_get(get.table, size, consistent=get.consistent))
    return BatchGetResponse(items, (), _capacity.total(capacity))


def transact_get(access: Access, request: TransactGetItems) -> TransactGetResponse:
    """Up to 100 items as they were at one instant; each is charged twice.

    Raises:
        ValidationFailed: too many, too large together, or the same item twice.
    """
    _check_gets(access, request.gets, MAX_TRANSACT_GETS, SAME_ITEM)
    access.connection.execute("BEGIN")
    try:
        found = [_read(access, get) for get in request.gets]
    finally:
        access.connection.execute("COMMIT")
    if sum(size for _, size in found) > MAX_TRANSACT_BYTES:
        raise ValidationFailed("Transaction request exceeds the 4MB transaction size limit")
    capacity = [
        Capacity(get.table, 2 * read_units(size, consistent=True))
        for get, (_, size) in zip(request.gets, found, strict=True)
    ]
    return TransactGetResponse([item or None for item, _ in found], _capacity.total(capacity))


def _check_gets(access: Access, gets: tuple[GetItem, ...], most: int, duplicates: str) -> None:
    if not 1 <= len(gets) <= most:
        message = f"between 1 and {most} items can be read at once, not {len(gets)}"
        raise ValidationFailed(f"1 validation error detected: {message}")
    for get in gets:
        if get.projection is not None:
            validate_projection(get.projection)
    keys = {(get.table, access.table(get.table).key_columns(get.key)) for get in gets}
    if len(keys) < len(gets):
        raise ValidationFailed(duplicates)


def _read(access: Access, get: GetItem) -> tuple[Item | None, int]:
    table = access.table(get.table)
    row = access.connection.execute(table.sql_get, table.key_columns(get.key)).get
    if row is None:
        return None, 0
    size, blob = row
    item: Item = decode_item(blob)
    return item if get.projection is None else project(get.projection, item), size
