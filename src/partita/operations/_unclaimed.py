"""Items that a read met and no declared entity claims: never silently missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from msgspec import Struct

from partita.model import Table
from partita.values import Item


@final
class UnclaimedItems(Struct, frozen=True):
    """Tells the session that a read met items of no declared entity; it counts them, or refuses them."""

    table: str
    count: int
    example: Item
    """The key of one of them."""


def unclaimed_among(table: Table, items: Sequence[Item]) -> UnclaimedItems | None:
    """What to tell of these items, where no entity of their table claims some of them."""
    found = [item for item in items if not table.claims(item)]
    if not found:
        return None
    example = {attribute.name: found[0][attribute.name] for attribute in table.schema.key}
    return UnclaimedItems(table.name, len(found), example)
