"""Keys in the formats of other tools: separators, raw values, case, dates, numbers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.sample import steady

from partita import EmbeddedStore, Entity, Key, KeyFormat, KeyOnly, Registry, Session, Span, Table, get, put, query
from partita.errors import InvalidKey, ModelError, OperationError
from partita.model.keys._parts import parse_style
from partita.model.keys._template import Template
from partita.store import GetItem, PutItem

RAW = KeyFormat("|", values="raw")
NOON = datetime(2026, 3, 4, 12, 30, 5, 250_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("spec", "value", "text"),
    [
        ("lower", "Ada@X.de", "ada@x.de"),
        ("upper", "de", "DE"),
        ("d", 17, "17"),
        ("d", Decimal("1.5"), "1.5"),
        ("%Y-%m-%dT%H:%M:%SZ", NOON, "2026-03-04T12:30:05Z"),
        ("%Y-%m-%dT%H:%M:%S.%f+0000", NOON, "2026-03-04T12:30:05.250000+0000"),
        ("%Y%m%d", date(2026, 3, 4), "20260304"),
        ("%Y", date(26, 3, 4), "0026"),
        ("epoch", NOON, "1772627405"),
        ("epoch_ms", NOON, "1772627405250"),
    ],
)
def test_a_value_may_stand_in_another_form(spec: str, value: Any, text: str) -> None:
    assert Template(f"A|{{x:{spec}}}", format=RAW).render([value]) == f"A|{text}"


@pytest.mark.parametrize(
    ("spec", "value", "error"),
    [
        ("epoch", datetime(1971, 1, 1, tzinfo=UTC), "10 digits"),
        ("epoch", datetime(2026, 1, 1), "no time zone"),  # noqa: DTZ001 - the mistake to detect
        ("%Y", datetime(2026, 1, 1), "no time zone"),  # noqa: DTZ001
    ],
)
def test_a_value_that_would_not_sort_or_is_not_clear_is_refused(spec: str, value: Any, error: str) -> None:
    with pytest.raises((InvalidKey, OperationError), match=error):
        parse_style(spec, "").text(value)


@pytest.mark.parametrize("separator", ["|", ":", "::", "/", "#"])
@steady
@given(first=st.text("ab|:/#é ", min_size=1, max_size=5), second=st.text("ab|:/#é ", min_size=1, max_size=5))
def test_raw_values_read_back_or_are_refused(separator: str, first: str, second: str) -> None:
    template = Template(f"K{separator}{{x}}{separator}{{y}}", format=KeyFormat(separator, values="raw"))
    if all((part + separator).index(separator) == len(part) for part in (first, second)):
        assert template.values(template.render([first, second])) == {"x": first, "y": second}
    else:
        with pytest.raises(InvalidKey, match="contains the separator"):
            template.render([first, second])


@steady
@given(first=st.text(min_size=1, max_size=5), second=st.integers(-999, 999))
def test_escaped_values_read_back(first: str, second: int) -> None:
    template = Template("K#{x}#{n:+03}")
    assert template.values(template.render([first, second])) == {"x": first, "n": second}


def test_a_value_with_the_separator_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidKey, match=re.escape("'a|b' contains the separator '|'")):
        Template("K|{x}", format=RAW).render(["a|b"])


@pytest.mark.parametrize(
    ("separator", "values", "error"),
    [
        ("", "raw", "cannot separate"),
        ("a", "raw", "cannot separate"),
        ("{", "raw", "cannot separate"),
        ("%", "raw", "cannot separate"),
        ("|", "escaped", "separated by '#'"),
        ("|", "loud", "not a form"),
    ],
)
def test_a_format_that_would_be_ambiguous_is_refused(separator: str, values: Any, error: str) -> None:
    with pytest.raises(ModelError, match=error):
        KeyFormat(separator, values=values)


def test_templates_of_a_long_separator_are_told_apart() -> None:
    made = KeyFormat("::", values="raw")
    user, order = Template("U::{x}", format=made), Template("U::{x}::O::{y}", format=made)
    assert not user.overlaps(order)
    assert user.overlaps(Template("U::{z}", format=made))
    assert not user.matches("U::a::O::b")
    assert order.matches("U::a::O::b")


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Color(StrEnum):
    RED = "red"


def table(**options: Any) -> Table:
    return Table("existing", registry=Registry(), **options)


def session(declared: Table) -> Session:
    db = Session(EmbeddedStore(":memory:"))
    db.create_tables([declared])
    return db


def test_a_field_that_is_only_in_the_key_is_read_from_it() -> None:
    declared = table(keys=RAW)

    class Reading(Entity, table=declared):
        primary: ClassVar = Key("S|{sensor}|{level}|{color}", "{at:%Y-%m-%dT%H:%M:%SZ}|{n:04}")
        sensor: KeyOnly[str]
        level: KeyOnly[Level]
        color: KeyOnly[Color]
        at: KeyOnly[datetime]
        n: KeyOnly[int]
        value: int

    @query(Reading, Reading.primary)
    def readings_of(sensor: str, level: Level, color: Color) -> None:
        """Readings."""

    db = session(declared)
    item = {"PK": "S|north|2|red", "SK": "2026-03-04T12:30:05Z|0017", "value": 3}
    db.store.execute(PutItem("existing", item))
    (found,) = db.run(readings_of("north", Level.HIGH, Color.RED))
    expected = {"sensor": "north", "level": Level.HIGH, "color": Color.RED, "n": 17, "value": 3}
    assert found.model_dump() == {**expected, "at": NOON.replace(microsecond=0)}
    db.run(put(found))
    assert db.store.execute(GetItem("existing", {"PK": item["PK"], "SK": item["SK"]})).item == item


def test_a_condition_on_a_field_that_is_only_in_the_key_is_refused() -> None:
    declared = table()

    class Note(Entity, table=declared):
        primary: ClassVar = Key("N#{name}", "N")
        name: KeyOnly[str]

    from partita import f

    with pytest.raises(OperationError, match="only in the key"):
        put(Note(name="a")).when(f(Note.name).eq("a"))


def test_a_field_that_is_only_in_the_key_must_be_in_the_primary_key() -> None:
    with pytest.raises(ModelError, match="KeyOnly"):

        class Note(Entity, table=table()):
            primary: ClassVar = Key("N#{name}", "N")
            name: str
            other: KeyOnly[str]


def test_a_stored_item_without_the_attribute_of_its_key_is_read_from_the_key() -> None:
    declared = table()

    class Note(Entity, table=declared):
        primary: ClassVar = Key("N#{name}", "N")
        name: str

    @get(Note)
    def note_by_name(name: str) -> None:
        """A note."""

    db = session(declared)
    db.store.execute(PutItem("existing", {"PK": "N#a%20b", "SK": "N"}))
    assert db.run(note_by_name("a b")) == Note(name="a b")


@pytest.mark.parametrize("template", ["T|{at:%d.%m.%Y}", "T|{n:d}", "T|{text}|{n:04}"])
def test_a_range_of_what_does_not_sort_is_refused(template: str) -> None:
    class Thing(Entity, table=table(keys=RAW)):
        primary: ClassVar = Key("P|{name}", template)
        name: str
        at: date
        n: int
        text: str

    with pytest.raises(ModelError, match="does not sort"):
        _declare_range(Thing, template)


def _declare_range(thing: Any, template: str) -> None:
    if "{at" in template:

        @query(thing, thing.primary)
        def by_day(name: str, at: Span[date]) -> None:
            """A range of days."""

    elif "{text" in template:

        @query(thing, thing.primary)
        def by_text(name: str, text: Span[str]) -> None:
            """A range of texts."""

    else:

        @query(thing, thing.primary)
        def by_number(name: str, n: Span[int]) -> None:
            """A range of numbers."""


def test_a_range_of_days_in_a_form_that_sorts() -> None:
    declared = table(keys=RAW)

    class Day(Entity, table=declared):
        primary: ClassVar = Key("P|{name}", "{at:%Y%m%d}|{n:02}")
        name: str
        at: date
        n: int

    @query(Day, Day.primary)
    def days_of(name: str, at: Span[date]) -> None:
        """A range of days."""

    db = session(declared)
    for day in (3, 4, 5):
        db.run(put(Day(name="a", at=date(2026, 3, day), n=1)))
    found = db.run(days_of("a", Span.between(date(2026, 3, 4), date(2026, 3, 5))))
    assert [day.at.day for day in found] == [4, 5]


def test_a_sort_key_of_one_padded_number_is_text() -> None:
    declared = table()

    class Step(Entity, table=declared):
        primary: ClassVar = Key("A#{name}", "{n:03}")
        name: str
        n: int

    db = session(declared)
    db.run(put(Step(name="a", n=7)))
    assert db.store.execute(GetItem("existing", {"PK": "A#a", "SK": "007"})).item is not None


@pytest.mark.parametrize("template", ["{name:06}", "{n:lower}", "{n:%Y}", "{name:epoch}", "{name:d}"])
def test_a_form_that_does_not_fit_the_type_is_refused(template: str) -> None:
    with pytest.raises(ModelError, match="cannot write in that form"):

        class Wrong(Entity, table=table()):
            primary: ClassVar = Key("A#{name}", f"B#{template}")
            name: str
            n: int
