"""Predicting the consumption of a request, from its own size if known, or else from an assumed size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from partita.expressions import Update
from partita.model import Budget, Table
from partita.store import (
    BatchGetItem,
    BatchWriteItem,
    ConditionCheck,
    DeleteItem,
    GetItem,
    IndexSchema,
    PutItem,
    QueryTable,
    Request,
    ScanTable,
    SearchVectors,
    TableSchema,
    TransactAction,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
)
from partita.values import Item, item_size, read_units, write_units

FLOAT_BYTES: Final = 4
MIN_SEARCHED_BYTES: Final = 1_024
ASSUMED_VECTORS: Final = 1_000
"""The assumed number of vectors in the partition that a search reads."""


def forecast(request: Request[Any], tables: Iterable[Table], item_bytes: int, vectors: int = ASSUMED_VECTORS) -> Budget:
    """The expected consumption: a put counts as an insert, a page as full, an update as changing the whole item.

    Items that are not in the request are assumed to have `item_bytes`, and a searched partition to have `vectors`.
    """
    return _Forecast({table.name: table.schema for table in tables}, item_bytes, vectors).of(request)


class _Forecast:
    def __init__(self, schemas: dict[str, TableSchema], item_bytes: int, vectors: int) -> None:
        self._schemas = schemas
        self._bytes = item_bytes
        self._vectors = vectors

    def of(self, request: Request[Any]) -> Budget:
        if isinstance(request, BatchGetItem):
            return _sum(self.of(get) for get in request.gets)
        if isinstance(request, BatchWriteItem):
            return _sum(self._write(write, 1) for write in request.writes)
        if isinstance(request, TransactWriteItems):
            return _sum(self._write(action, 2) for action in request.actions)
        if isinstance(request, PutItem | UpdateItem | DeleteItem):
            return self._write(request, 1)
        if isinstance(request, SearchVectors):
            return self._search(request)
        return Budget(read=self._read(request))

    def _read(self, request: Request[Any]) -> float:
        if isinstance(request, GetItem):
            return read_units(self._bytes, consistent=request.consistent)
        if isinstance(request, QueryTable | ScanTable):
            return read_units((request.limit or 1) * self._bytes, consistent=request.consistent)
        if isinstance(request, TransactGetItems):
            return 2 * len(request.gets) * read_units(self._bytes, consistent=True)
        return 0.0

    def _search(self, request: SearchVectors) -> Budget:
        """From the vectors of the matches alone up to all vectors of the partition, depending on the index."""
        found = min(request.top, self._vectors)
        most, least = (
            float(max(MIN_SEARCHED_BYTES, count * FLOAT_BYTES * len(request.vector) + found * self._bytes))
            for count in (self._vectors, found)
        )
        return Budget(searched=most, searched_least=None if least == most else least)

    def _write(self, action: TransactAction, factor: int) -> Budget:
        size = item_size(action.item) if isinstance(action, PutItem) else self._bytes
        table = factor * write_units(size)
        if isinstance(action, ConditionCheck):
            return Budget(write=table)
        schema = self._schemas.get(action.table)
        indexes = schema.indexes if schema else ()
        return Budget(write=table + sum(self._index_write(action, index, size) for index in indexes))

    def _index_write(self, action: PutItem | UpdateItem | DeleteItem, index: IndexSchema, size: int) -> float:
        units = write_units(size)
        if isinstance(action, PutItem):
            return units if _has_key(action.item, index) else 0.0
        if isinstance(action, DeleteItem):
            return units
        moved = _changed(action.update) & {attribute.name for attribute in index.key}
        if moved:
            return 2 * units
        return units if index.projection == "ALL" else 0.0


def _has_key(item: Item, index: IndexSchema) -> bool:
    return all(attribute.name in item for attribute in index.key)


def _changed(update: Update) -> set[str | int]:
    paths = [set_.path for set_ in update.sets] + [add.path for add in update.adds]
    paths += [delete.path for delete in update.deletes]
    return {path.parts[0] for path in (*paths, *update.removes)}


def _sum(budgets: Iterable[Budget]) -> Budget:
    total = Budget()
    for budget in budgets:
        total += budget
    return total
