"""Inferring key templates from keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from partita import KeyFormat
from partita.adopt._key_templates import Finder, Source, time_form

RAW = KeyFormat("#", values="raw")
INSTANTS = [datetime(2026, 1, day, 8, 30, tzinfo=UTC) for day in (1, 2, 3)]


def template(
    keys: Sequence[str],
    *,
    format: KeyFormat = RAW,  # noqa: A002 - named as in the library
    lower: bool = False,
    may_add: bool = True,
    exact: bool = True,
    **values: Sequence[Any],
) -> str | None:
    """Return the template of keys, given the values of the fields."""
    sources = [Source(name, name, each) for name, each in values.items()]
    found = Finder(format, sources, lower).template(keys, list(values), may_add=may_add, exact=exact)
    return None if found is None else found.text


@pytest.mark.parametrize(
    ("keys", "values", "text"),
    [
        (["USER#ada", "USER#bob"], ["ada", "bob"], "USER#{v}"),
        (["USER#ada l", "USER#bob k"], ["ada l", "bob k"], "USER#{v}"),
        (["USER#ada", "USER#bob"], ["Ada", "BOB"], "USER#{v:lower}"),
        (["USER#ADA", "USER#BOB"], ["Ada", "bob"], "USER#{v:upper}"),
        (["N#7", "N#12"], [7, 12], "N#{v:d}"),
        (["N#000007", "N#000012"], [7, 12], "N#{v:06}"),
        (["N#1.5", "N#2"], [Decimal("1.5"), 2], "N#{v:d}"),
        (["$app#team_green", "$app#team_blue"], ["Green", "Blue"], "$app#team_{v:lower}"),
        (["user_1", "user_2"], ["1", "2"], "user_{v}"),
        (["D#2026-01-01", "D#2026-01-02"], [date(2026, 1, 1), date(2026, 1, 2)], "D#{v}"),
        (["D#20260101", "D#20260102"], [date(2026, 1, 1), date(2026, 1, 2)], "D#{v:%Y%m%d}"),
        (["D#2026-01-01", "D#2026-01-02"], INSTANTS[:2], "D#{v:%Y-%m-%d}"),
        (["D#2026-01-01T08:30:00Z", "D#2026-01-02T08:30:00Z"], INSTANTS[:2], "D#{v:%Y-%m-%dT%H:%M:%SZ}"),
        (["D#1767256200", "D#1767342600"], INSTANTS[:2], "D#{v:epoch}"),
        (["D#1767256200000", "D#1767342600000"], INSTANTS[:2], "D#{v:epoch_ms}"),
    ],
)
def test_a_value_is_found_in_every_form(keys: list[str], values: list[Any], text: str) -> None:
    assert template(keys, v=values) == text


def test_a_part_that_equals_no_field_is_a_field_of_the_key() -> None:
    assert template(["USER#ada", "USER#bob"], name=["Ada L", "Bob K"]) == "USER#{user_id}"
    assert template(["USER#ada", "USER#bob"], may_add=False, name=["Ada L", "Bob K"]) is None
    assert template(["$a#team_x", "$a#team_y"]) == "$a#team_{team}"
    assert template(["AT#2026-01-01T08:30:00Z", "AT#2026-01-02T08:30:00Z"]) == "AT#{at:%Y-%m-%dT%H:%M:%SZ}"
    assert template(["USER#ada", "USER#bob"], user_id=[1, 2]) == "USER#{user_id2}"


def test_one_field_may_stand_twice() -> None:
    assert template(["USER#ada#ada", "USER#bob#bob"]) == "USER#{user_id}#{user_id}"


def test_the_field_that_is_named_like_the_text_before_it_is_the_likelier_one() -> None:
    same = ["1", "2"]
    assert template(["USER#1", "USER#2"], owner=same, userId=same, z=same) == "USER#{userId}"
    assert template(["USER#1", "USER#2"], owner=same, other_id=same) == "USER#{other_id}"


def test_constant_text_is_literal_only_where_it_is_written_so() -> None:
    assert template(["USER#ada#PROFILE", "USER#bob#PROFILE"]) == "USER#{user_id}#PROFILE"
    assert template(["account#", "account#"]) == "account#"
    assert template(["user#a", "user#b"], role=["user", "user"], mail=["a", "b"]) == "user#{mail}"
    # All sampled items belong to one user, but its id is still not literal text of the template.
    assert template(["USER#ada#1", "USER#ada#2"]) == "USER#{user_id}#{part}"
    assert template(["STATUS#open", "STATUS#open"], status=["open", "open"]) == "STATUS#{status}"


@pytest.mark.parametrize("keys", [["A#1", "A#1#2"], ["A#{x}", "A#y"], ["A#", "A#1"]])
def test_keys_of_two_shapes_or_with_braces_or_empty_parts_have_no_template(keys: list[str]) -> None:
    assert template(keys) is None


def test_nearly_all_keys_are_enough_where_the_rest_remember_theirs() -> None:
    names = [f"n{number}" for number in range(40)]
    keys = [f"USER#{name}" for name in [*names[:-1], "other"]]
    assert template(keys, name=names, exact=False) == "USER#{name}"
    assert template(keys, name=names, may_add=False) is None


def test_an_escaped_value_is_found_where_the_table_escapes() -> None:
    keys = ["USER#Ada%20L", "USER#bob"]
    assert template(keys, format=KeyFormat(), name=["Ada L", "bob"]) == "USER#{name}"
    assert template(keys, name=["Ada L", "bob"]) == "USER#{user_id}"


def test_a_value_with_the_separator_is_not_found_in_a_part() -> None:
    assert template(["A#x", "A#y"], name=["A#x", "A#y"]) == "A#{a_id}"


def test_lower_case_is_taken_where_the_table_has_it_everywhere() -> None:
    assert template(["a#x", "a#y"], name=["x", "y"], lower=True) == "a#{name:lower}"
    assert template(["a#x", "a#Y"], name=["x", "Y"], lower=True) == "a#{name}"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2020-01-01T00:00:00.000000+0000", "%Y-%m-%dT%H:%M:%S.%f+0000"),
        ("2020-01-01T00:00:00Z", "%Y-%m-%dT%H:%M:%SZ"),
        ("2020-01-01T00:00:00.000Z", None),
        ("2020-01-01", None),
        ("2020-01-01T0:00:00Z", None),
    ],
)
def test_an_instant_in_a_key_is_one_where_it_is_written_back(text: str, form: str | None) -> None:
    assert time_form([text], RAW) == form
    assert time_form([text], KeyFormat(":", values="raw")) is None
