"""The shape of keys: the literal text with which each begins, the number of its parts, and which of them are empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from partita.adopt._names import is_key_name
from partita.adopt._separators import is_constant, is_word
from partita.store import KeyAttribute, TableSchema
from partita.values import Item

Shape: TypeAlias = tuple[Hashable, ...]

TYPE_NAMES: Final = (
    "__edb_e__",  # ElectroDB
    "_et",  # dynamodb-toolbox
    "_type",  # OneTable
    "cls",  # PynamoDB
    "__typename",  # AppSync
    "entityType",
    "EntityType",
    "entity_type",
)
"""Names of attributes that are used only to identify the entity of an item."""
LIKELY_NAMES: Final = ("type", "Type", "kind", "entity", "model", "object_type", "objectType")
"""Names of attributes that often identify it."""

_ANY: Final = "*"
_BRACES: Final = frozenset("{}")
"""Characters that no template can write as literal text."""
_MAX_LITERALS: Final = 40


class KeyShapes(Struct, frozen=True):
    """Determines the shapes of the keys of one table."""

    schema: TableSchema
    separator: str
    literals: dict[str, frozenset[str]]
    """For each key attribute, the literal texts (not values) with which keys begin."""

    @classmethod
    def of_table(cls, items: Sequence[Item], schema: TableSchema, separator: str) -> KeyShapes:
        """Examine all keys to find out which of their beginnings are literal text."""
        copied = _copied_names(schema)
        found = {attribute.name: _literals(items, attribute, separator, copied) for attribute in schema.key}
        return cls(schema, separator, found)

    def of(self, item: Item) -> Shape:
        """Return the shape of one item's key."""
        return tuple(self._look(attribute, item.get(attribute.name)) for attribute in self.schema.key)

    def _look(self, attribute: KeyAttribute, key: object) -> Hashable:
        if not isinstance(key, str):
            return (0, _ANY)
        first, *others = key.split(self.separator)
        literal = first if first in self.literals[attribute.name] else _ANY
        return len(others), literal, tuple(not each for each in others), bool(_BRACES.intersection(key))


def words_of(shape: Shape) -> Iterator[str]:
    """Yield the literal texts with which the keys of a shape begin."""
    for look in shape:
        if isinstance(look, tuple) and look[1] != _ANY:
            yield str(look[1])


def _copied_names(schema: TableSchema) -> frozenset[str]:
    """Return the attributes that may repeat literal text of a key: those that exist only for an index, and types."""
    names = {attribute.name for index in schema.indexes for attribute in index.key if is_key_name(attribute.name)}
    return frozenset((*names, *TYPE_NAMES, *LIKELY_NAMES)).difference(attribute.name for attribute in schema.key)


def _literals(items: Sequence[Item], attribute: KeyAttribute, separator: str, copied: frozenset[str]) -> frozenset[str]:
    """Return the beginnings of an attribute's keys that are words, and not values of their items.

    A key with a single part is literal only if it is written as a constant; else it is most likely a value.
    """
    found: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for item in items:
        key = item.get(attribute.name)
        if not isinstance(key, str):
            continue
        first, *others = key.split(separator)
        if (is_word(first) or first == "") if others else is_constant(first):
            found[first] += 1
            values[first] += any(
                value == first for name, value in item.items() if name != attribute.name and name not in copied
            )
    literals = frozenset(text for text, count in found.items() if values[text] * 2 <= count)
    return literals if len(literals) <= _MAX_LITERALS else frozenset()
