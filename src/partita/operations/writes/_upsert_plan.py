"""The single update of an upsert: it creates a complete item if there is none, or changes the existing item.

| attribute | in the update |
| --- | --- |
| a field that no change names, with an initial value | `SET a = if_not_exists(a, value)` |
| a field that a change names | the change, which adds or appends to the initial value |
| an index key whose fields are all set to values | `SET key = value` |
| an index key whose fields no change sets | `SET key = if_not_exists(key, …)`, guarded: an existing item must have it |
| an index key of which only some fields are set | unknown, so the upsert is refused |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import InvalidItem, OperationError
from partita.expressions import (
    AddAction,
    And,
    Arithmetic,
    Condition,
    DeleteAction,
    Exists,
    IfNotExists,
    ListAppend,
    Missing,
    Operand,
    Or,
    Path,
    SetAction,
    Update,
    Value,
    apply_update,
    both,
)
from partita.model import BoundKey, Change, Entity, EntitySchema, RemoveAction, to_update
from partita.values import Item

E = TypeVar("E", bound=Entity)


class UpsertPlan(Struct, Generic[E], frozen=True):
    """The update, the item it creates if there is none, and the condition under which an existing item allows it."""

    update: Update
    changes: tuple[Change, ...]
    """The changes of the update, without derived keys and version."""
    created: E
    consistent: Condition | None
    """The condition that a stored item has the index keys that this update leaves as they are."""


def plan_upsert(schema: EntitySchema[E], key: Item, start: Item, changes: Sequence[Change]) -> UpsertPlan[E]:
    """The complete plan of an upsert.

    Args:
        schema: the entity.
        key: the item's key.
        start: the initial attributes of a new item, before the changes.
        changes: the changes of the caller.

    Raises:
        OperationError: an index key cannot be computed without reading the item, or a new item would lack fields.
    """
    for change in changes:
        _refuse_nested(schema, change)
    started = tuple(_from_start(schema, change, start) for change in changes)
    touched = {str(change.path.parts[0]) for change in changes}
    filled = tuple(_set_if_missing(name, value) for name, value in start.items() if name not in touched)
    every = (*started, *filled)
    update = to_update(every)
    created = _created(schema, apply_update(update, {}) | key)
    consistent: Condition | None = None
    for keys in schema.index_keys:
        more, guard = _index_keys(schema, keys, changes, created)
        update = replace(update, sets=(*update.sets, *more.sets), removes=(*update.removes, *more.removes))
        consistent = both(consistent, guard)
    return UpsertPlan(_with_marks(schema, update), every, created, consistent)


def start_of_entity(schema: EntitySchema[E], entity: E) -> Item:
    """The initial attributes of a new item if an entity is given: its fields."""
    derived = {name for key in schema.secondary for name in key.written} | {
        attribute.name for attribute, _ in schema.primary.attributes
    }
    derived |= {schema.attribute(schema.version)} if schema.version else set()
    item = schema.item(entity)
    return {name: item[name] for name in schema.attributes.values() if name in item and name not in derived}


def start_of_key(schema: EntitySchema[Any], known: Mapping[str, Any]) -> Item:
    """The initial attributes of a new item if its key is given: the fields of the key, and those with a default."""
    in_key = {attribute.name for attribute, _ in schema.primary.attributes} | schema.codec.key_only
    start: Item = {}
    for field, attribute in schema.attributes.items():
        is_unknown = field not in known and schema.cls.model_fields[field].is_required()
        if attribute in in_key or field == schema.version or is_unknown:
            continue
        value = known[field] if field in known else schema.codec.default(field)
        if not schema.codec.is_absence(attribute, value):
            start[attribute] = schema.codec.encoder(attribute)(value)
    return start


def _refuse_nested(schema: EntitySchema[Any], change: Change) -> None:
    if len(change.path.parts) > 1:
        name = ".".join(map(str, change.path.parts))
        message = f"{schema.name}.{name} is inside a field that a new item may not have, so an upsert cannot change it."
        raise OperationError(message, hint="Set the whole field, or update() an existing item.")


def _set_if_missing(name: str, value: Any) -> SetAction:
    return SetAction(Path((name,)), IfNotExists(Path((name,)), Value(value)))


def _from_start(schema: EntitySchema[Any], change: Change, start: Item) -> Change:
    """The change, based on the initial value of the field if there is no item."""
    name = str(change.path.parts[0])
    if isinstance(change, SetAction):
        return replace(change, operand=_operand(schema, change.operand, start))
    if isinstance(change, RemoveAction) or name not in start or start[name] == 0:
        return change
    if isinstance(change, DeleteAction) or isinstance(start[name], frozenset):
        message = f"{schema.name}.{name}: a new item cannot start with members of a set that the upsert changes."
        raise OperationError(message, hint="Leave the set out of the entity; add_members() creates it.")
    begun = IfNotExists(change.path, Value(start[name]))
    return SetAction(change.path, Arithmetic("+", begun, change.value))


def _operand(schema: EntitySchema[Any], operand: Operand, start: Item) -> Operand:
    """The operand, with a default for every field that it reads and that a new item lacks."""
    if isinstance(operand, Path):
        name = str(operand.parts[0])
        if len(operand.parts) > 1 or name not in start:
            message = f"An upsert of {schema.name} reads {name!r}, which a new item would not have."
            raise OperationError(message, hint=f"Give an initial value: f({schema.name}.{name}).or_default(…).")
        return IfNotExists(operand, Value(start[name]))
    if isinstance(operand, IfNotExists):
        name = str(operand.path.parts[0])
        if operand.default == Value([]) and name in start:  # an empty default means the initial value of a new item
            return replace(operand, default=Value(start[name]))
        return replace(operand, default=_operand(schema, operand.default, start))
    if isinstance(operand, ListAppend):
        return ListAppend(_operand(schema, operand.first, start), _operand(schema, operand.second, start))
    if isinstance(operand, Arithmetic):
        return Arithmetic(operand.sign, _operand(schema, operand.left, start), _operand(schema, operand.right, start))
    return operand


def _created(schema: EntitySchema[E], item: Item) -> E:
    try:
        return schema.entity(item)
    except InvalidItem as error:
        message = f"A {schema.name} created by this upsert would not be valid: {error.reason}."
        hint = f"Set the fields, or give an initial entity: upsert({schema.name}(…), …)."
        raise OperationError(message, hint=hint) from None


def _index_keys(
    schema: EntitySchema[E], keys: Sequence[BoundKey], changes: Sequence[Change], created: E
) -> tuple[Update, Condition | None]:
    """The update of index keys that share attributes, and the condition under which it is correct for a stored item."""
    fields = dict.fromkeys(field for key in keys for field in key.sources if field not in schema.primary.inputs)
    own = [schema.attribute(field) for field in fields]
    set_now = {str(change.path.parts[0]) for change in changes if _is_known(change)}
    computed = {str(change.path.parts[0]) for change in changes} - set_now - set(_defaulted(changes))
    kept = [name for name in own if name not in set_now]
    if kept and (set_now.intersection(own) or computed.intersection(own)):
        message = (
            f"{schema.name}.{keys[0].name} depends on {', '.join(kept)}, which this upsert does not set to a value."
        )
        raise OperationError(message, hint="Set all fields of the index key, or read the item and update() it.")
    written: Item = {}
    for key in keys:
        key.write(written, key.values_of(created))
    if kept:
        sets = tuple(_set_if_missing(name, value) for name, value in written.items())
        if _is_plain(keys):
            return Update(sets=sets), _has_key(keys[0], own) if written else None
        return Update(sets=sets), _has_all((*written, *(name for name in own if name in schema.item(created))))
    names = dict.fromkeys(name for key in keys for name in key.written)
    removes = tuple(Path((name,)) for name in names if name not in written)
    sets = tuple(SetAction(Path((name,)), Value(value)) for name, value in written.items())
    return Update(sets=sets, removes=removes), None


def _is_known(change: Change) -> bool:
    """Whether the value of the field after the change does not depend on its value before."""
    return isinstance(change, RemoveAction) or (isinstance(change, SetAction) and isinstance(change.operand, Value))


def _defaulted(changes: Sequence[Change]) -> Iterator[str]:
    """Yield the attributes that changes set only if they are missing."""
    for change in changes:
        operand = change.operand if isinstance(change, SetAction) else None
        if isinstance(operand, IfNotExists) and operand.path == change.path and isinstance(operand.default, Value):
            yield str(change.path.parts[0])


def _is_plain(keys: Sequence[BoundKey]) -> bool:
    """Whether this is a single key, which an item has whenever it has the fields of the key."""
    return len(keys) == 1 and keys[0].when is None and not keys[0].derived


def _has_all(names: Sequence[str]) -> Condition | None:
    """The condition that an item has all these attributes, so that the update fills in none that a key depends on."""
    condition: Condition | None = None
    for name in names:
        condition = both(condition, Exists(Path((name,))))
    return condition


def _has_key(key: BoundKey, own: Sequence[str]) -> Condition:
    """The condition that an item has an index key and all its source fields; or none of them if there is one field."""
    paths = [Path((name,)) for name in (*key.written, *own)]
    whole = And(tuple(Exists(path) for path in paths))
    return whole if len(own) > 1 else Or((whole, And(tuple(Missing(path) for path in paths))))


def _with_marks(schema: EntitySchema[Any], update: Update) -> Update:
    """The update with the type of the entity, and with an increment of the version."""
    if schema.version is not None:
        path = Path((schema.attribute(schema.version),))
        update = replace(update, adds=(*update.adds, AddAction(path, Value(1))))
    if schema.tag is not None:
        update = replace(update, sets=(*update.sets, _set_if_missing(schema.tag.attribute, schema.tag.name)))
    return update
