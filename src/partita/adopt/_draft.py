"""A model that was inferred, not written yet: frozen values that the renderer turns into Python."""

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
    """Its default as Python writes it; None where it has none."""
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
    """One entity, and how many of the sampled items are its own."""

    name: str
    type_name: str | None
    keys: tuple[KeyDraft, ...]
    fields: tuple[FieldDraft, ...]
    count: int

    def field(self, name: str) -> FieldDraft:
        """The field of that name."""
        return next(field for field in self.fields if field.name == name)


class ModelDraft(Struct, frozen=True):
    """A table with its entities, and what could not be expressed."""

    schema: TableSchema
    indexes: tuple[IndexSchema, ...]
    """The indexes that the model declares."""
    separator: str
    values: Literal["escaped", "raw"]
    type_attribute: str | None
    entities: tuple[EntityDraft, ...]
    notes: tuple[str, ...] = ()
    sampled: int = 0
