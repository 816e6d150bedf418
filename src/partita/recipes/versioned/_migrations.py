"""Lazy migrations: pure functions from one data version to the next, chained when an old item is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import TypeAlias

from msgspec import Struct

from partita.errors import DataNewer, InvalidItem, ModelError
from partita.values import Item

Migration: TypeAlias = Callable[[Item], Item]
"""Converts the attributes of one data version to the next. It must be pure: no I/O and no clock."""


class Migrations(Struct, frozen=True):
    """The steps from every old data version to the current one.

    `Migrations({1: name_from_owner, 2: balance_in_cents})`: the key of each step is the version that it starts from.
    Versions below the lowest are no longer read; remove a step only if `partita migrate status` counts none of them.
    """

    steps: Mapping[int, Migration] = {}

    def check(self, data_version: int, owner: str) -> None:
        """Refuse a chain that does not lead to the data version.

        Raises:
            ModelError: a step is missing, or leads beyond the data version.
        """
        if data_version < 1:
            raise ModelError(f"{owner}: a data version must be 1 or more, not {data_version}.", owner=owner)
        for version in range(min(self.steps, default=data_version), data_version):
            if version not in self.steps:
                hint = f"Add {{{version}: …}} to its Migrations, a function of an item of version {version}."
                raise ModelError(f"{owner}: no migration leads from {version} to {version + 1}.", hint=hint)
        if data_version > 1 and not self.steps:
            hint = f"Add {{{data_version - 1}: …}} to its Migrations."
            raise ModelError(f"{owner}: no migration leads to data version {data_version}.", hint=hint)
        if beyond := [version for version in self.steps if version >= data_version]:
            hint = f"Raise data_version to {max(beyond) + 1}."
            raise ModelError(f"{owner}: a migration leads beyond data version {data_version}.", hint=hint)

    def versions(self, data_version: int) -> range:
        """The data versions that can be read, oldest first."""
        return range(min(self.steps, default=data_version), data_version + 1)

    def upgrade(self, item: Item, version: int, data_version: int) -> Item:
        """The item in the current data version; a copy, unless it already has that version.

        Raises:
            DataNewer: the item is newer than the code.
            InvalidItem: it is too old, because no migration starts from its version, or a migration returned no item.
        """
        if version == data_version:
            return item
        if version > data_version:
            raise newer(item, version, data_version)
        if version not in self.steps:
            oldest = self.versions(data_version)[0]
            raise InvalidItem(
                f"A stored item has data version {version}; {oldest} is the oldest that can be read.", item=item
            )
        upgraded = deepcopy(item)
        for step in range(version, data_version):
            upgraded = self.steps[step](upgraded)
            if not isinstance(upgraded, dict):
                message = f"The migration from data version {step} returned {upgraded!r:.60}, not an item."
                error = InvalidItem(message, item=item)
                error.hint = "Return the changed item."
                raise error
        return upgraded


def newer(item: Item, version: int, data_version: int) -> DataNewer:
    """The error for an item that newer code has written."""
    message = f"A stored item has data version {version}; this code knows versions up to {data_version}."
    return DataNewer(message, item=item, data_version=version)
