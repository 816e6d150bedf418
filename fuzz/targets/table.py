"""A store with one table that is the same for every input: a write is checked, but never stored."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any, Final, TypeVar

from msgspec import structs

from partita import EmbeddedStore
from partita.errors import TransactionCancelled, ValidationFailed
from partita.expressions import Exists, Path
from partita.store import (
    BatchWriteItem,
    ConditionCheck,
    CreateTable,
    DeleteItem,
    IndexSchema,
    KeyAttribute,
    PutItem,
    Request,
    TableSchema,
    TransactWriteItems,
    UpdateItem,
)
from partita.store.embedded import READS
from partita.values import Item

R = TypeVar("R")

TASKS: Final = TableSchema(
    "tasks",
    KeyAttribute("user", "S"),
    KeyAttribute("task", "S"),
    (IndexSchema("by_rank", (KeyAttribute("rank", "N"),), ()),),
    stream="NEW_AND_OLD_IMAGES",
)
ITEMS: Final[tuple[Item, ...]] = (
    {"user": "ann", "task": "t1", "rank": 1, "done": False, "tags": frozenset({"x", "y"})},
    {"user": "ann", "task": "t2", "rank": Decimal("2.5"), "notes": [1, {"a": None}], "data": b"\x00\xff"},
    {"user": "bob", "task": "t1", "counts": frozenset({1, 2}), "map": {"n": {"m": [0]}}},
)
_NEVER: Final = ConditionCheck("tasks", {"user": "nobody", "task": "none"}, Exists(Path(("user",))))
"""A check that always fails, because its item does not exist; it cancels every transaction that includes it."""


@cache
def table_store() -> EmbeddedStore:
    """The store."""
    store = TriedStore(":memory:")
    EmbeddedStore.execute(store, CreateTable(TASKS))
    for item in ITEMS:
        EmbeddedStore.execute(store, PutItem("tasks", item))
    return store


class TriedStore(EmbeddedStore):
    """Executes reads; executes a write in a transaction that is cancelled after all of it was checked."""

    def execute(self, request: Request[R]) -> R:
        """Read, or try a write; the cancellation reasons of a transaction are those of its own actions."""
        try:
            response: R = super().execute(_tried(request))
        except TransactionCancelled as cancelled:
            own = len(request.actions) if isinstance(request, TransactWriteItems) else None
            raise TransactionCancelled(cancelled.reasons[:own]) from None
        return response

    async def execute_async(self, request: Request[R]) -> R:
        """Like `execute`, without waiting."""
        return self.execute(request)


def _tried(request: Request[Any]) -> Request[Any]:
    if type(request) in READS:
        return request
    if isinstance(request, TransactWriteItems):
        return TransactWriteItems((*request.actions, _NEVER))
    if isinstance(request, BatchWriteItem):
        return TransactWriteItems((*request.writes, _NEVER))
    if isinstance(request, PutItem | UpdateItem | DeleteItem):
        return TransactWriteItems((structs.replace(request, returns="NONE"), _NEVER))
    raise ValidationFailed("The tables of this store cannot be changed.")
