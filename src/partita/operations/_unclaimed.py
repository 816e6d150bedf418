"""Items that a read found but no declared entity claims: they are reported, never silently dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from msgspec import Struct

from partita.model import Table
from partita.values import Item


@final
class UnclaimedItems(Struct, frozen=True):
    """Notifies the session that a read found items of no declared entity, which it counts or refuses."""

    table: str
    count: int
    example: Item
    """The key of one of them."""


def unclaimed_among(table: Table, items: Sequence[Item]) -> UnclaimedItems | None:
    """The notification about those of these items that no entity of the table claims; None if there are none."""
    found = [item for item in items if not table.claims(item)]
    if not found:
        return None
    example = {attribute.name: found[0][attribute.name] for attribute in table.schema.key}
    return UnclaimedItems(table.name, len(found), example)
