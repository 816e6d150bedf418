"""Index-safe updates: a partial update that changes a field also changes every index key computed from it.

| a field of the index key is | the new key is computed |
| --- | --- |
| part of the primary key | from the key |
| set to a literal, or removed | from the change |
| anything else, and an entity was given | from the changed entity, guarded by its version or by the old values |
| anything else | not without reading the item first |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from partita.errors import OperationError
from partita.expressions import (
    AddAction,
    Compare,
    Condition,
    IfNotExists,
    Missing,
    Or,
    Path,
    SetAction,
    Update,
    Value,
    both,
    paths_in,
)
from partita.model import BoundKey, Change, Entity, EntitySchema, RemoveAction, check_kinds, to_update

E = TypeVar("E", bound=Entity)


class UpdatePlan(Struct, frozen=True):
    """The update with its index keys and version, and the condition under which they are correct."""

    update: Update
    guard: Condition | None


def check_changes(schema: EntitySchema[Any], changes: Sequence[Change]) -> None:
    """Refuse changes that no update may make.

    Raises:
        OperationError: there is no change, a key or version field would change, or a field is of another entity.
    """
    if not changes:
        raise OperationError("An update needs at least one change.")
    check_kinds(changes)
    for change in changes:
        schema.check_path(change.path)
        name = change.path.parts[0]
        if name in schema.fixed:
            message = f"{schema.name}.{name} is {schema.fixed[str(name)]} and cannot be updated."
            hint = "Delete the item and insert another to move it to another key."
            if schema.version is not None and name == schema.attribute(schema.version):
                hint = "Every write increments it."
            raise OperationError(message, hint=hint)
        if len(change.path.parts) > 1:
            _check_opaque(schema, change)
        elif type(change) is SetAction and type(change.operand) is Value:
            _check_value(schema, str(name), change.operand)
        else:
            _check_opaque(schema, change)
            _check_whole(schema, str(name), change)


def _check_opaque(schema: EntitySchema[Any], change: Change) -> None:
    """Refuse to compute with a value that is opaque to the store, and to change a part of one."""
    operand = change.operand if isinstance(change, SetAction) else None
    own = isinstance(operand, IfNotExists) and operand.path == change.path and isinstance(operand.default, Value)
    is_whole = own or isinstance(change, RemoveAction)
    if not is_whole or len(change.path.parts) > 1:
        schema.refuse_opaque(change.path)
    if operand is not None and not own:
        for path in paths_in(operand):
            schema.refuse_opaque(path)


def _check_whole(schema: EntitySchema[Any], attribute: str, change: Change) -> None:
    """Refuse to remove a required field."""
    if isinstance(change, RemoveAction) and _required(schema, attribute):
        raise OperationError(f"{schema.name}.{attribute} is required and cannot be removed.")


def _check_value(schema: EntitySchema[Any], attribute: str, operand: Value) -> None:
    """Refuse a value that its field does not accept."""
    field = schema.fields[attribute]
    try:
        schema.codec.field_value(field, operand.value)
    except ValidationError as error:
        message = "; ".join(detail["msg"] for detail in error.errors(include_input=False))
        raise OperationError(f"{schema.name}.{field} cannot be set to this value: {message}.") from None


def plan_update(
    schema: EntitySchema[E], known: Mapping[str, Any], changes: Sequence[Change], entity: E | None
) -> UpdatePlan | None:
    """The complete update; None if an index key cannot be computed without reading the item."""
    update = to_update(changes)
    guard: Condition | None = None
    affected = _affected(schema, frozenset([change.path.parts[0] for change in changes]))
    if affected.keys:
        sources = affected.sources
        values = _known_values(schema, known, changes, sources)
        unknown = sources - values.keys()
        if unknown and entity is None:
            return None
        if unknown and entity is not None:
            changed = entity.with_changes(*changes)
            values |= {field: getattr(changed, field) for field in unknown}
            guard = None if schema.version else _unchanged(schema, entity, unknown)
            update = to_update(_literal(schema, changes, unknown, changed))
        update = _with_keys(update, affected, values)
    return _with_version(schema, UpdatePlan(update, guard), entity)


class AffectedKeys(Struct, frozen=True):
    """The index keys that an update changes, the fields they are computed from, and the attributes that store them."""

    keys: tuple[BoundKey, ...]
    sources: frozenset[str]
    paths: Mapping[str, Path]


@lru_cache(maxsize=256)  # the same for all updates of one shape
def _affected(schema: EntitySchema[Any], touched: frozenset[str | int]) -> AffectedKeys:
    """The keys that depend on a changed field, and those that share an attribute with such a key."""
    keys = tuple(
        key
        for keys in schema.index_keys
        if any(schema.attribute(field) in touched for key in keys for field in key.sources)
        for key in keys
    )
    sources = frozenset(field for key in keys for field in key.sources)
    return AffectedKeys(keys, sources, {name: Path((name,)) for key in keys for name in key.written})


def _known_values(
    schema: EntitySchema[Any], known: Mapping[str, Any], changes: Sequence[Change], sources: frozenset[str]
) -> dict[str, Any]:
    """The values of the primary key's fields, and of those source fields that are known after the changes."""
    values = dict(known)
    for change in changes:
        field = schema.fields[change.path.parts[0]]  # type: ignore[index]  # it begins with a name
        if field not in sources or len(change.path.parts) > 1:
            continue
        if isinstance(change, RemoveAction):
            values[field] = schema.codec.default(field)
        elif isinstance(change, SetAction) and isinstance(change.operand, Value):
            values[field] = schema.codec.field_value(field, change.operand.value)
    return values


