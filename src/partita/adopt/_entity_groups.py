"""Group items by kind: by their type attribute, or else by the shape of their keys."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import Final

from msgspec import Struct

from partita.adopt._few import are_few
from partita.adopt._key_shapes import LIKELY_NAMES, TYPE_NAMES, KeyShapes, Shape
from partita.adopt._separators import is_word
from partita.values import Item

_MAX_TYPES: Final = 50
_NEARLY_ALL: Final = 0.95


class Group(Struct, frozen=True):
    """Items of one kind, with the value of their type attribute."""

    type_name: str | None
    items: tuple[Item, ...]


def find_type_attribute(items: Sequence[Item], shapes: KeyShapes) -> str | None:
    """Return the attribute that identifies the entity of an item; None if there is none.

    An attribute with a name that is used for nothing else is accepted. Any other attribute must have exactly one value
    per key shape; otherwise it could be, for example, the type of a payment.
    """
    keys = [shapes.schema.key, *(index.key for index in shapes.schema.indexes)]
    excluded = {shapes.schema.ttl, *(attribute.name for key in keys for attribute in key)}
    counts = Counter(name for item in items for name, value in item.items() if isinstance(value, str) and value)
    names = [name for name in counts if name not in excluded]
    for name in TYPE_NAMES:
        if name in names and counts[name] >= _NEARLY_ALL * len(items) and _has_few_values(items, name):
            return name
    everywhere = [name for name in names if counts[name] == len(items)]
    for name in sorted(everywhere, key=lambda each: (each not in LIKELY_NAMES, each)):
        if _follows_shapes(items, name, shapes):
            return name
    return None


def _has_few_values(items: Sequence[Item], name: str) -> bool:
    return len({item[name] for item in items if isinstance(item.get(name), str)}) <= _MAX_TYPES


def _follows_shapes(items: Sequence[Item], name: str, shapes: KeyShapes) -> bool:
    """Whether each shape has one value, and each value one shape, apart from few of its items."""
    values: defaultdict[Shape, set[str]] = defaultdict(set)
    counts: defaultdict[str, Counter[Shape]] = defaultdict(Counter)
    for item in items:
        values[shapes.of(item)].add(item[name])
        counts[item[name]][shapes.of(item)] += 1
    is_split = 1 < len(counts) <= _MAX_TYPES and all(is_word(value) for value in counts)
    return is_split and all(len(each) == 1 for each in values.values()) and all(map(_has_one_shape, counts.values()))


def _has_one_shape(counts: Counter[Shape]) -> bool:
    return are_few(counts.total() - max(counts.values()), counts.total())


def group_items(items: Sequence[Item], shapes: KeyShapes, type_attribute: str | None) -> list[Group]:
    """Return the items by kind, the most frequent first, without items that lack a type while others have one."""
    by_kind: defaultdict[Hashable, list[Item]] = defaultdict(list)
    for item in items:
        if type_attribute is None:
            by_kind[shapes.of(item)].append(item)
        elif isinstance(item.get(type_attribute), str):
            by_kind[item[type_attribute]].append(item)
    groups = [Group(kind if isinstance(kind, str) else None, tuple(each)) for kind, each in by_kind.items()]
    return sorted(groups, key=lambda group: -len(group.items))
