"""Masks: replace personal values by others of the same shape, and equal values always by the same value.

Letters become letters and digits become digits; all other characters stay. So `ann@example.org` is still an email, keys
that are built from equal values are still equal, and different values of the same shape stay different.
"""

from __future__ import annotations

import hmac
import string
from collections.abc import Iterable, Mapping
from typing import Any, Final

from partita.errors import InvalidItem, OperationError
from partita.model import EntitySchema, schema_of
from partita.service import Service
from partita.values import Item

ROUNDS: Final = 6
_ALPHABETS: Final = (string.ascii_lowercase, string.ascii_uppercase, string.digits)


class Mask:
    """Replaces strings by others that depend on a secret."""

    def __init__(self, secret: bytes) -> None:
        """Create a mask.

        Args:
            secret: masks with the same secret return the same values.
        """
        self._secret = secret

    def __call__(self, value: Any) -> Any:
        """Return the value with all its strings masked; numbers and values of other types stay."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {name: self(member) for name, member in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return type(value)(self(member) for member in value)
        return value

    def _text(self, text: str) -> str:
        """Mask a string with a Feistel network of modular additions: it is invertible, hence injective for a shape."""
        alphabets = [_alphabet(character) for character in text]
        places = [place for place, alphabet in enumerate(alphabets) if alphabet]
        shape = "".join(alphabet[:1] or character for alphabet, character in zip(alphabets, text, strict=True))
        halves = places[::2], places[1::2]
        bases = [[len(alphabets[place]) for place in half] for half in halves]
        numbers = [
            _number([_digit(text[place], alphabets[place]) for place in half], base)
            for half, base in zip(halves, bases, strict=True)
        ]
        for turn in range(ROUNDS):
            own = turn % 2
            added = hmac.digest(self._secret, f"{turn}\0{shape}\0{numbers[1 - own]}".encode(), "sha512")
            numbers[own] = (numbers[own] + int.from_bytes(added * (1 + len(text) // 50))) % _size(bases[own])
        masked = list(text)
        for half, base, value in zip(halves, bases, numbers, strict=True):
            for place, digit in zip(half, _digits(value, base), strict=True):
                masked[place] = alphabets[place][digit]
        return "".join(masked)


def _alphabet(character: str) -> str:
    for alphabet in _ALPHABETS:
        if character in alphabet:
            return alphabet
    return string.ascii_lowercase if character.isalnum() else ""


def _digit(character: str, alphabet: str) -> int:
    found = alphabet.find(character)
    return found if found >= 0 else ord(character) % len(alphabet)


def _size(base: Iterable[int]) -> int:
    size = 1
    for each in base:
        size *= each
    return size


def _number(digits: Iterable[int], base: Iterable[int]) -> int:
    number = 0
    for digit, each in zip(digits, base, strict=True):
        number = number * each + digit
    return number


def _digits(number: int, base: list[int]) -> list[int]:
    digits = []
    for each in reversed(base):
        number, digit = divmod(number, each)
        digits.append(digit)
    return digits[::-1]


class PersonalMask:
    """Masks the fields that services declare as personal, and the keys that are built from them."""

    def __init__(self, services: Iterable[Service], secret: bytes) -> None:
        """Collect the personal fields.

        Args:
            services: the services whose tables are copied.
            secret: masks with the same secret return the same values.
        """
        self._mask = Mask(secret)
        self._schemas: dict[str, list[EntitySchema[Any]]] = {}
        self._fields: dict[EntitySchema[Any], frozenset[str]] = {}
        for service in services:
            self._learn(service)

    def _learn(self, service: Service) -> None:
        personal = service.personal
        owners = set() if personal is None else {each.owner for each in personal.items}
        declared: dict[str, set[str]] = {}
        for each in () if personal is None else personal.items:
            for schema in (each.schema, *map(schema_of, each.also)):
                declared.setdefault(schema.name, set()).update((*each.fields, each.owner, "owner"))
        for entity, fields in ({} if personal is None else personal.mentions).items():
            declared.setdefault(schema_of(entity).name, set()).update(fields)
        for table in service.tables:
            self._schemas[table.name] = list(table.entities)
            for schema in table.entities:
                named = owners | declared.get(schema.name, set())
                self._fields[schema] = frozenset(named & schema.cls.model_fields.keys())

    def masked(self, table: str, item: Item) -> Item | None:
        """Return the item with its personal fields masked; None if it must not be copied.

        That is the case if no entity is known for it, if the entity is kept out of the lake, if the item is invalid,
        or if its key would still have a personal value.
        """
        schema = next((each for each in self._schemas.get(table, ()) if each.owns(item)), None)
        if schema is None or not schema.cls.in_lake:
            return None
        if not self._fields[schema]:
            return item
        try:
            entity = schema.entity(item)
            values = {name: self._mask(getattr(entity, name)) for name in self._fields[schema]}
            before, after = schema.item(entity), schema.item(entity.model_copy(update=values))
        except (InvalidItem, OperationError):
            return None
        if schema.key(entity) == {name: after[name] for name in schema.key(entity)} and self._is_in_key(
            schema, entity, values
        ):
            return None
        changed = {name: value for name, value in after.items() if before.get(name) != value}
        return {**item, **changed}

    def _is_in_key(self, schema: EntitySchema[Any], entity: Any, values: Mapping[str, Any]) -> bool:
        """Whether masking has changed a field that is part of the key, so that the key must change, too."""
        return any(values[name] != getattr(entity, name) for name in values if name in schema.primary.fields)
