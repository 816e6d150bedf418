"""Keys as they are stored: fields that exist only in a key, and keys that differ from those that the fields produce.

Another tool may have written an item under `USER#Ada`, whereas the model produces `USER#ada`. Such an entity remembers
its stored key, so that it is written back under this key and not as a second item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from operator import itemgetter
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from msgspec import Struct
from pydantic import BaseModel

from partita.errors import ModelError
from partita.model.keys._annotations import kinds_of
from partita.model.keys._bound import BoundKey
from partita.model.keys._parts import Width, is_number
from partita.model.keys._template import Template
from partita.values import Item

T = TypeVar("T")

_REMEMBERED: Final = "__stored_key__"

_End: TypeAlias = tuple[str, str, str, Callable[[str], Any]]
"""A key attribute, its literal beginning, the attribute at its end, and a function that finds special characters."""


class KeyOnlyMark:
    """Marks a field that is not stored as a separate attribute."""


KeyOnly = Annotated[T, KeyOnlyMark()]
"""The type of a field that is stored only in the primary key: `user_id: KeyOnly[str]`."""


class StoredKey(Struct, frozen=True):
    """The key under which an entity is stored, and the key that its fields produced when it was read."""

    stored: Item
    produced: Item


def remember_key(entity: BaseModel, key: StoredKey) -> None:
    """Attach the stored key to an entity; its copies inherit it."""
    object.__setattr__(entity, _REMEMBERED, key)  # bypasses the model, which is frozen


def inherit_key(copied: BaseModel, entity: BaseModel) -> None:
    """Let a changed copy remember the same key as its original, or none, whatever it was read from."""
    vars(copied).pop(_REMEMBERED, None)
    if has_remembered(entity):
        remember_key(copied, entity.__dict__[_REMEMBERED])


def has_remembered(entity: BaseModel) -> bool:
    """Whether an entity was read from a key that its fields did not produce."""
    return _REMEMBERED in entity.__dict__


def key_to_write(entity: BaseModel, produced: Item) -> Item:
    """Return the key under which to write an entity, given the one that its fields produce.

    This is the key from which it was read, unless a field of its key has changed since.
    """
    remembered: StoredKey | None = entity.__dict__.get(_REMEMBERED)
    return remembered.stored if remembered is not None and remembered.produced == produced else produced


class StoredKeys:
    """Reads fields from the primary key of stored items, and compares their keys with their fields."""

    def __init__(self, primary: BoundKey, model: type[BaseModel], attributes: Mapping[str, str]) -> None:
        self._primary = primary
        self._attributes = attributes
        self.key_only = frozenset(attributes[name] for name in _marked(primary, model))
        """The attributes of fields that are stored only in the key."""
        self._numbers = frozenset(name for name in primary.inputs if _is_number_enum(model, name))
        self.is_produced = self._produced_check()
        """Whether the attributes of an item produce its key; also False if a quick check cannot decide it."""

    def filled(self, item: Item) -> Item:
        """Return the item with those fields of its key that have no attribute, read from the key.

        Raises:
            ValueError: the key does not belong to this entity.
        """
        values = self._primary.values(item)
        absent = {name: value for name, value in values.items() if self._attributes[name] not in item}
        return {**item, **{self._attributes[name]: self._value(name, value) for name, value in absent.items()}}

    def _value(self, name: str, value: Any) -> Any:
        return int(value) if name in self._numbers and isinstance(value, str) else value

    def _produced_check(self) -> Callable[[Item], bool]:
        """Return the check that runs for every item that is read, with everything precomputed that can be."""
        checks = [self._check(attribute.name, template) for attribute, template in self._primary.attributes]
        ends = [self._end(attribute.name, template) for attribute, template in self._primary.attributes]

        def is_produced(item: Item) -> bool:
            try:
                for check in checks:
                    if not check(item):
                        return False
            except (KeyError, TypeError, ValueError):
                return False
            return True

        if len(ends) == 2 and ends[0] and ends[1]:  # noqa: PLR2004 - most keys have a hash and a range
            return _ends_check(ends[0], ends[1], is_produced)
        return is_produced

    def _check(self, attribute: str, template: Template) -> Callable[[Item], bool]:
        """Return a quick comparison of one key attribute with the attributes of its fields."""
        if template.bare and template.fields[0] in self._attributes:
            field = self._attributes[template.fields[0]]
            return lambda item: field not in item or item[attribute] == item[field]
        if not template.fields:
            return lambda item: item[attribute] == template.head
        text = self._text(template)
        if text is None:
            return lambda _: False
        values = itemgetter(*(self._attributes[name] for name in template.fields))
        is_special = template.format.special.search
        names = [self._attributes[each.field] for each in template.placeholders if each.style is None]

        def is_produced(item: Item) -> bool:
            if item[attribute] != text % values(item):
                return False
            return not any(type(item[name]) is str and is_special(item[name]) for name in names)  # it would be escaped

        return is_produced

    def _text(self, template: Template) -> str | None:
        """Return a `%` format string that produces an attribute from the values of its fields; None if impossible."""
        codes = [_code(each.style) for each in template.placeholders]
        if template.bare or not codes or None in codes or self._primary.derived.keys() & set(template.fields):
            return None
        if self.key_only.intersection(self._attributes[name] for name in template.fields):
            return None
        tails = [each.tail.replace("%", "%%") for each in template.placeholders]
        return template.head.replace("%", "%%") + "".join(f"{c}{t}" for c, t in zip(codes, tails, strict=True))

    def _end(self, attribute: str, template: Template) -> _End | None:
        """Return how an attribute ends, if only its end varies; None otherwise."""
        if self._text(template) is None or len(template.placeholders) != 1:
            return None
        placeholder = template.placeholders[0]
        if placeholder.tail or placeholder.style is not None:
            return None
        return attribute, template.head, self._attributes[placeholder.field], template.format.special.search


def _ends_check(hash_: _End, range_: _End, otherwise: Callable[[Item], bool]) -> Callable[[Item], bool]:
    """Return a comparison of keys that end with one field; it calls `otherwise` if such a field is not text."""
    first, first_head, first_field, is_special = hash_
    second, second_head, second_field, _ = range_

    def is_produced(item: Item) -> bool:
        try:
            one, two = item[first_field], item[second_field]
            if item[first] != first_head + one or item[second] != second_head + two:
                return False
        except (KeyError, TypeError):
            return otherwise(item)
        return not is_special(one) and not is_special(two)  # this model would have escaped them

    return is_produced


def _code(style: Any) -> str | None:
    """Return the `%` format code that formats a value like this style; None if there is none."""
    if style is None:
        return "%s"
    if isinstance(style, Width) and not (style.fraction or style.signed or style.descends):
        return f"%0{style.digits}d"
    return None


def _marked(primary: BoundKey, model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if not any(isinstance(mark, KeyOnlyMark) for mark in field.metadata):
            continue
        label = f"{model.__name__}.{name}"
        if name not in primary.fields:
            raise ModelError(f"{label} is KeyOnly, but the primary key {primary} does not contain it.", owner=model)
        if any(hasattr(kind, "__key__") for kind in kinds_of(field.annotation)):
            raise ModelError(f"{label} is KeyOnly, but its __key__ cannot be read back.", owner=model)
        yield name


def _is_number_enum(model: type[BaseModel], name: str) -> bool:
    kinds = kinds_of(model.model_fields[name].annotation)
    return all(isinstance(kind, type) and issubclass(kind, Enum) and is_number(kind) for kind in kinds)
