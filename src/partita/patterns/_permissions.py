"""Permissions: the kinds of request that a role must be allowed to send to run an access pattern or recipe operation.

Reads are derived from the key that serves them, writes from the operation in a function's return annotation. Requests
that neither shows, such as the parts of a transaction, are listed in the declaration of the pattern.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from partita import store
from partita.errors import ModelError
from partita.model import BoundKey, Entity, EntitySchema, Table, schema_of
from partita.operations import Operation
from partita.values import Item

Writes: TypeAlias = Mapping[type[Entity], Sequence[type[Any]]]
"""The kinds of request that are sent for each entity: `{User: (PutItem, UpdateItem)}`."""

Via: TypeAlias = Callable[..., Operation[Any]] | Sequence[Callable[..., Operation[Any]]]

ACTIONS: Final[Mapping[type[Any], str]] = {
    store.GetItem: "GetItem",
    store.BatchGetItem: "BatchGetItem",
    store.QueryTable: "Query",
    store.ScanTable: "Scan",
    store.SearchVectors: "SearchVectors",
    store.PutItem: "PutItem",
    store.UpdateItem: "UpdateItem",
    store.DeleteItem: "DeleteItem",
    store.BatchWriteItem: "BatchWriteItem",
    store.ConditionCheck: "ConditionCheckItem",
}
"""The name of each kind of request in AWS policies. A transaction needs the actions of its parts."""


class Permission(Struct, frozen=True):
    """One kind of request on a table or one of its indexes, for the partitions of one template."""

    action: str
    table: Table
    index: str | None
    partition: str
    """The template of the partition key, such as `TASK#{user_id}`; with several attributes, the template of each."""


class DeclaredOperation(Struct, frozen=True):
    """A named sender of requests: an access pattern, or an operation of a recipe."""

    name: str
    sends: tuple[Permission, ...]
    doc: str


def declare_operation(
    schema: EntitySchema[Any], verb: str, doc: str, *requests: type[Any], on: EntitySchema[Any] | None = None
) -> None:
    """Declare an operation of a recipe under the name that is used for metering, such as `WorkerLease.acquire`.

    Args:
        schema: the entity of the recipe.
        verb: what the operation does, as a verb.
        doc: what the operation does, as a sentence.
        requests: the kinds of request that it sends for single items.
        on: the entity of those items, if it is a different one.
    """
    sends = item_permissions(on or schema, *requests)
    schema.table.add_recipe(DeclaredOperation(f"{schema.name}.{verb}", sends, doc))


def permissions(key: BoundKey, table: Table, *requests: type[Any]) -> tuple[Permission, ...]:
    """Return the permissions for requests of these kinds that a key serves."""
    for request in requests:
        if request not in ACTIONS:
            hint = f"Use classes from partita.store: {', '.join(kind.__name__ for kind in ACTIONS)}."
            raise ModelError(f"{request!r} is not a request for items.", hint=hint)
    return tuple(Permission(ACTIONS[request], table, key.index, key.hash_text) for request in requests)


def item_permissions(schema: EntitySchema[Any], *requests: type[Any]) -> tuple[Permission, ...]:
    """Return the permissions for requests of these kinds for single items of an entity."""
    return permissions(schema.primary, schema.table, *requests)


def sends_of(
    function: Callable[..., Any], schema: EntitySchema[Any], via: Via | None, writes: Writes | None
) -> tuple[Permission, ...] | None:
    """Return what the operation that a function returns sends; None if this is not known."""
    if via is None and writes is None:
        return _by_annotation(function, schema)
    said: list[Permission] = []
    for entity, requests in (writes or {}).items():
        said += item_permissions(schema_of(entity), *requests)
    for pattern in _declared_patterns(function, via):
        if pattern.sends is None:
            return None
        said += pattern.sends
    return tuple(dict.fromkeys(said))


def _declared_patterns(function: Callable[..., Any], via: Via | None) -> Iterable[Any]:
    for made_by in () if via is None else (via,) if callable(via) else via:
        pattern = getattr(made_by, "pattern", None)
        if pattern is None:
            message = f"{function.__name__}: via={made_by!r} is not a declared access pattern."
            raise ModelError(message, hint="Use a function decorated with @get, @query, @collect or @pattern.")
        yield pattern


def _by_annotation(function: Callable[..., Any], schema: EntitySchema[Any]) -> tuple[Permission, ...] | None:
    hints = hints_of(function)
    kinds = _classes(hints.pop("return", None))
    if kinds and all(issubclass(kind, Operation) and kind.sends for kind in kinds):
        return tuple(dict.fromkeys(each for kind in kinds for each in item_permissions(schema, *kind.sends)))
    passes_on = any(issubclass(kind, Operation) for hint in hints.values() for kind in _classes(hint))
    return () if passes_on else None


def _classes(hint: Any) -> list[type[Any]]:
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return [kind for part in parts if isinstance(kind := get_origin(part) or part, type)]


class RequestPart(Struct, frozen=True):
    """One action of a request, and the key of its item or partition."""

    action: str
    table: str
    index: str | None
    key: Item


def parts_of(request: store.Request[Any]) -> Iterator[RequestPart]:
    """Yield the actions that a role must be allowed for a request: for a batch or transaction, those of its parts."""
    if isinstance(request, store.BatchGetItem):
        yield from (RequestPart("BatchGetItem", get.table, None, get.key) for get in request.gets)
    elif isinstance(request, store.BatchWriteItem):
        yield from (RequestPart("BatchWriteItem", write.table, None, _key_in(write)) for write in request.writes)
    elif isinstance(request, store.TransactGetItems | store.TransactWriteItems):
        parts = request.gets if isinstance(request, store.TransactGetItems) else request.actions
        yield from (RequestPart(ACTIONS[type(part)], part.table, None, _key_in(part)) for part in parts)
    elif isinstance(request, store.QueryTable):
        yield RequestPart("Query", request.table, request.index, dict(request.key_condition.equal))
    elif isinstance(request, store.ScanTable):
        yield RequestPart("Scan", request.table, request.index, {})
    elif isinstance(request, store.SearchVectors):
        yield RequestPart("SearchVectors", request.table, request.index, dict(request.equal))
    elif isinstance(request, store.GetItem | store.PutItem | store.UpdateItem | store.DeleteItem):
        yield RequestPart(ACTIONS[type(request)], request.table, None, _key_in(request))


def _key_in(part: store.GetItem | store.TransactAction) -> Item:
    """Return the key; for a put, the item that contains it."""
    return part.item if isinstance(part, store.PutItem) else part.key


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function's parameters and result.

    Raises:
        ModelError: a type is not defined in the function's module.
    """
    try:
        return get_type_hints(function)
    except NameError as error:
        name = function.__name__
        hint = "Import it outside `if TYPE_CHECKING`, and define it in the module, not inside a function."
        raise ModelError(f"{name}: the type {error.name!r} is not defined.", owner=name, hint=hint) from None
