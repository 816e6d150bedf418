"""Checks that items can be stored under a key and found by it, which run when the class is created."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic import BaseModel

from partita.errors import ModelError
from partita.model.keys._annotations import allows_none, kinds_of
from partita.model.keys._derived import Shards
from partita.model.keys._parts import can_stand_in_key, is_number
from partita.model.keys._template import Placeholder, Template
from partita.store import KeyAttribute, KeyType

if TYPE_CHECKING:
    from partita.model._table import Table
    from partita.model.keys._bound import BoundKey, Key


def check_declared(name: str, key: Key, table: Table, model: type[BaseModel]) -> None:
    """Reject a key that has more or fewer templates than its table or index has attributes.

    Raises:
        ModelError: the numbers differ; the message contains both.
    """
    where = f"the index {key.index!r}" if key.index else f"{table!r}"
    label = f"{model.__name__}.{name}"
    hashes, ranges = table.key_attributes(key.index)
    if (not key.range) != (not ranges):
        hint = "Remove the second template."
        if ranges:
            names = ", ".join(attribute.name for attribute in ranges)
            hint = f'Write a template for {names}, too, as in Key("USER#{{user_id}}", "PROFILE").'
        raise ModelError(f"{label}: {where} has {'a' if ranges else 'no'} sort key.", owner=model, hint=hint)
    for what, declared, attributes in (("partition", key.hash, hashes), ("sort", key.range or (), ranges)):
        count = 1 if isinstance(declared, str) else len(declared)
        if count != len(attributes):
            names = ", ".join(attribute.name for attribute in attributes)
            message = f"{label}: the {what} key of {where} has {len(attributes)} attributes, not {count}: {names}."
            raise ModelError(message, owner=model, hint="Pass a list with one template for each, in this order.")


def check_key(key: BoundKey, model: type[BaseModel]) -> None:
    """Check the templates of a key against the fields of the entity.

    Raises:
        ModelError: a field cannot be used in the key; the message names it and the reason.
    """
    for part in key.derived.values():
        part.check(model)
    for attribute, template in key.attributes:
        _check_template(key, attribute, template, model)
    _check_shards(key, model)
    if key.when is not None:
        label = f"{model.__name__}.{key.name}"
        if key.index is None:
            raise ModelError(f"{label}: every item has the table's key, so `when` is not allowed.", owner=model)
        key.when.check(f"{label}, {key.when.name}", model)


def key_type(kind: type) -> KeyType | None:
    """Return the key attribute type for values of a type stored as they are; None if they cannot be a key attribute."""
    if issubclass(kind, bytes):
        return "B"
    if issubclass(kind, int | Decimal) and kind is not bool and not hasattr(kind, "__key__"):
        return "N"
    return "S" if can_stand_in_key(kind) else None


def _check_template(key: BoundKey, attribute: KeyAttribute, template: Template, model: type[BaseModel]) -> None:
    label, fields = f"{model.__name__}.{key.name}", model.model_fields
    for placeholder in template.placeholders:
        if placeholder.field not in fields and placeholder.field not in key.derived:
            message = f"{label}: {model.__name__} has no field {placeholder.field!r}."
            raise ModelError(message, owner=model, hint=f"It has: {', '.join(fields)}.")
        kind = _key_kind(key, placeholder.field, model)
        if template.bare:
            _check_bare(label, placeholder.field, kind, attribute, model)
        else:
            _check_part(key, template, placeholder, kind, attribute, model)
    literals = len((template.head + "".join(placeholder.tail for placeholder in template.placeholders)).encode())
    if literals >= key.limit(attribute):
        raise ModelError(f"{label}: the literal text alone exceeds the maximum length of a key.", owner=model)


def _check_shards(key: BoundKey, model: type[BaseModel]) -> None:
    parts = [name for name, part in key.derived.items() if isinstance(part, Shards)]
    if len(parts) > 1 or any(name not in key.hash_fields for name in parts):
        message = f"{model.__name__}.{key.name}: shards are allowed once, in the partition key: {', '.join(parts)}."
        raise ModelError(message, owner=model, hint="Write Key('ORDERS#{shard}', …), with one Shards(…) in it.")


def _key_kind(key: BoundKey, name: str, model: type[BaseModel]) -> type:
    """Return the single type of a field in a key."""
    label, annotation = f"{model.__name__}.{key.name}", key.annotation(name, model)
    if key.index is None and allows_none(annotation):
        raise ModelError(f"{label}: {name!r} may be None, but the table's key is never absent.", owner=model)
    kinds = kinds_of(annotation)
    if len(kinds) != 1 or not isinstance(kinds[0], type):
        raise ModelError(f"{label}: {name!r} must have a single type to be part of a key.", owner=model)
    return kinds[0]


def _check_part(
    key: BoundKey,
    template: Template,
    placeholder: Placeholder,
    kind: type,
    attribute: KeyAttribute,
    model: type[BaseModel],
) -> None:
    """Reject a field that cannot be part of a composed key, or would not sort correctly in it."""
    label, name = f"{model.__name__}.{key.name}", placeholder.field
    if attribute.type != "S":
        hint = f"Write the field alone, as {{{name}}}, or make {attribute.name} a string."
        message = f"{label}: {attribute.name} is not a string, so its template must be one bare field."
        raise ModelError(message, owner=model, hint=hint)
    if not can_stand_in_key(kind):
        hint = "Use text, a whole number, a Decimal, a date, a datetime, a UUID or an enum, or a class with __key__()."
        message = f"{label}: a {kind.__name__} such as {name!r} cannot be part of a key."
        raise ModelError(message, owner=model, hint=hint)
    if placeholder.style is not None and not placeholder.style.fits(kind):
        message = f"{label}: {name!r} is a {kind.__name__}, which {template.text!r} cannot write in that form."
        raise ModelError(message, owner=model, hint="docs/model.md lists the forms and their types.")
    if is_number(kind) and attribute.name not in key.hash_names and placeholder.style is None:
        hint = f"Write {{{name}:06}} (digits), {{{name}:+06}} if it may be negative, {{{name}:09.2}}, or {{{name}:d}}."
        raise ModelError(f"{label}: the number {name!r} needs a width to sort correctly.", owner=model, hint=hint)


def _check_bare(label: str, name: str, kind: type, attribute: KeyAttribute, model: type[BaseModel]) -> None:
    """Reject a field that cannot be a key attribute on its own, or has a different type from the attribute."""
    found = key_type(kind)
    if found is None:
        raise ModelError(f"{label}: a {kind.__name__} such as {name!r} cannot be a key.", owner=model)
    if found != attribute.type:
        message = f"{label}: {name!r} makes a key of type {found}, but {attribute.name} is of type {attribute.type}."
        hint = f'Declare the attribute as ("{attribute.name}", "{found}").'
        hint += f" Or write {{{name}:06}}, a padded number." if found == "N" else ""
        raise ModelError(message, owner=model, hint=hint)
