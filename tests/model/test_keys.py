"""Key templates: escaping, order, empty values, and overlapping templates."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.model.sample import steady

from partita.errors import InvalidKey, ModelError
from partita.model.keys._parts import Width, parse_style, part_text
from partita.model.keys._template import Template

texts = st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=8)
tricky = st.text(alphabet="#%235a", min_size=1, max_size=5)
parts = texts | tricky
instants = st.datetimes(
    datetime(1, 1, 3),  # noqa: DTZ001 - Hypothesis adds the zone
    datetime(9999, 12, 29),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-5))]),
)


class Priority(StrEnum):
    LOW = "low"
    HIGH = "high"

    def __key__(self) -> str:
        return {"high": "1", "low": "2"}[self.value]


class Color(StrEnum):
    RED = "dark#red"


# --- escaping ---


@steady
@given(st.tuples(parts, parts), st.tuples(parts, parts))
@example(("a#b", "c"), ("a", "b#c"))
@example(("a%23b", "c"), ("a#b", "c"))
@example(("%", "25"), ("%25", "2"))
def test_different_values_never_give_the_same_key(left: tuple[str, str], right: tuple[str, str]) -> None:
    template = Template("A#{x}#B#{y}")
    assert (template.render(left) == template.render(right)) == (left == right)


@steady
@given(parts)
def test_a_value_never_contains_the_separator(value: str) -> None:
    assert "#" not in part_text(value)


@steady
@given(parts)
def test_an_escaped_value_can_be_read_back(value: str) -> None:
    assert unquote(part_text(value)) == value


@steady
@given(parts, parts)
def test_a_template_recognises_what_it_made(first: str, second: str) -> None:
    template = Template("A#{x}#B#{y}")
    assert template.matches(template.render([first, second]))


@steady
@given(parts, parts)
def test_a_closed_prefix_reaches_only_its_own_value(value: str, other: str) -> None:
    template = Template("MILESTONE#{x}#{y}")
    key = template.render([other, "z"])
    assert key.startswith(template.prefix([value])) == (value == other)


def test_a_prefix_of_one_number_does_not_reach_another_that_begins_so() -> None:
    template = Template("MILESTONE#{n}#{part}")
    assert not template.render(["10", "a"]).startswith(template.prefix(["1"]))


@pytest.mark.parametrize("value", [Priority.HIGH, Color.RED, 5, UUID(int=7), date(2026, 1, 2), "x"])
def test_every_kind_of_value_that_may_stand_in_a_key_is_one_part(value: Any) -> None:
    template = Template("A#{x}#Z")
    assert template.matches(template.render([value]))


def test_a_value_may_say_itself_how_it_stands_in_a_key() -> None:
    assert Template("P#{p}").render([Priority.HIGH]) == "P#1"


def test_an_enum_stands_in_a_key_by_its_escaped_value() -> None:
    assert Template("C#{c}").render([Color.RED]) == "C#dark%23red"


# --- emptiness ---


@pytest.mark.parametrize("template", ["A#{x}", "{x}#A", "{x}"])
def test_an_empty_part_is_refused(template: str) -> None:
    with pytest.raises(InvalidKey, match="empty"):
        Template(template).render([""])


@pytest.mark.parametrize("value", [1.5, [], {}, True, b"x", None, timedelta(1)])
def test_what_cannot_be_ordered_or_written_is_refused_in_a_key(value: Any) -> None:
    with pytest.raises(InvalidKey):
        Template("A#{x}").render([value])


# --- order ---


def in_order(values: list[Any], template: str) -> bool:
    made = Template(template)
    by_key = sorted(values, key=lambda value: made.render([value]).encode())
    return by_key == sorted(values)


@steady
@given(st.lists(st.integers(0, 10**6 - 1)))
def test_padded_numbers_sort_as_numbers(values: list[int]) -> None:
    assert in_order(values, "A#{n:06}")


@steady
@given(st.lists(st.integers(-(10**6) + 1, 10**6 - 1)))
def test_signed_numbers_sort_as_numbers(values: list[int]) -> None:
    assert in_order(values, "A#{n:+06}")


@steady
@given(st.lists(st.decimals(-(10**7) + 1, 10**7 - 1, places=2)))
def test_decimals_sort_as_numbers(values: list[Decimal]) -> None:
    assert in_order(values, "A#{n:+09.2}")


@steady
@given(st.lists(st.dates()))
def test_dates_sort_as_dates(values: list[date]) -> None:
    assert in_order(values, "A#{d}")


@steady
@given(st.lists(instants))
def test_instants_of_all_time_zones_sort_by_time(values: list[datetime]) -> None:
    assert in_order(values, "A#{d}")


@steady
@given(st.decimals(1 - 10**36, 10**36 - 1, places=2), st.decimals(1 - 10**36, 10**36 - 1, places=2))
@example(Decimal("1234567890123456789012345678.91"), Decimal("1234567890123456789012345678.92"))
def test_numbers_of_38_digits_are_written_exactly(left: Decimal, right: Decimal) -> None:
    width = Width(38, 2, signed=True)
    assert (width.text(left) == width.text(right)) == (left == right)


@steady
@given(st.decimals(allow_nan=False, allow_infinity=False, places=1, min_value=-100, max_value=100))
@example(Decimal(100))
def test_equal_numbers_are_one_key(value: Decimal) -> None:
    template = Template("N#{n}")
    assert template.render([value.normalize()]) == template.render([value])


# --- widths ---


@pytest.mark.parametrize(("spec", "value", "text"), [("06", 42, "000042"), ("+04", -1, "n9998"), ("+04", 0, "p0000")])
def test_a_width_pads_a_number(spec: str, value: Any, text: str) -> None:
    assert parse_style(spec, "").text(value) == text


@pytest.mark.parametrize(
    ("spec", "value", "complaint"),
    [
        ("03", 1000, "does not fit into 3 digits"),
        ("03", -1, "is negative"),
        ("05.2", Decimal("1.005"), "more than 2 fraction digits"),
        ("+03", -1000, "does not fit into 3 digits"),
        ("03", Decimal("NaN"), "NaN does not fit into 3 digits"),
        ("+03", Decimal("-Infinity"), "does not fit into 3 digits"),
        ("03", Decimal("1e999999999"), "does not fit into 3 digits"),  # writing out all its digits would take hours
        pytest.param("03", 10**5_000, "does not fit into 3 digits", id="5,000 digits"),
        ("03", "7", "'7' is text, and the key contains a number"),
        ("03", "seven", "'seven' is text, and the key contains a number"),
    ],
)
def test_a_number_that_would_sort_wrongly_is_refused(spec: str, value: Any, complaint: str) -> None:
    with pytest.raises(InvalidKey, match=complaint):
        parse_style(spec, "").text(value)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        *(("06", "x"), ("+06", "n-1"), ("+06.2", "x"), ("06.2", "1e99999999999999999999")),
        *(("d", "x"), ("epoch", "9" * 30), ("epoch_ms", "-" + "9" * 20), ("%Y", "x"), ("%d-%d", "01-01")),
    ],
)
def test_what_was_never_written_cannot_be_read(spec: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_style(spec, "").value(text)


def test_a_zero_fits_whatever_its_exponent_is() -> None:
    assert Width(3).text(Decimal("0e99")) == "000"


@pytest.mark.parametrize("spec", ["6", "00", "06.", "x", "", "--06", "0100", "06.0"])
def test_an_unreadable_width_is_refused(spec: str) -> None:
    with pytest.raises(ModelError, match="is not a format for a value"):
        Template(f"A#{{n:{spec}}}")


# --- parsing ---


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("", "is empty"),
        ("A#{}", "is not a field name"),
        ("A#{x y}", "is not a field name"),
        ("A#{x", "unmatched brace"),
        ("A#x}", "unmatched brace"),
        ("A#{x}{y}", "not followed by '#'"),
        ("A#{x}-{y}", "not followed by '#'"),
        ("A#{x}suffix", "must end the template or be followed"),
    ],
)
def test_an_ambiguous_or_broken_template_is_refused(template: str, complaint: str) -> None:
    with pytest.raises(ModelError, match=re.escape(complaint)):
        Template(template)


# --- overlap ---

pieces = st.sampled_from(["a", "ab", "#", "b#", "{x}#", "{y}#a", "a#{x}#", "{x}"])


def parsed(text: str) -> Template | None:
    try:
        template = Template(text)
    except ModelError:
        return None
    return None if template.bare else template


LONGEST = 7
KEYS = ["".join(key) for length in range(1, LONGEST + 1) for key in itertools.product("ab#", repeat=length)]


def least_length(template: Template) -> int:
    return len(template.head) + sum(1 + len(placeholder.tail) for placeholder in template.placeholders)


@steady
@given(st.lists(pieces, min_size=1, max_size=3).map("".join), st.lists(pieces, min_size=1, max_size=3).map("".join))
@example("a#{x}", "a#{y}#b")
@example("a#{x}#b", "a#{y}#{z}")
@example("a{x}", "{x}#a")
def test_two_templates_overlap_exactly_when_some_key_fits_both(left: str, right: str) -> None:
    one, other = parsed(left), parsed(right)
    if one is None or other is None or least_length(one) + least_length(other) > 2 * LONGEST:
        return
    shared = [key for key in KEYS if one.matches(key) and other.matches(key)]
    if one.overlaps(other):
        # The shortest key that fits both is at most as long as the shortest keys of both together.
        assert shared or least_length(one) + least_length(other) > LONGEST
    else:
        assert shared == []


@steady
@given(st.lists(pieces, min_size=1, max_size=3).map("".join))
def test_a_template_overlaps_itself(text: str) -> None:
    template = parsed(text)
    assert template is None or template.overlaps(template)


def test_a_bare_template_could_make_any_key() -> None:
    assert Template("{x}").overlaps(Template("A#{y}"))
