"""Few items: how many are so few that they are exceptions, and how messages name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from partita.store import TableSchema
from partita.values import Item

_FEW: Final = 0.1
_SHOWN: Final = 5


def are_few(count: int, total: int) -> bool:
    """Whether so few of the items are exceptions rather than a kind of their own."""
    return count <= total * _FEW


def key_text(item: Item, schema: TableSchema) -> str:
    """Return the key of an item, for messages."""
    return ", ".join(f"{attribute.name}={item[attribute.name]!r}" for attribute in schema.key)


def items_text(items: Sequence[Item], schema: TableSchema) -> str:
    """Return the number of items and the keys of the first ones, for messages."""
    keys = [key_text(item, schema) for item in items[:_SHOWN]]
    keys += [f"and {len(items) - _SHOWN} more"] if len(items) > _SHOWN else []
    return f"{len(items)} item{'s' if len(items) > 1 else ''} ({'; '.join(keys)})"
