"""A key as it is bound to an entity and its table: which attributes it writes, and what a query may ask of it."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from operator import attrgetter
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Struct
from pydantic.fields import FieldInfo

from partita.errors import ModelError
from partita.model._attributes import instant_text
from partita.model._keys import (
    MAX_CHARACTER_BYTES,
    MAX_HASH_BYTES,
    MAX_RANGE_BYTES,
    Template,
    can_stand_in_key,
    check_key_size,
)
from partita.model._table import Table
from partita.store import KeyAttribute


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
        "_renderers",
        "fields",
        "hash",
        "hash_attribute",
        "index",
        "name",
        "range",
        "range_attribute",
        "values_of",
    )

    def __init__(self, name: str, key: Key, table: Table, owner: str) -> None:
        self.name = name
        self.index = key.index
        self.hash_attribute, self.range_attribute = table.key_attributes(key.index)
        if (key.range is None) != (self.range_attribute is None):
            where = f"the index {key.index!r}" if key.index else f"{table!r}"
            has = "a" if self.range_attribute else "no"
            raise ModelError(f"{owner}.{name}: {where} has {has} sort key.", owner=owner)
        self.hash = Template(key.hash)
        self.range = None if key.range is None else Template(key.range)
        self.fields = tuple(dict.fromkeys((*self.hash.fields, *(self.range.fields if self.range else ()))))
        self.values_of: Callable[[Any], Sequence[Any]] = _getter(self.fields)
        self._renderers: tuple[tuple[str, Callable[[Sequence[Any]], Any], int], ...] = ()

    def __str__(self) -> str:
        return f"({self.hash.text}, {self.range.text})" if self.range else f"({self.hash.text})"

    @property
    def attributes(self) -> tuple[tuple[KeyAttribute, Template], ...]:
        """Each key attribute with its template."""
        pairs = [(self.hash_attribute, self.hash)]
        if self.range is not None and self.range_attribute is not None:
            pairs.append((self.range_attribute, self.range))
        return tuple(pairs)

    def check(self, owner: str, fields: Mapping[str, FieldInfo], attribute_of: Callable[[str], str]) -> None:
        """Prove the key against the entity's fields, and settle which attributes it writes."""
        for attribute, template in self.attributes:
            for place in template.places:
                if place.field not in fields:
                    hint = f"It has: {', '.join(fields)}."
                    raise ModelError(
                        f"{owner}.{self.name}: {owner} has no field {place.field!r}.", owner=owner, hint=hint
                    )
                _check_place(f"{owner}.{self.name}", self, template, place.field, fields[place.field], attribute)
        self._renderers = tuple(
            (
                attribute.name,
                template.renderer([self.fields.index(field) for field in template.fields]),
                self._limit(attribute),
            )
            for attribute, template in self.attributes
            if not (template.bare and attribute_of(template.fields[0]) == attribute.name)
        )
        for attribute, template in self.attributes:
            literals = len((template.head + "".join(place.tail for place in template.places)).encode())
            if literals >= self._limit(attribute):
                raise ModelError(
                    f"{owner}.{self.name}: the literal text alone is longer than a key may be.", owner=owner
                )

    def _limit(self, attribute: KeyAttribute) -> int:
        return MAX_HASH_BYTES if attribute is self.hash_attribute else MAX_RANGE_BYTES

    @property
    def written(self) -> tuple[str, ...]:
        """The attributes that the key writes besides the fields' own."""
        return tuple(name for name, _, _ in self._renderers)

    def leave_hash(self) -> None:
        """Write no partition key: a local index shares the table's."""
        self._renderers = tuple(each for each in self._renderers if each[0] != self.hash_attribute.name)

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


def _check_place(
    label: str, key: BoundKey, template: Template, name: str, field: FieldInfo, attribute: KeyAttribute
) -> None:
    if key.index is None and allows_none(field.annotation):
        raise ModelError(f"{label}: {name!r} may be None, but the table's key is never absent.", owner=label)
    kinds = kinds_of(field.annotation)
    if len(kinds) != 1 or not isinstance(kinds[0], type):
        raise ModelError(f"{label}: {name!r} must have one type to stand in a key.", owner=label)
    (kind,) = kinds
    if template.bare:
        _check_bare(label, name, kind, attribute)
        template.max_length = _max_length(kind, field)
        return
    if attribute.type != "S":
        hint = f"Write the field alone, as {{{name}}}, or make {attribute.name} a string."
        raise ModelError(f"{label}: {attribute.name} is no string, so its template must be one bare field.", hint=hint)
    if not can_stand_in_key(kind):
        raise ModelError(f"{label}: a {kind.__name__} such as {name!r} cannot stand in a key.", owner=label)
    place = next(place for place in template.places if place.field == name)
    if _sorts_as_number(kind) and template is key.range and place.width is None:
        hint = f"Write {{{name}:06}} (digits), {{{name}:+06}} if it may be negative, or {{{name}:09.2}}."
        raise ModelError(f"{label}: the number {name!r} needs a width to sort rightly.", owner=label, hint=hint)


def _sorts_as_number(kind: type) -> bool:
    if hasattr(kind, "__key__"):
        return False
    if issubclass(kind, Enum):
        return any(isinstance(member.value, int | Decimal) for member in kind)
    return issubclass(kind, int | Decimal)


def _max_length(kind: type, field: FieldInfo) -> int | None:
    if issubclass(kind, date):
        return len(instant_text(datetime.min.replace(tzinfo=UTC))) if issubclass(kind, datetime) else len("0000-00-00")
    limits = [constraint.max_length for constraint in field.metadata if hasattr(constraint, "max_length")]
    return min(limits) if limits and issubclass(kind, str) else None


def _check_bare(label: str, name: str, kind: type, attribute: KeyAttribute) -> None:
    if issubclass(kind, bytes):
        found = "B"
    elif issubclass(kind, int | Decimal) and kind is not bool and not hasattr(kind, "__key__"):
        found = "N"
    elif can_stand_in_key(kind):
        found = "S"
    else:
        raise ModelError(f"{label}: a {kind.__name__} such as {name!r} cannot be a key.", owner=label)
    if found != attribute.type:
        message = f"{label}: {name!r} gives a key of type {found}, but {attribute.name} is of type {attribute.type}."
        raise ModelError(message, owner=label, hint=f'Declare the attribute as ("{attribute.name}", "{found}").')
