"""Fields become typed columns, and fields with conflicting names or types get separate columns."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import pyarrow as pa
import pytest
from pydantic import BaseModel, Field

from partita import Entity, Key, Registry, Table
from partita.change.lake._columns import Column, Values, columns_of, fitted

TABLE = Table("all-kinds", registry=Registry())


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Mixed(Enum):
    TEXT = "a"
    NUMBER = 1


class Place(BaseModel):
    street: str
    numbers: frozenset[int] = frozenset()


class Everything(Entity, table=TABLE):
    primary: ClassVar = Key("E#{text}", "E")
    text: str
    number: int
    truth: bool
    float_: float
    exact: Decimal
    price: Annotated[Decimal, Field(decimal_places=2)]
    blob: bytes
    day: date
    moment: datetime
    hour: time
    span: timedelta
    identity: UUID
    colour: Colour
    level: Level
    mixed: Mixed
    literal: Literal["a", "b"]
    words: list[str]
    days: tuple[date, ...]
    members: frozenset[int] = frozenset()
    pair: tuple[str, int]
    place: Place
    places: list[Place]
    mapping: dict[str, int]
    either: int | str
    perhaps: int | None = None


ENTITY = Everything(
    text="a",
    number=-5,
    truth=True,
    float_=1.5,
    exact=Decimal("1.2345678901234567890123456789"),
    price=Decimal("9.5"),
    blob=b"\x00\xff",
    day=date(2026, 1, 2),
    moment=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=2))),
    hour=time(12, 30),
    span=timedelta(minutes=1.5),
    identity=UUID(int=1),
    colour=Colour.RED,
    level=Level.HIGH,
    mixed=Mixed.NUMBER,
    literal="b",
    words=["b", "a"],
    days=(date(2026, 1, 1),),
    members=frozenset({3, 1, 2}),
    pair=("a", 1),
    place=Place(street="Elm", numbers=frozenset({2, 1})),
    places=[Place(street="Oak", numbers=frozenset({5}))],
    mapping={"b": 1, "a": 2},
    either="x",
)

EXPECTED: dict[str, tuple[Any, Any]] = {
    "text": (pa.string(), "a"),
    "number": (pa.int64(), -5),
    "truth": (pa.bool_(), True),
    "float_": (pa.float64(), 1.5),
    "exact": (pa.string(), "1.2345678901234567890123456789"),
    "price": (pa.decimal128(38, 2), Decimal("9.50")),
    "blob": (pa.binary(), b"\x00\xff"),
    "day": (pa.date32(), date(2026, 1, 2)),
    "moment": (pa.timestamp("us", tz="UTC"), datetime(2026, 1, 2, 1, 4, 5, 6, tzinfo=UTC)),
    "hour": (pa.string(), "12:30:00"),
    "span": (pa.float64(), 90.0),
    "identity": (pa.string(), "00000000-0000-0000-0000-000000000001"),
    "colour": (pa.string(), "red"),
    "level": (pa.int64(), 3),
    "mixed": (pa.string(), "1"),
    "literal": (pa.string(), "b"),
    "words": (pa.list_(pa.string()), ["b", "a"]),
    "days": (pa.list_(pa.date32()), [date(2026, 1, 1)]),
    "members": (pa.list_(pa.int64()), [1, 2, 3]),
    "pair": (pa.string(), '["a",1]'),
    "place": (pa.string(), '{"numbers":[1,2],"street":"Elm"}'),
    "places": (pa.string(), '[{"numbers":[5],"street":"Oak"}]'),
    "mapping": (pa.string(), '{"a":2,"b":1}'),
    "either": (pa.string(), '"x"'),
    "perhaps": (pa.int64(), None),
}

COLUMNS = {column.field: column for column in columns_of(Everything.__entity__)}


def test_every_field_has_a_column() -> None:
    assert COLUMNS.keys() == EXPECTED.keys()


@pytest.mark.req("T40")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_field_has_its_type_and_value(name: str) -> None:
    column, (kind, value) = COLUMNS[name], EXPECTED[name]
    assert column.type == kind
    assert pa.array(Values([column]).of(ENTITY), kind).to_pylist() == [value]


@pytest.mark.parametrize(
    ("field", "value"),
    [("number", 2**63), ("number", -(2**63) - 1), ("price", Decimal("1E+36")), ("members", frozenset({2**70}))],
)
def test_what_does_not_fit_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Values([COLUMNS[field]]).of(ENTITY.model_copy(update={field: value}))


def column(name: str, kind: pa.DataType) -> Column:
    return Column(name, name, kind, None)


def names(*columns: Column, there: dict[str, pa.DataType], reserved: str = "date") -> list[str]:
    return [column.name for column in fitted(columns, there, frozenset({reserved}))]


@pytest.mark.req("T43")
def test_the_same_type_keeps_its_column() -> None:
    assert names(column("a", pa.int64()), there={"a": pa.int64()}) == ["a"]


def test_another_type_gets_a_column_that_names_it() -> None:
    there = {"a": pa.int64(), "b": pa.string(), "c": pa.string()}
    assert names(column("a", pa.string()), there=there) == ["a_string"]
    assert names(column("b", pa.list_(pa.string())), there=there) == ["b_list_string"]
    assert names(column("c", pa.timestamp("us", tz="UTC")), there=there) == ["c_timestamp_us__tz_utc"]


def test_a_name_that_differs_by_case_is_the_same() -> None:
    assert names(column("Title", pa.string()), there={"title": pa.string()}) == ["title"]


def test_a_name_of_the_tables_own_gets_an_underscore() -> None:
    assert names(column("date", pa.date32()), there={"date": pa.date32()}) == ["date_"]
