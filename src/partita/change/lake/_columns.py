"""Typed columns from the model: the Arrow type of each field, and the conversion of its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeAlias, get_args, get_origin
from uuid import UUID

import msgspec
import pyarrow as pa
from msgspec import Struct
from pydantic.fields import FieldInfo

from partita.model import Entity, EntitySchema, kinds_of, to_attribute

Convert: TypeAlias = Callable[[Any], Any]
Typed: TypeAlias = tuple[pa.DataType, Convert | None]
"""An Arrow type, and the function that converts values to it; None if values need no conversion."""

_INT64: Final = range(-(2**63), 2**63)
_DIGITS: Final = 38
_COLLECTIONS: Final = (list, tuple, set, frozenset)

_encode: Final = msgspec.json.Encoder(decimal_format="number", order="sorted").encode


class Column(Struct, frozen=True):
    """One column, with the field and the conversion that fill it."""

    name: str
    field: str
    type: pa.DataType
    convert: Convert | None


class Values:
    """Extracts the values of some columns from entities."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._fields = tuple(column.field for column in columns)
        self._converts = tuple((place, column.convert) for place, column in enumerate(columns) if column.convert)

    def of(self, entity: Entity) -> list[Any]:
        """Return the values for a row.

        Raises:
            ValueError: a value does not fit the type of its column.
        """
        values = [getattr(entity, field) for field in self._fields]
        for place, convert in self._converts:
            if values[place] is not None:
                values[place] = convert(values[place])
        return values


def columns_of(schema: EntitySchema[Any]) -> tuple[Column, ...]:
    """Return a column for each field of an entity that is not encrypted."""
    fields = schema.cls.model_fields.items()
    shown = [(name, field) for name, field in fields if schema.attribute(name) not in schema.secrets]
    return tuple(Column(name, name, *_typed(field.annotation, field)) for name, field in shown)


def fitted(
    columns: tuple[Column, ...], there: Mapping[str, pa.DataType], reserved: frozenset[str]
) -> tuple[Column, ...]:
    """Rename columns to fit the existing ones: a name that exists with another type becomes a separate column."""
    known = {name.lower(): (name, kind) for name, kind in there.items()}
    return tuple(_fitted(column, known, reserved) for column in columns)


def _fitted(column: Column, known: Mapping[str, tuple[str, pa.DataType]], reserved: frozenset[str]) -> Column:
    name = f"{column.name}_" if column.name.lower() in reserved else column.name
    found, kind = known.get(name.lower(), (name, column.type))
    if kind != column.type:
        name = f"{name}_{_word(column.type)}"
        found, _ = known.get(name.lower(), (name, column.type))
    return msgspec.structs.replace(column, name=found)


def json_text(value: Any) -> str:
    """Return attribute values as JSON: sets become lists, and binaries become base64."""
    return _encode(value).decode()


def _word(kind: pa.DataType) -> str:
    """Return a type as it appears in a column's name."""
    if pa.types.is_list(kind):
        return f"list_{_word(kind.value_type)}"
    return "".join(letter if letter.isalnum() else "_" for letter in str(kind)).strip("_").lower()


def _typed(annotation: Any, field: FieldInfo) -> Typed:
    kinds = [_of_kind(kind, field) for kind in kinds_of(annotation)]
    if kinds and all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    return _JSON


def _of_kind(kind: Any, field: FieldInfo) -> Typed:
    origin = get_origin(kind) or kind
    if origin in _COLLECTIONS:
        return _collection(get_args(kind), field)
    if not isinstance(origin, type):
        return _JSON
    if issubclass(origin, Enum):
        return _enum(origin, field)
    if issubclass(origin, Decimal):
        return _decimal(field)
    return next((typed for known, typed in _SCALARS.items() if issubclass(origin, known)), _JSON)


def _collection(arguments: tuple[Any, ...], field: FieldInfo) -> Typed:
    elements = [argument for argument in arguments if argument is not Ellipsis]
    if len(elements) != 1:
        return _JSON
    kind, convert = _typed(elements[0], field)
    if (kind, convert) == _JSON:
        return _JSON
    return pa.list_(kind), lambda value: _elements(value, convert)


def _elements(value: Any, convert: Convert | None) -> list[Any]:
    elements = sorted(value) if isinstance(value, set | frozenset) else list(value)
    return elements if convert is None else [None if element is None else convert(element) for element in elements]


def _enum(kind: type[Enum], field: FieldInfo) -> Typed:
    values = {type(member.value) for member in kind}
    if len(values) != 1:
        return _JSON
    typed, convert = _of_kind(values.pop(), field)
    return typed, lambda member: member.value if convert is None else convert(member.value)


def _decimal(field: FieldInfo) -> Typed:
    """Return an exact type: a decimal if the field declares its number of decimal places, else a string."""
    places = next((limit.decimal_places for limit in field.metadata if getattr(limit, "decimal_places", None)), None)
    if places is None:
        return pa.string(), str
    return pa.decimal128(_DIGITS, places), lambda value: _quantized(value, places)


def _quantized(value: Decimal, places: int) -> Decimal:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or -exponent > places or value.adjusted() >= _DIGITS - places:
        raise ValueError(f"{value} does not fit into {_DIGITS} digits with {places} places.")
    return value


def _int64(value: int) -> int:
    if value not in _INT64:
        raise ValueError(f"{value} does not fit into 64 bits.")
    return int(value)


_JSON: Final[Typed] = (pa.string(), lambda value: json_text(to_attribute(value)))

# The order matters: bool is a subclass of int, and datetime of date.
_SCALARS: Final[dict[type, Typed]] = {
    bool: (pa.bool_(), None),
    int: (pa.int64(), _int64),
    float: (pa.float64(), None),
    str: (pa.string(), None),
    bytes: (pa.binary(), None),
    datetime: (pa.timestamp("us", tz="UTC"), lambda value: value.astimezone(UTC)),
    date: (pa.date32(), None),
    time: (pa.string(), time.isoformat),
    timedelta: (pa.float64(), timedelta.total_seconds),
    UUID: (pa.string(), str),
}
