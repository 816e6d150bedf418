"""A key as it is bound to an entity and its table: which attributes it writes, and what a query may ask of it."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin
from uuid import UUID

from msgspec import Struct
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from partita.errors import ModelError
from partita.model._attributes import attribute_names, instant_text
from partita.model._key_format import KeyFormat
from partita.model._key_parts import can_stand_in_key, is_number
from partita.model._keys import (
    MAX_CHARACTER_BYTES,
    MAX_HASH_BYTES,
    MAX_RANGE_BYTES,
    KeyPart,
    Placeholder,
    Template,
    check_key_size,
)
from partita.model._table import Table
from partita.store import KeyAttribute

_Renderer: TypeAlias = tuple[str, Callable[[Sequence[Any]], Any], int]
"""The name of an attribute, what renders it from the values of the key's fields, and how many bytes it can have."""


class Key(Struct, frozen=True):
    """A declared key: templates for partition and sort key, of the table or of one of its indexes.

    `Key("USER#{user_id}", "STATUS#{status}#{task_id}", index="GSI1")`
    """

    hash: str
    range: str | None = None
    index: str | None = None


class BoundKey:
    """A key of one entity, parsed, checked and ready to render. Immutable after it was made."""

    __slots__ = (
        "_fixed",
        "_renderers",
        "attributes",
        "fields",
        "hash",
        "hash_attribute",
        "index",
        "name",
        "range",
        "range_attribute",
        "values_of",
    )

    def __init__(self, name: str, key: Key, table: Table, model: type[BaseModel]) -> None:
        self.name = name
        self.index = key.index
        self.hash_attribute, self.range_attribute = table.key_attributes(key.index)
        _check_range(name, key, table, model)
        self.hash = _template(key.hash, model, table.key_format)
        self.range = None if key.range is None else _template(key.range, model, table.key_format)
        self.fields = tuple(dict.fromkeys((*self.hash.fields, *(self.range.fields if self.range else ()))))
        self.values_of: Callable[[Any], Sequence[Any]] = _getter(self.fields)
        self.attributes: tuple[tuple[KeyAttribute, Template], ...] = ((self.hash_attribute, self.hash),)
        """Each key attribute with its template."""
        if self.range is not None and self.range_attribute is not None:
            self.attributes += ((self.range_attribute, self.range),)
        for attribute, template in self.attributes:
            _check_template(self, attribute, template, model)
        self._renderers = tuple(self._writes(table, attribute_names(model)))
        self._fixed = frozenset(each for each in self.fields if _has_fixed_length(model.model_fields[each].annotation))

    def __str__(self) -> str:
        return f"({self.hash.text}, {self.range.text})" if self.range else f"({self.hash.text})"

    def _writes(self, table: Table, stored: Mapping[str, str]) -> Iterator[_Renderer]:
        """How each attribute is written that the key writes: not a field's own, nor one that a local index shares."""
        for attribute, template in self.attributes:
            is_own = template.bare and stored[template.fields[0]] == attribute.name
            is_shared = attribute is self.hash_attribute and table.is_local(self.index)
            if not is_own and not is_shared:
                positions = [self.fields.index(field) for field in template.fields]
                yield attribute.name, template.renderer(positions), self.limit(attribute)

    def sorts(self, template: Template, position: int) -> bool:
        """Whether keys sort as the values of this placeholder do, so that a range of values is a range of keys."""
        if template.bare:
            return True
        placeholder = template.placeholders[position]
        if placeholder.style is not None and not placeholder.style.sorts:
            return False
        # A raw value may have characters that sort before the separator, and so may stand before its own beginning.
        is_fixed = placeholder.field in self._fixed or (placeholder.style is not None and placeholder.style.is_fixed)
        return template.format.values == "escaped" or not placeholder.tail or is_fixed

    def values(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the key's fields, read from the key itself.

        Raises:
            ValueError: an attribute of the key is missing, or is not one that this key could have made.
        """
        found: dict[str, Any] = {}
        for attribute, template in self.attributes:
            if attribute.name not in item:
                raise ValueError(f"{attribute.name} is missing.")
            found |= template.values(item[attribute.name])
        return found

    def limit(self, attribute: KeyAttribute) -> int:
        """How many bytes one of the key's attributes can have."""
        return MAX_HASH_BYTES if attribute is self.hash_attribute else MAX_RANGE_BYTES

    @property
    def written(self) -> tuple[str, ...]:
        """The attributes that the key writes besides the fields' own."""
        return tuple(name for name, _, _ in self._renderers)

    def write(self, item: dict[str, Any], values: Sequence[Any]) -> None:
        """Write the key for values of `fields` into the item, unless one is None: then it stays off the index."""
        if None in values:
            return
        for name, render, limit in self._renderers:
            key = item[name] = render(values)
            if type(key) is not str or len(key) * MAX_CHARACTER_BYTES > limit:
                check_key_size(key, limit, name)

    def collides(self, other: BoundKey) -> bool:
        """Whether one item key could belong to both."""
        if not self.hash.overlaps(other.hash):
            return False
        return self.range is None or other.range is None or self.range.overlaps(other.range)

    def made(self, item: Mapping[str, Any]) -> bool:
        """Whether the item's key attributes could have been made by this key."""
        return all(template.matches(item.get(attribute.name)) for attribute, template in self.attributes)

    def check(self, texts: Mapping[KeyPart, str]) -> Callable[[Mapping[str, Any]], bool]:
        """A function that says whether this key could have made an item's with these texts in its parts."""
        checks = tuple((attribute.name, template.check(texts)) for attribute, template in self.attributes)
        return lambda item: all(check(item.get(name)) for name, check in checks)

    def shares_parts(self, template: Template) -> bool:
        """Whether a key of that template says something of this one."""
        return any(part in template.parts for _, own in self.attributes for part in own.parts)


def _getter(fields: Sequence[str]) -> Callable[[Any], Sequence[Any]]:
    """A function that takes the fields' values from an entity."""
    if len(fields) > 1:
        return attrgetter(*fields)
    return lambda entity: [getattr(entity, field) for field in fields]


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """The types that an annotation allows, without None."""
    if get_origin(annotation) is Annotated:
        return kinds_of(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return tuple(dict.fromkeys(type(value) for value in get_args(annotation)))
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(kind for part in get_args(annotation) if part is not type(None) for kind in kinds_of(part))
    return (getattr(annotation, "__supertype__", annotation),)


def allows_none(annotation: Any) -> bool:
    """Whether an annotation is optional."""
    return annotation is None or type(None) in get_args(annotation)


def _has_fixed_length(annotation: Any) -> bool:
    """Whether all values of a type are equally long in a key."""
    return all(isinstance(kind, type) and issubclass(kind, date | UUID) for kind in kinds_of(annotation))


def _check_range(name: str, key: Key, table: Table, model: type[BaseModel]) -> None:
    _, attribute = table.key_attributes(key.index)
    if (key.range is None) != (attribute is None):
        where = f"the index {key.index!r}" if key.index else f"{table!r}"
        message = f"{model.__name__}.{name}: {where} has {'a' if attribute else 'no'} sort key."
        raise ModelError(message, owner=model)


def _template(text: str, model: type[BaseModel], format: KeyFormat) -> Template:  # noqa: A002 - the word for it
    """The parsed template; a bare one knows how long its field can be."""
    template = Template(text, format=format)
    field = model.model_fields.get(template.fields[0]) if template.bare else None
    return template if field is None else Template(text, _max_length(field), format)


def _check_template(key: BoundKey, attribute: KeyAttribute, template: Template, model: type[BaseModel]) -> None:
    """Prove a template against the fields of the entity."""
    label, fields = f"{model.__name__}.{key.name}", model.model_fields
    for placeholder in template.placeholders:
        if placeholder.field not in fields:
            message = f"{label}: {model.__name__} has no field {placeholder.field!r}."
            raise ModelError(message, owner=model, hint=f"It has: {', '.join(fields)}.")
        kind = _key_kind(key, placeholder.field, model)
        if template.bare:
            _check_bare(label, placeholder.field, kind, attribute, model)
        else:
            _check_part(key, template, placeholder, kind, attribute, model)
    literals = len((template.head + "".join(placeholder.tail for placeholder in template.placeholders)).encode())
    if literals >= key.limit(attribute):
        raise ModelError(f"{label}: the literal text alone is longer than a key may be.", owner=model)


def _key_kind(key: BoundKey, name: str, model: type[BaseModel]) -> type:
    """The one type of a field in a key."""
    label, annotation = f"{model.__name__}.{key.name}", model.model_fields[name].annotation
    if key.index is None and allows_none(annotation):
        raise ModelError(f"{label}: {name!r} may be None, but the table's key is never absent.", owner=model)
    kinds = kinds_of(annotation)
    if len(kinds) != 1 or not isinstance(kinds[0], type):
        raise ModelError(f"{label}: {name!r} must have one type to stand in a key.", owner=model)
    return kinds[0]


def _check_part(
    key: BoundKey,
    template: Template,
    placeholder: Placeholder,
    kind: type,
    attribute: KeyAttribute,
    model: type[BaseModel],
) -> None:
    """Refuse a field that cannot stand in a key with other text, or would not sort there."""
    label, name = f"{model.__name__}.{key.name}", placeholder.field
    if attribute.type != "S":
        hint = f"Write the field alone, as {{{name}}}, or make {attribute.name} a string."
        message = f"{label}: {attribute.name} is not a string, so its template must be one bare field."
        raise ModelError(message, owner=model, hint=hint)
    if not can_stand_in_key(kind):
        raise ModelError(f"{label}: a {kind.__name__} such as {name!r} cannot stand in a key.", owner=model)
    if placeholder.style is not None and not placeholder.style.fits(kind):
        message = f"{label}: {name!r} is a {kind.__name__}, which {template.text!r} cannot write in that form."
        raise ModelError(message, owner=model, hint="docs/model.md lists the forms and what each is for.")
    if is_number(kind) and template is key.range and placeholder.style is None:
        hint = f"Write {{{name}:06}} (digits), {{{name}:+06}} if it may be negative, {{{name}:09.2}}, or {{{name}:d}}."
        raise ModelError(f"{label}: the number {name!r} needs a width to sort correctly.", owner=model, hint=hint)


def _max_length(field: FieldInfo) -> int | None:
    (kind, *_) = kinds_of(field.annotation)
    if not isinstance(kind, type):
        return None
    if issubclass(kind, date):
        return len(instant_text(datetime.min.replace(tzinfo=UTC))) if issubclass(kind, datetime) else len("0000-00-00")
    limits = [constraint.max_length for constraint in field.metadata if hasattr(constraint, "max_length")]
    return min(limits) if limits and issubclass(kind, str) else None


def _check_bare(label: str, name: str, kind: type, attribute: KeyAttribute, model: type[BaseModel]) -> None:
    """Refuse a field that cannot be a key attribute by itself, or is of another type than the attribute."""
    if issubclass(kind, bytes):
        found = "B"
    elif issubclass(kind, int | Decimal) and kind is not bool and not hasattr(kind, "__key__"):
        found = "N"
    elif can_stand_in_key(kind):
        found = "S"
    else:
        raise ModelError(f"{label}: a {kind.__name__} such as {name!r} cannot be a key.", owner=model)
    if found != attribute.type:
        message = f"{label}: {name!r} gives a key of type {found}, but {attribute.name} is of type {attribute.type}."
        raise ModelError(message, owner=model, hint=f'Declare the attribute as ("{attribute.name}", "{found}").')
