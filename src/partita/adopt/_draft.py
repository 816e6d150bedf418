"""A model that was inferred but not yet written: frozen values that the renderer turns into Python."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from partita.store import IndexSchema, TableSchema


class FieldDraft(Struct, frozen=True):
    """One field of an entity."""

    name: str
    annotation: str
    attribute: str
    default: str | None = None
    """Its default as Python source; None if it has no default."""
    key_only: bool = False

    @property
    def is_set(self) -> bool:
        """Whether the field holds a set, whose default is an empty one."""
        return self.annotation.startswith("frozenset")


class KeyDraft(Struct, frozen=True):
    """One key of an entity."""

    name: str
    hash: str
    range: str | None
    index: str | None = None


class EntityDraft(Struct, frozen=True):
    """One entity, and how many of the sampled items belong to it."""

    name: str
    type_name: str | None
    keys: tuple[KeyDraft, ...]
    fields: tuple[FieldDraft, ...]
    count: int

    def field(self, name: str) -> FieldDraft:
        """Return the field with that name."""
        return next(field for field in self.fields if field.name == name)


class ModelDraft(Struct, frozen=True):
    """A table with its entities, and notes about what could not be expressed."""

    schema: TableSchema
    indexes: tuple[IndexSchema, ...]
    """The indexes that the model declares."""
    separator: str
    values: Literal["escaped", "raw"]
    type_attribute: str | None
    entities: tuple[EntityDraft, ...]
    notes: tuple[str, ...] = ()
    sampled: int = 0

    def held_fields(self, entity: EntityDraft, index: IndexSchema) -> list[FieldDraft] | None:
        """Return the fields that an index holds; None if it holds all fields, an empty list if it cannot be queried.

        Every query needs the type attribute and the TTL attribute of an item, if the entity has them.
        """
        if index.projection == "ALL":
            return None
        held = {attribute.name for attribute in (*self.schema.key, *index.key)}
        held |= set() if index.projection == "KEYS_ONLY" else set(index.projection)
        attributes = [field.attribute for field in entity.fields]
        needed = {self.type_attribute, self.schema.ttl if self.schema.ttl in attributes else None} - {None}
        if not needed <= held:
            return []
        fields = [field for field in entity.fields if field.attribute in held or field.key_only]
        return fields if len(fields) < len(entity.fields) else None