def _unchanged(schema: EntitySchema[E], entity: E, fields: frozenset[str]) -> Condition | None:
    guard: Condition | None = None
    item = schema.item(entity)
    for field in sorted(fields):
        path = Path((schema.attribute(field),))
        absent: Condition = Missing(path)
        if path.parts[0] in item:
            same: Condition = Compare("=", path, Value(item[str(path.parts[0])]))
            # An item written before the field was declared reads as its default.
            guard = both(guard, Or((absent, same)) if _is_default(schema, entity, field) else same)
        else:
            guard = both(guard, absent)
    return guard


def _is_default(schema: EntitySchema[Any], entity: Entity, field: str) -> bool:
    is_required = schema.cls.model_fields[field].is_required()
    return not is_required and bool(getattr(entity, field) == schema.codec.default(field))


def _literal(
    schema: EntitySchema[E], changes: Sequence[Change], fields: frozenset[str], changed: E
) -> tuple[Change, ...]:
    # The old values are guarded, so the new ones are known. Written as literals, they are exactly the values that the
    # index keys were computed from, even if the store would count from nothing and the entity from its default.
    item = schema.item(changed)
    names = {schema.attribute(field) for field in fields} & {str(change.path.parts[0]) for change in changes}
    kept = tuple(change for change in changes if change.path.parts[0] not in names)
    paths = [Path((name,)) for name in sorted(names)]
    return (
        *kept,
        *(SetAction(path, Value(item[str(path.parts[0])])) for path in paths if path.parts[0] in item),
        *(RemoveAction(path) for path in paths if path.parts[0] not in item),
    )


def _required(schema: EntitySchema[Any], attribute: str) -> bool:
    return bool(schema.cls.model_fields[schema.fields[attribute]].is_required())


def _with_keys(update: Update, affected: AffectedKeys, values: Mapping[str, Any]) -> Update:
    written: dict[str, Any] = {}
    for key in affected.keys:
        key.write(written, key.values_from(values))
    sets, removes = [*update.sets], [*update.removes]
    for name, path in affected.paths.items():
        if name in written:
            sets.append(SetAction(path, Value(written[name])))
        else:
            removes.append(path)
    return Update(tuple(sets), tuple(removes), update.adds, update.deletes)


def _with_version(schema: EntitySchema[E], plan: UpdatePlan, entity: E | None) -> UpdatePlan:
    if schema.version is None:
        return plan
    path = Path((schema.attribute(schema.version),))
    if entity is None:
        # Not guarded, but incremented, so that writers that have read the item notice the change.
        return replace(plan, update=replace(plan.update, adds=(*plan.update.adds, AddAction(path, Value(1)))))
    version = getattr(entity, schema.version)
    next_version = SetAction(path, Value(version + 1))
    update = replace(plan.update, sets=(*plan.update.sets, next_version))
    # An item written before the field was declared reads as version 0.
    unchanged: Condition = Compare("=", path, Value(version)) if version else Missing(path)
    return UpdatePlan(update, both(plan.guard, unchanged))
