"""Lazy migrations: pure functions from one data version to the next, chained when an old item is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import TypeAlias

from msgspec import Struct

from partita.errors import DataNewer, InvalidItem, ModelError, PartitaError
from partita.values import Item, Plaintext

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
            ModelError: a step is missing, is not a function, or leads beyond the data version.
        """
        self._check_types(data_version, owner)
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

    def _check_types(self, data_version: object, owner: str) -> None:
        if type(data_version) is not int:
            message = f"{owner}: a data version is an int, not {data_version!r:.60}."
            raise ModelError(message, owner=owner, hint="Write data_version=2.")
        if not isinstance(self.steps, Mapping) or not all(type(each) is int for each in self.steps):
            hint = "Write Migrations({1: name_from_owner}): each step under the data version that it starts from."
            raise ModelError(f"{owner}: the migrations are not a mapping of data versions.", owner=owner, hint=hint)
        for version, step in self.steps.items():
            if not callable(step):
                message = f"{owner}: the migration from {version} is a {type(step).__name__}, not a function."
                raise ModelError(message, owner=owner, hint="Pass a function of an item that returns the changed item.")

    def versions(self, data_version: int) -> range:
        """The data versions that can be read, oldest first."""
        return range(min(self.steps, default=data_version), data_version + 1)

    def upgrade(
        self, item: Item, version: int, data_version: int, *, stored: Item | None = None, name: str = "A stored item"
    ) -> Item:
        """The item in the current data version; a copy, unless it already has that version.

        Errors carry the item as it is `stored`, with keys and bookkeeping, and call it by its `name`.

        Raises:
            DataNewer: the item is newer than the code.
            InvalidItem: it is too old, because no migration starts from its version, or a migration failed.
        """
        stored = item if stored is None else stored
        if version == data_version:
            return item
        if version > data_version:
            raise newer(stored, version, data_version, name)
        if version not in self.steps:
            oldest = self.versions(data_version)[0]
            message = f"{name} has data version {version}; {oldest} is the oldest that can be read."
            raise InvalidItem(message, item=stored)
        upgraded = deepcopy(item)
        for step in range(version, data_version):
            upgraded = self._migrated(upgraded, step, stored, name)
        return upgraded

    def _migrated(self, item: Item, step: int, stored: Item, name: str) -> Item:
        """The item after one step. Its errors do not show what the migration returned: it may be an encrypted value."""
        named = f"{name}: its migration from data version {step} to {step + 1}"
        try:
            migrated = self.steps[step](item)
        except Exception as error:  # noqa: BLE001 - a migration may raise anything
            message = f"{named} raised {type(error).__name__}."
            raise InvalidItem(message, item=stored, hint="Correct the migration.") from _shown(error, stored)
        if not isinstance(migrated, dict):
            message = f"{named} returned {_type_name(migrated)}, not an item."
            raise InvalidItem(message, item=stored, hint="Return the changed item.")
        return migrated


def _type_name(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def has_plaintext(item: Item) -> bool:
    """Whether the item has the opened value of an encrypted field."""
    return any(isinstance(value, Plaintext) for value in item.values())


def _shown(error: Exception, item: Item) -> Exception:
    """The error of a migration, or, if its message could show an encrypted value, only its type and its place."""
    if not has_plaintext(item):
        return error
    hidden = PartitaError(f"{type(error).__name__}, without its message, which could show an encrypted value")
    return hidden.with_traceback(error.__traceback__)


def newer(item: Item, version: int, data_version: int, name: str = "A stored item") -> DataNewer:
    """The error for an item that newer code has written."""
    message = f"{name} has data version {version}; this code knows versions up to {data_version}."
    return DataNewer(message, item=item, data_version=version)
