"""Rows for the lake's tables: changes and their values, as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final, TypeAlias

import pyarrow as pa
from msgspec import Struct

from partita.change._change import ItemChange
from partita.change.lake._columns import Column, Values, json_text
from partita.errors import InvalidItem

UNDECLARED: Final = "_undeclared"
"""The entity name of items that belong to no declared entity."""

Own: TypeAlias = tuple[str, pa.DataType, Callable[["Row"], Any]]


class Row(Struct, frozen=True):
    """A change, the entity's values after it (before it, for a removal), and why they are invalid, if they are."""

    change: ItemChange
    key: str
    values: list[Any] | None = None
    problem: str | None = None


def row_of(change: ItemChange, values: Values | None) -> Row:
    """Return the row of a change; if the item does not fit its entity, the row has no values but a `problem`."""
    key = json_text(list(change.keys.values()))
    if values is None:
        return Row(change, key)
    try:
        entity = _after(change) if change.new_item is not None else _before(change)
        return Row(change, key, None if entity is None else values.of(entity))
    except (InvalidItem, ValueError) as error:
        return Row(change, key, problem=str(error))


def _after(change: ItemChange) -> Any:
    """Return the entity after the change, without encrypted fields, because the lake has no keys."""
    item, schema = change.new_item, change.schema
    return change.new if schema is None or item is None or not schema.secrets else schema.without_secrets(item)


def _before(change: ItemChange) -> Any:
    """Return the removed entity; None if its item did not fit, because it is removed from the lake all the same."""
    item, schema = change.old_item, change.schema
    try:
        return change.old if schema is None or item is None or not schema.secrets else schema.without_secrets(item)
    except InvalidItem:
        return None


def _microseconds(row: Row) -> int:
    return round(row.change.record.at * 1_000_000)


def _day(row: Row) -> int:
    return int(row.change.record.at // 86_400)


def _image(item: Any) -> str | None:
    return None if item is None else json_text(item)


def _entity(row: Row) -> str:
    return UNDECLARED if row.change.schema is None else row.change.schema.name


_KEY: Final[Own] = ("_key", pa.string(), attrgetter("key"))
_SEQUENCE: Final[Own] = ("_sequence", pa.decimal128(38, 0), lambda row: row.change.sequence or None)

LOG: Final[tuple[Own, ...]] = (
    ("entity", pa.string(), _entity),
    ("date", pa.date32(), _day),
    _KEY,
    ("_kind", pa.string(), lambda row: row.change.kind),
    ("_at", pa.timestamp("us", tz="UTC"), _microseconds),
    ("_by_ttl", pa.bool_(), attrgetter("change.record.by_ttl")),
    ("_shard", pa.string(), attrgetter("change.shard")),
    _SEQUENCE,
    ("_old", pa.string(), lambda row: _image(row.change.record.old)),
    ("_new", pa.string(), lambda row: _image(row.change.record.new)),
    ("_problem", pa.string(), attrgetter("problem")),
)
"""The change log's own columns, in addition to the fields of the entities."""

CURRENT: Final[tuple[Own, ...]] = (
    ("date", pa.date32(), _day),
    _KEY,
    ("_changed_at", pa.timestamp("us", tz="UTC"), _microseconds),
    ("_deleted", pa.bool_(), lambda row: row.change.new_item is None),
    ("_by_ttl", pa.bool_(), attrgetter("change.record.by_ttl")),
    _SEQUENCE,
)
"""A current table's own columns, in addition to the fields of its entity."""


def schema_of_own(own: Iterable[Own]) -> pa.Schema:
    """Return the Arrow schema of a table's own columns."""
    return pa.schema([(name, kind) for name, kind, _ in own])


def batch_of(rows: Sequence[Row], own: Sequence[Own], columns: Sequence[Column], schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows of one entity as a batch; columns of the schema that the entity does not have are null."""
    arrays = {name: pa.array([fill(row) for row in rows], kind) for name, kind, fill in own}
    for place, column in enumerate(columns):
        values = [None if row.values is None else row.values[place] for row in rows]
        arrays[column.name] = pa.array(values, column.type)
    filled = [arrays[field.name] if field.name in arrays else pa.nulls(len(rows), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(filled, schema=schema)
