"""One change of one item, with the entity before and after it."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from partita.encryption import FieldKeys
from partita.errors import InvalidItem
from partita.model import Entity, EntitySchema, Table
from partita.store import StreamRecord
from partita.values import Item

Kind: TypeAlias = Literal["insert", "modify", "remove", "snapshot"]
"""The kind of a change. "snapshot" is for items that existed when the consumer began."""

_NOT_READ: Final = object()
"""The value of a lazy attribute before its first access. `cached_property` takes a lock before Python 3.12."""

_KINDS: Final[dict[str, Kind]] = {"INSERT": "insert", "MODIFY": "modify", "REMOVE": "remove"}


class ItemChange:
    """A change of one item. Its images are plain attributes; entities are built from them on first access."""

    def __init__(self, table: Table, record: StreamRecord, shard: str) -> None:
        """Describe the change in a record.

        Args:
            table: the declared table.
            record: the record of the change in the stream.
            shard: the shard of the stream that it was read from; empty in a snapshot.
        """
        self.table = table
        self.record = record
        self.shard = shard
        self._schema: Any = _NOT_READ
        self._old: Any = _NOT_READ
        self._new: Any = _NOT_READ

    @classmethod
    def snapshot(cls, table: Table, keys: Item, item: Item, at: float) -> ItemChange:
        """Return the change for an existing item."""
        return cls(table, StreamRecord(0, "INSERT", keys, None, item, at, 0), "")

    def __repr__(self) -> str:
        name = "undeclared item" if self.schema is None else self.schema.name
        return f"<{self.kind} of {name} {tuple(self.keys.values())} at {self.shard}:{self.sequence}>"

    @property
    def kind(self) -> Kind:
        """The kind of the change."""
        return _KINDS[self.record.event] if self.shard else "snapshot"

    @property
    def keys(self) -> Item:
        """The item's key attributes."""
        return self.record.keys

    @property
    def old_item(self) -> Item | None:
        """The stored item before the change; None if there was none."""
        return self.record.old

    @property
    def new_item(self) -> Item | None:
        """The stored item after the change; None if it was removed."""
        return self.record.new

    @property
    def sequence(self) -> int:
        """The position of the change in its shard, which increases with every change; 0 in a snapshot."""
        return self.record.sequence

    @property
    def at(self) -> float:
        """The time of the change, or of the snapshot, in seconds since the epoch."""
        return self.record.at

    @property
    def by_ttl(self) -> bool:
        """Whether the store removed the item because it had expired."""
        return self.record.by_ttl

    @property
    def schema(self) -> EntitySchema[Any] | None:
        """The schema of the item's entity; None for an item of no declared entity."""
        if self._schema is _NOT_READ:
            self._schema = self._find_schema()
        return self._schema  # type: ignore[no-any-return]

    def _find_schema(self) -> EntitySchema[Any] | None:
        item = self.record.new or self.record.old or self.record.keys  # images contain the key
        for schema in self.table.entities:  # runs for every change, and a generator would cost more
            if schema.owns(item):
                return schema
        return None

    @property
    def entity(self) -> type[Entity] | None:
        """The class of the item's entity; None for an item of no declared entity."""
        return None if self.schema is None else self.schema.cls

    @property
    def old(self) -> Any:
        """The entity before the change; None if there was no item, or it is of no declared entity.

        Raises:
            InvalidItem: the stored item does not fit the entity, or has an encrypted field that was not decrypted.
        """
        if self._old is _NOT_READ:
            self._old = self._hydrated(self.record.old)
        return self._old

    @property
    def new(self) -> Any:
        """The entity after the change; None if the item was removed, or is of no declared entity.

        Raises:
            InvalidItem: the stored item does not fit the entity, or has an encrypted field that was not decrypted.
        """
        if self._new is _NOT_READ:
            self._new = self._hydrated(self.record.new)
        return self._new

    @cached_property
    def problem(self) -> str | None:
        """Why the item after the change is not a valid entity; None if it is valid, or if there is none."""
        try:
            self.new  # noqa: B018 - it raises
        except InvalidItem as error:
            return error.message
        return None

    def opened_by(self, keys: FieldKeys) -> ItemChange:
        """Return the same change with its encrypted fields decrypted. This may block to unwrap a key."""
        old, new = self.record.old, self.record.new
        record = replace(
            self.record,
            old=None if old is None else keys.open_item(self.table.name, old),
            new=None if new is None else keys.open_item(self.table.name, new),
        )
        return ItemChange(self.table, record, self.shard)

    def _hydrated(self, item: Item | None) -> Any:
        return None if item is None or self.schema is None else self.schema.entity(item)
