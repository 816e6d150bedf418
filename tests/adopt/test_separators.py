"""Inferring the separator of key parts, and whether values are escaped."""

from __future__ import annotations

import pytest

from partita.adopt._separators import find_separator, find_value_form, is_constant, is_word
from partita.store import KeyAttribute, TableSchema

SCHEMA = TableSchema("table", KeyAttribute("pk"), KeyAttribute("sk"))


@pytest.mark.parametrize(
    ("keys", "separator"),
    [
        (["USER#ada", "USER#bob", "PROFILE"], "#"),
        (["USER|ada@x.de", "ORDER|2026-01-01T08:00:00"], "|"),
        (["user:1", "user:2"], ":"),
        (["user::1", "user::2:3"], "::"),
        (["users/1/orders/2"], "/"),
        (["$planner#team_green team", "$task_1#project_core"], "#"),
        (["2026-01-01T08:00:00Z", "2026-01-02T08:00:00Z"], "#"),
        (["ada", "bob"], "#"),
        (["user_1", "user_2"], "#"),
        ([], "#"),
    ],
)
def test_the_separator_is_what_stands_behind_literal_text(keys: list[str], separator: str) -> None:
    assert find_separator(keys) == separator


@pytest.mark.parametrize(
    ("keys", "form"),
    [
        (["USER#Ada%20L", "USER#bob"], "escaped"),
        (["USER#Ada L", "USER#bob"], "raw"),
        (["USER#Ada%20L", "USER#Bob K"], "raw"),
        (["USER#bob", "USER#cyd"], "raw"),
        (["USER|Ada%20L"], "raw"),
    ],
)
def test_values_are_escaped_where_all_that_could_be_are(keys: list[str], form: str) -> None:
    names = ("Ada L", "Bob K", "bob", "cyd")
    items = [{"pk": key, "sk": "X", "name": name} for key in keys for name in names]
    assert find_value_form(items, SCHEMA, "|" if "|" in keys[0] else "#") == form


@pytest.mark.parametrize(
    ("text", "word", "constant"),
    [
        ("USER", True, True),
        ("user", True, False),
        ("$task_1", True, False),
        ("17", False, False),
        ("a1b2", False, False),
    ],
)
def test_literal_text_is_made_of_letters(text: str, word: bool, constant: bool) -> None:  # noqa: FBT001
    assert (is_word(text), is_constant(text)) == (word, constant)
