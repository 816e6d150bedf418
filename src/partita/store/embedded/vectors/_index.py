"""A vector index: its entry of an item, and the validation of items."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any, Final, TypeAlias

from partita.errors import ValidationFailed
from partita.store._schema import TableSchema, VectorIndexSchema
from partita.store.embedded._keys import HASH_BYTES, Column, KeyPart
from partita.values import Item, kind_of, text_size, value_size

VectorEntry: TypeAlias = tuple[Any, ...]
"""The columns of the search attributes (None if missing), and the vector as bytes."""

FLOAT_BYTES: Final = 4
MIN_BYTES: Final = 1_024
"""The minimum number of bytes that AWS charges for a write or a search."""
_INVALID: Final = "One or more parameter values were invalid. "
_ABSENT: Final = object()


class VectorIndex:
    """A vector index of a table, created once when the catalog is read."""

    def __init__(self, number: int, schema: VectorIndexSchema, table: TableSchema) -> None:
        self.number = number
        self.schema = schema
        self.name = schema.name
        self.attribute = schema.attribute
        self.dimensions = schema.dimensions
        self.parts = tuple(KeyPart(attribute, HASH_BYTES) for attribute in schema.search)
        self.columns = tuple(f"p{position}" for position in range(len(self.parts)))
        self.projected = _projected(schema, table)
        self._pack = struct.Struct(f"<{schema.dimensions}f").pack

    def entry(self, item: Item, before: Item | None = None) -> VectorEntry | None:
        """The entry of an item; None if the item is not in the index.

        Invalid attributes that are unchanged since `before` are accepted: the item predates the index.

        Raises:
            ValidationFailed: the vector or a search attribute is invalid for the index.
        """
        try:
            vector, columns = self._vector(item.get(self.attribute, _ABSENT)), self._columns(item)
        except ValidationFailed:
            if before is None or not self._is_untouched(item, before):
                raise
            return None
        if vector is None or (self.schema.hash is not None and columns[0] is None):
            return None
        return (*columns, vector)

    def entry_or_none(self, item: Item) -> VectorEntry | None:
        """The entry of a stored item; None if the item is not in the index or has invalid attributes."""
        try:
            return self.entry(item)
        except ValidationFailed:
            return None

    def _is_untouched(self, item: Item, before: Item) -> bool:
        names = (self.attribute, *(part.name for part in self.parts))
        return all(item.get(name, _ABSENT) == before.get(name, _ABSENT) for name in names)

    def _columns(self, item: Item) -> list[Column | None]:
        return [part.in_index(item[part.name], self.name) if part.name in item else None for part in self.parts]

    def _vector(self, value: Any) -> bytes | None:
        if value is _ABSENT:
            return None
        if type(value) is not list:
            message = f"Invalid type for parameter {self.attribute}, Expected: 32-bit floating point number list"
            raise ValidationFailed(f"{_INVALID}{message} IndexName: {self.name}")
        try:
            if len(value) == self.dimensions and all(type(each) in (int, Decimal) for each in value):
                return self._pack(*map(float, value))
        except OverflowError:
            pass
        raise self._wrong(value)

    def _wrong(self, value: list[Any]) -> ValidationFailed:
        for place, each in enumerate(value):
            if not is_float32(each):
                types = f"Expected: 32-bit floating point number, Actual: {kind_of(each)}."
                message = f"Invalid type for parameter {self.attribute}[{place}], {types} IndexName: {self.name}"
                return ValidationFailed(_INVALID + message)
        sizes = f"Expected: {self.dimensions}, Actual: {len(value)} IndexName: {self.name}"
        return ValidationFailed(f"{_INVALID}Invalid size for parameter {self.attribute}, {sizes}")

    def write_bytes(self, before: Item | None, after: Item | None) -> float:
        """The bytes that AWS charges for a write: none if the projected attributes do not change."""
        if before is not None and after is not None and self._held(before) == self._held(after):
            return 0.0
        sizes = [self.entry_bytes(item) for item in (before, after) if item is not None]
        return float(max(MIN_BYTES, sizes[-1])) if sizes else 0.0

    def _held(self, item: Item) -> Item:
        return item if self.projected is None else {name: item[name] for name in self.projected if name in item}

    def entry_bytes(self, item: Item) -> int:
        """The size of an item's entry: four bytes per dimension, and the other attributes as in the table."""
        names = item if self.projected is None else [name for name in self.projected if name in item]
        rest = sum(text_size(name) + value_size(item[name]) for name in names if name != self.attribute)
        return rest + text_size(self.attribute) + FLOAT_BYTES * self.dimensions

    def shown(self, item: Item) -> Item:
        """The attributes that a search without a projection returns: the projected ones without the vector."""
        names = item if self.projected is None else self.projected
        return {name: item[name] for name in names if name in item and name != self.attribute}


def _projected(schema: VectorIndexSchema, table: TableSchema) -> tuple[str, ...] | None:
    if schema.projection == "ALL":
        return None
    extra = () if schema.projection == "KEYS_ONLY" else schema.projection
    names = [attribute.name for attribute in (*table.key, *schema.search)]
    return tuple(dict.fromkeys((*names, schema.attribute, *extra)))


def is_float32(value: Any) -> bool:
    """Whether a value is a number within the range of a 32-bit float; it may lose precision."""
    if type(value) not in (int, float, Decimal):
        return False
    try:
        struct.pack("<f", float(value))
    except (OverflowError, ValueError):
        return False
    return True
