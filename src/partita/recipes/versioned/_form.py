"""The stored form of versioned data: the entity's own attributes and keys, and the bookkeeping attributes."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import ConditionFailed, FieldSealed, InvalidItem, ModelError
from partita.expressions import Compare, Condition, Path, Value, both
from partita.model import Entity, EntitySchema
from partita.operations import Context, conflict, missing
from partita.recipes.versioned._migrations import Migrations, has_plaintext
from partita.values import Item, Plaintext, UnopenedValue, is_sealed

E = TypeVar("E", bound=Entity)

DATA_VERSION: Final = "data_version"
LAST_WRITE: Final = "last_write"
"""The attribute with the time of the last write, in milliseconds since the epoch."""

_WRITTEN_OTHERWISE: Final = "Write such items only through their VersionedTable, never with a plain insert or put."


class Versioned(Struct, Generic[E], frozen=True):
    """Domain data with its bookkeeping."""

    data: E
    data_version: int
    """The schema version of `data`: always that of the code."""
    last_write: int
    """Milliseconds since the epoch; the next write is conditional on this value."""

    def with_data(self, data: E) -> Versioned[E]:
        """Replace the data, to be written over this version."""
        return replace(self, data=data)


class VersionedForm(Generic[E]):
    """Converts versioned data to items, and items of all versions to data."""

    def __init__(self, schema: EntitySchema[E], data_version: int, migrations: Migrations) -> None:
        migrations.check(data_version, schema.name)
        if schema.version is not None:
            message = f"{schema.name} has the version field {schema.version!r}, but {LAST_WRITE} guards its writes."
            raise ModelError(message, owner=schema.cls, hint="Remove the field.")
        self.schema = schema
        self.data_version = data_version
        self.migrations = migrations
        self.derived = frozenset(name for key in schema.keys.values() for name in key.written)
        for name in (DATA_VERSION, LAST_WRITE):
            if name in schema.attributes.values() or name in self.derived:
                message = f"{schema.name} has an attribute {name!r}, which a versioned table reserves."
                raise ModelError(message, owner=schema.cls, hint="Rename the field.")

    def __repr__(self) -> str:
        return f"<versioned form of {self.schema.name}>"

    def item(self, versioned: Versioned[E]) -> Item:
        """The item to store, always in the data version of the code."""
        bookkeeping = {DATA_VERSION: self.data_version, LAST_WRITE: versioned.last_write}
        return self.schema.item(versioned.data) | bookkeeping

    def versioned(self, item: Item) -> Versioned[E]:
        """The data in a stored item, migrated if it is old.

        Raises:
            DataNewer: newer code has written the item.
            InvalidItem: it has no bookkeeping, or does not fit the entity.
        """
        version, last_write = self.stored_version(item), item.get(LAST_WRITE)
        if not isinstance(last_write, int):
            raise InvalidItem(f"{self._name(item)} has no {LAST_WRITE}.", item=item, hint=_WRITTEN_OTHERWISE)
        if version == self.data_version:
            return Versioned(self.schema.entity(item), version, last_write)
        return Versioned(self._migrated(item, version), self.data_version, last_write)

    def _migrated(self, item: Item, version: int) -> E:
        """The data in an old item.

        Raises:
            DataNewer: newer code has written the item.
            InvalidItem: a migration failed, or its result does not fit the entity or has another key.
            FieldSealed: an encrypted field cannot be opened.
        """
        name = self._name(item)
        upgraded = self.migrations.upgrade(self._data(item), version, self.data_version, stored=item, name=name)
        named = f"{name}, after its migration from data version {version} to {self.data_version}"
        self._check_sealed(upgraded, item, named)
        try:
            data = self.schema.entity(upgraded)
        except FieldSealed:
            raise
        except InvalidItem as error:
            message = f"{named}, is not a valid {self.schema.name}: {error.reason}."
            cause = None if has_plaintext(item) else error.__cause__
            raise InvalidItem(message, item=item, reason=error.reason, hint="Correct the migration.") from cause
        if any(item[attribute] != part for attribute, part in self.schema.key(data).items()):
            raise InvalidItem(f"{named}, has another key.", item=item, hint="Keep the fields of the key as they are.")
        return data

    def _check_sealed(self, upgraded: Item, item: Item, named: str) -> None:
        """Refuse plain values of encrypted fields, which a migration may have taken from elsewhere in the item.

        Raises:
            InvalidItem: a migration returned one.
        """
        for attribute, form in self.schema.codec.forms.items():
            value = upgraded.get(attribute)
            opened = isinstance(value, Plaintext | UnopenedValue) or is_sealed(value)
            if form.encrypted is not None and not form.encrypted.reads_plain and attribute in upgraded and not opened:
                message = f"{named}, has a plain value in {attribute}, which is encrypted."
                hint = f"Return it as Plaintext({attribute}), from partita.values."
                raise InvalidItem(message, item=item, hint=hint)

    def _name(self, item: Item) -> str:
        """What errors call a stored item."""
        where = self.schema.codec.place(item)
        return f"The {self.schema.name} at {where}" if where else f"A stored {self.schema.name}"

    def live(self, item: Item | None, context: Context) -> Versioned[E] | None:
        """The data in a stored item, unless there is none or it has expired."""
        return None if item is None or not self.schema.live(item, context.clock()) else self.versioned(item)

    def stored_version(self, item: Item) -> int:
        """The data version of a stored item."""
        version = item.get(DATA_VERSION)
        if not isinstance(version, int):
            raise InvalidItem(f"{self._name(item)} has no {DATA_VERSION}.", item=item, hint=_WRITTEN_OTHERWISE)
        return version

    def follows(self, last_write: int) -> Condition:
        """The condition of every write: the stored item is the one that was read, and not newer than the code."""
        same: Condition = Compare("=", Path((LAST_WRITE,)), Value(last_write))
        return both(same, self.known())

    def known(self) -> Condition:
        """The condition that the stored item is not newer than the code."""
        return Compare("<=", Path((DATA_VERSION,)), Value(self.data_version))

    def failure(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The error for a write over another version than the stored one.

        Raises:
            DataNewer: newer code has written the item.
        """
        current = self.live(error.item, context)
        if current is None:
            return missing(self.schema, error.item)
        return conflict(self.schema, error.item, current)

    def _data(self, item: Item) -> Item:
        own = {DATA_VERSION, LAST_WRITE} | self.derived
        return {name: value for name, value in item.items() if name not in own}


def milliseconds(now: float) -> int:
    """Convert a time to the unit of `last_write`."""
    return int(now * 1_000)
