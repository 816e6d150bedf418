"""Rows for the lake's tables: a change with its values, as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import pyarrow as pa
from msgspec import Struct

from partita.change._change import Change
from partita.change.lake._columns import Column, json_text
from partita.errors import InvalidItem

UNDECLARED: Final = "_undeclared"
"""The entity of items that belong to no declared one."""

Own: TypeAlias = tuple[str, pa.DataType, Callable[["Row"], Any]]


class Row(Struct, frozen=True):
    """A change, the entity's values after it (before it, where it was removed), and what is wrong with them."""

    change: Change
    values: tuple[Any, ...]
    problem: str | None = None


def row_of(change: Change, columns: Sequence[Column]) -> Row:
    """The row of a change of a declared entity; one that does not fit has no values, and says why."""
    try:
        entity = change.new if change.new_item is not None else _before(change)
        return Row(change, () if entity is None else tuple(column.value(entity) for column in columns))
    except (InvalidItem, ValueError) as error:
        return Row(change, (), str(error))


def _before(change: Change) -> Any:
    """What was removed; it is removed also if it did not fit."""
    try:
        return change.old
    except InvalidItem:
        return None


def _moment(row: Row) -> datetime:
    return datetime.fromtimestamp(row.change.at, UTC)


def _image(item: Any) -> str | None:
    return None if item is None else json_text(item)


def _entity(row: Row) -> str:
    return UNDECLARED if row.change.schema is None else row.change.schema.name


_KEY: Final[Own] = ("_key", pa.string(), lambda row: json_text(list(row.change.keys.values())))
_SEQUENCE: Final[Own] = ("_sequence", pa.decimal128(38, 0), lambda row: row.change.sequence or None)

LOG: Final[tuple[Own, ...]] = (
    ("entity", pa.string(), _entity),
    ("date", pa.date32(), lambda row: _moment(row).date()),
    _KEY,
    ("_kind", pa.string(), lambda row: row.change.kind),
    ("_at", pa.timestamp("us", tz="UTC"), _moment),
    ("_by_ttl", pa.bool_(), lambda row: row.change.by_ttl),
    ("_shard", pa.string(), lambda row: row.change.shard),
    _SEQUENCE,
    ("_old", pa.string(), lambda row: _image(row.change.old_item)),
    ("_new", pa.string(), lambda row: _image(row.change.new_item)),
    ("_problem", pa.string(), lambda row: row.problem),
)
"""The change log's own columns, besides the fields of the entities."""

CURRENT: Final[tuple[Own, ...]] = (
    ("date", pa.date32(), lambda row: _moment(row).date()),
    _KEY,
    ("_changed_at", pa.timestamp("us", tz="UTC"), _moment),
    ("_deleted", pa.bool_(), lambda row: row.change.new_item is None),
    ("_by_ttl", pa.bool_(), lambda row: row.change.by_ttl),
    _SEQUENCE,
)
"""A current table's own columns, besides the fields of its entity."""


def schema_of_own(own: Iterable[Own]) -> pa.Schema:
    """The Arrow schema of a table's own columns."""
    return pa.schema([(name, kind) for name, kind, _ in own])


def batch_of(rows: Sequence[Row], own: Sequence[Own], columns: Sequence[Column], schema: pa.Schema) -> pa.RecordBatch:
    """The rows of one entity as columns; those of the schema that it does not have stay empty."""
    arrays = {name: pa.array([fill(row) for row in rows], kind) for name, kind, fill in own}
    for place, column in enumerate(columns):
        values = [row.values[place] if row.values else None for row in rows]
        arrays[column.name] = pa.array(values, column.type)
    filled = [arrays[field.name] if field.name in arrays else pa.nulls(len(rows), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(filled, schema=schema)
