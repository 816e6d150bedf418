"""Keys as they are stored: fields that stand in a key alone, and keys that the fields of their item would not make.

Another tool may have written an item under `USER#Ada` where the model makes `USER#ada`. Such an entity remembers
where it stands, so that it is written back there and not beside it.
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

_Attribute: TypeAlias = tuple[str, str, Callable[[Item], Any]]
"""The name of a key's attribute, a text for Python's `%`, and the values for it."""


class KeyOnlyMark:
    """Marks a field that is not stored as an attribute of its own."""


KeyOnly = Annotated[T, KeyOnlyMark()]
"""The type of a field that stands in the primary key and nowhere else: `user_id: KeyOnly[str]`."""


class StoredKey(Struct, frozen=True):
    """Where an entity stands, and the key that its fields made when it was read."""

    stored: Item
    made: Item


def remember_key(entity: BaseModel, key: StoredKey) -> None:
    """Keep with an entity where it stands; copies of it know it, too."""
    object.__setattr__(entity, _REMEMBERED, key)  # past the model, which is frozen


def has_remembered(entity: BaseModel) -> bool:
    """Whether an entity was read from a key that its fields did not make."""
    return _REMEMBERED in entity.__dict__


def key_to_write(entity: BaseModel, made: Item) -> Item:
    """The key that an entity is written under, given the one that its fields make.

    That is the key that it was read from, unless a field of its key has changed since.
    """
    remembered: StoredKey | None = entity.__dict__.get(_REMEMBERED)
    return remembered.stored if remembered is not None and remembered.made == made else made


class StoredKeys:
    """What a primary key tells of a stored item."""

    def __init__(self, primary: BoundKey, model: type[BaseModel], attributes: Mapping[str, str]) -> None:
        self._primary = primary
        self._attributes = attributes
        self.key_only = frozenset(attributes[name] for name in _marked(primary, model))
        """The attributes of fields that are not stored but in the key."""
        self._numbers = frozenset(name for name in primary.inputs if _is_number_enum(model, name))
        self.is_made = self._made_check()
        """Whether the attributes of an item make its key; False also where that takes a closer look."""

    def filled(self, item: Item) -> Item:
        """The item with the fields of its key that it has no attribute for, read from the key.

        Raises:
            ValueError: the key is not one of this entity's.
        """
        values = self._primary.values(item)
        absent = {name: value for name, value in values.items() if self._attributes[name] not in item}
        return {**item, **{self._attributes[name]: self._value(name, value) for name, value in absent.items()}}

    def _value(self, name: str, value: Any) -> Any:
        return int(value) if name in self._numbers and isinstance(value, str) else value

    def _made_check(self) -> Callable[[Item], bool]:
        """Every item that is read goes through this, so what can be found out once is found out here."""
        texts = [self._text(template) for _, template in self._primary.attributes]
        names = [attribute.name for attribute, _ in self._primary.attributes]
        if len(names) == 2 and texts[0] and texts[1]:  # noqa: PLR2004 - a hash and a range, as most keys are
            formatted = _made_check_of_two((names[0], *texts[0]), (names[1], *texts[1]))
            ends = [self._end(template) for _, template in self._primary.attributes]
            if ends[0] is None or ends[1] is None:
                return formatted
            return _made_check_of_ends((names[0], *ends[0]), (names[1], *ends[1]), formatted)
        checks = [self._check(name.name, template) for name, template in self._primary.attributes]

        def is_made(item: Item) -> bool:
            try:
                return all(check(item) for check in checks)
            except (KeyError, TypeError, ValueError):
                return False

        return is_made

    def _check(self, attribute: str, template: Template) -> Callable[[Item], bool]:
        """A quick comparison of one key attribute with what stands in the attributes of its fields."""
        if template.bare and template.fields[0] in self._attributes:
            field = self._attributes[template.fields[0]]
            return lambda item: field not in item or item[attribute] == item[field]
        if not template.fields:
            return lambda item: item[attribute] == template.head
        made = self._text(template)
        if made is None:
            return lambda _: False
        text, values = made
        return lambda item: item[attribute] == text % values(item)

    def _text(self, template: Template) -> tuple[str, Callable[[Item], Any]] | None:
        """A text for Python's `%` and the values for it, which make an attribute; None where they cannot."""
        codes = [_code(each.style) for each in template.placeholders]
        if template.bare or not codes or None in codes or self._primary.derived.keys() & set(template.fields):
            return None
        if self.key_only.intersection(self._attributes[name] for name in template.fields):
            return None
        tails = [each.tail.replace("%", "%%") for each in template.placeholders]
        text = template.head.replace("%", "%%") + "".join(f"{c}{t}" for c, t in zip(codes, tails, strict=True))
        return text, itemgetter(*(self._attributes[name] for name in template.fields))

    def _end(self, template: Template) -> tuple[str, str] | None:
        """What an attribute begins with, and the attribute that is the rest of it; None where it is not so simple."""
        if len(template.placeholders) > 1 or template.placeholders[0].tail or template.placeholders[0].style:
            return None
        return template.head, self._attributes[template.fields[0]]


def _made_check_of_ends(
    hash_: tuple[str, str, str], range_: tuple[str, str, str], formatted: Callable[[Item], bool]
) -> Callable[[Item], bool]:
    """The same as `formatted` for keys that end with a field, which is quicker where the field is text."""
    first, first_head, first_end = hash_
    second, second_head, second_end = range_

    def is_made(item: Item) -> bool:
        try:
            made: bool = item[first] == first_head + item[first_end] and item[second] == second_head + item[second_end]
        except (KeyError, TypeError):
            return formatted(item)
        return made

    return is_made


def _made_check_of_two(hash_: _Attribute, range_: _Attribute) -> Callable[[Item], bool]:
    first, first_text, first_values = hash_
    second, second_text, second_values = range_

    def is_made(item: Item) -> bool:
        try:
            made: bool = item[first] == first_text % first_values(item) and item[second] == second_text % second_values(
                item
            )
        except (KeyError, TypeError, ValueError):
            return False
        return made

    return is_made


def _code(style: Any) -> str | None:
    """How Python formats a value as this style does; None where it cannot."""
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
            raise ModelError(f"{label} is KeyOnly, but the primary key {primary} does not have it.", owner=model)
        if any(hasattr(kind, "__key__") for kind in kinds_of(field.annotation)):
            raise ModelError(f"{label} is KeyOnly, but its __key__ cannot be read back.", owner=model)
        yield name


def _is_number_enum(model: type[BaseModel], name: str) -> bool:
    kinds = kinds_of(model.model_fields[name].annotation)
    return all(isinstance(kind, type) and issubclass(kind, Enum) and is_number(kind) for kind in kinds)
