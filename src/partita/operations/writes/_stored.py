"""Conditions on the stored item of a write: its presence, owner and version, and the errors if they are false."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from partita.errors import ConditionFailed, InvalidItem, ItemMissing, VersionConflict
from partita.expressions import And, Compare, Condition, Exists, Missing, Or, Path, Value, both
from partita.model import Entity, EntitySchema
from partita.operations._operation import Context
from partita.values import Item

E = TypeVar("E", bound=Entity)

_MAX_JOINED: Final = 16
_JOINED: Final[dict[tuple[int, int], tuple[Condition, Condition, Condition]]] = {}
"""A cache of joined conditions by the identity of both parts: the updates of a batch share the same two."""


def present(schema: EntitySchema[Any], context: Context) -> Condition:
    """The condition that the item exists and has not expired."""
    return _present(schema, int(context.clock()))


@lru_cache(maxsize=256)  # the same for all items written within one second
def _present(schema: EntitySchema[Any], now: int) -> Condition:
    ours = own(schema)
    exists: Condition = Exists(Path(schema.primary.hash_names)) if ours is None else ours
    return both(exists, schema.unexpired(now))


def joined(first: Condition | None, second: Condition | None) -> Condition | None:
    """Both conditions joined; the same two objects give the same object, so that caches of checks recognize it."""
    if first is None or second is None:
        return second if first is None else first
    known = _JOINED.get((id(first), id(second)))
    if known is not None and known[0] is first and known[1] is second:
        return known[2]
    if len(_JOINED) >= _MAX_JOINED:
        _JOINED.clear()
    made = both(first, second)
    assert made is not None  # noqa: S101 - there are two
    _JOINED[id(first), id(second)] = (first, second, made)
    return made


def own(schema: EntitySchema[Any]) -> Condition | None:
    """The condition that the item is of this entity; None unless another entity can have an item with the same key."""
    if schema.tag is None or not schema.shares_keys:
        return None
    return Compare("=", Path((schema.tag.attribute,)), Value(schema.tag.name))


def not_foreign(schema: EntitySchema[Any]) -> Condition | None:
    """The condition that there is no item or one of this entity; None unless another entity can have the same key."""
    ours = own(schema)
    return None if ours is None else Or((Missing(Path(schema.primary.hash_names)), ours))


def vacant(schema: EntitySchema[Any], context: Context) -> Condition:
    """The condition that there is no item, or only an expired one that is still stored."""
    return _missing_or_expired(schema, schema.primary.hash_names[0], int(context.clock()))


def unversioned(schema: EntitySchema[Any], context: Context) -> Condition:
    """The condition that there is no item, or one written before its entity had a version."""
    return _missing_or_expired(schema, schema.attribute(schema.version or ""), int(context.clock()))


@lru_cache(maxsize=256)  # the same for all items written within one second
def _missing_or_expired(schema: EntitySchema[Any], attribute: str, now: int) -> Condition:
    nothing: Condition = Missing(Path((attribute,)))
    expired = schema.expired(now)
    return nothing if expired is None else Or((nothing, expired))


def version_of(schema: EntitySchema[Any], entity: Entity) -> int | None:
    """The version of an entity; None if it has no version field."""
    return None if schema.version is None else getattr(entity, schema.version)


def bumped(schema: EntitySchema[E], entity: E) -> E:
    """The entity with its next version."""
    name = schema.version or ""
    # This bypasses Entity, which would validate values that are known to be valid.
    next_version = {name: getattr(entity, name) + 1}
    return BaseModel.model_copy(entity, update=next_version)  # pyright: ignore[reportReturnType]


def version_is(schema: EntitySchema[Any], version: int) -> Condition:
    """The condition that the stored item has this version."""
    path = Path((schema.attribute(schema.version or ""),))
    if version:
        return Compare("=", path, Value(version))
    # An item written before the field was declared reads as version 0.
    return And((Exists(Path(schema.primary.hash_names)), Missing(path)))


def stored_version(schema: EntitySchema[Any], item: Item | None) -> int:
    """The version of a stored item; 0 if there is none."""
    version = (item or {}).get(schema.attribute(schema.version or ""), 0)
    return version if isinstance(version, int) else 0


def live_entity(schema: EntitySchema[E], item: Item | None, context: Context) -> E | None:
    """The entity in a stored item, unless there is none or it has expired."""
    if item is None or not schema.live(item, context.clock()) or not (schema.tag is None or schema.owns(item)):
        return None
    return schema.entity(item)


def fitting_entity(schema: EntitySchema[E], item: Item | None, context: Context) -> E | None:
    """The entity that a write replaced; None also if it did not fit: an error would hide that the write succeeded."""
    try:
        return live_entity(schema, item, context)
    except InvalidItem:
        return None


def missing(schema: EntitySchema[Any], item: Item | None) -> ItemMissing:
    """The error for a write that requires an existing item."""
    return ItemMissing(f"There is no such {schema.name}.", item=item)


def condition_false(schema: EntitySchema[Any], item: Item | None, current: Any) -> ConditionFailed:
    """The error for a write whose own condition was false."""
    return ConditionFailed(f"The condition on this {schema.name} is false.", item=item, current=current)


def conflict(schema: EntitySchema[Any], item: Item | None, current: Any) -> VersionConflict:
    """The error for a write that lost against another writer."""
    return VersionConflict(f"Another writer changed this {schema.name} first.", item=item, current=current)
