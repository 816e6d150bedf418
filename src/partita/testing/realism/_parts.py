"""The items that a request reads or writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from partita.store import (
    BatchGetItem,
    BatchWriteItem,
    ConditionCheck,
    CreateTable,
    DeleteItem,
    GetItem,
    PutItem,
    QueryTable,
    Request,
    ScanTable,
    SearchVectors,
    TableSchema,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
)
from partita.values import Item

Part: TypeAlias = GetItem | PutItem | UpdateItem | DeleteItem | ConditionCheck
ItemKey: TypeAlias = tuple[str, tuple[Any, ...]]
"""The name of the table, and the values of the key."""

_OWN = "partita."
WRITES = (PutItem, UpdateItem, DeleteItem, BatchWriteItem, TransactWriteItems)


def parts_of(request: Request[Any]) -> tuple[Part, ...]:
    """The single items that the request reads or writes."""
    match request:
        case GetItem() | PutItem() | UpdateItem() | DeleteItem():
            return (request,)
        case BatchGetItem(gets=gets) | TransactGetItems(gets=gets):
            return gets
        case BatchWriteItem(writes=writes):
            return writes
        case TransactWriteItems(actions=actions):
            return actions
    return ()


def tables_of(request: Request[Any]) -> Iterator[str]:
    """Yield the tables whose items the request reads or writes."""
    if isinstance(request, QueryTable | ScanTable | SearchVectors):
        yield request.table
    yield from (part.table for part in parts_of(request))


def is_internal(request: Request[Any]) -> bool:
    """Whether the request is for internal tables of Partita, such as the settings of the wire server."""
    names = {request.schema.name} if isinstance(request, CreateTable) else {*tables_of(request)}
    table = getattr(request, "table", None)
    if not names and table is not None:
        names = {str(table)}
    return bool(names) and all(name.startswith(_OWN) for name in names)


def key_of(part: Part, schema: TableSchema) -> Item:
    """The key of the item of this part, without missing attributes."""
    item = part.item if isinstance(part, PutItem) else part.key
    return {attribute.name: item[attribute.name] for attribute in schema.key if attribute.name in item}


def item_key(part: Part, schema: TableSchema) -> ItemKey:
    """The identity of the item, as a hashable value."""
    return part.table, tuple(map(_hashable, key_of(part, schema).values()))


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | bytes) else repr(value) if isinstance(value, list | dict | set) else value
