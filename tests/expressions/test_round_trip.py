"""Parsing a rendered expression returns an equal one, and any text is parsed or refused with `ValidationFailed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import conditions, key_conditions, projections, updates

from partita.errors import ValidationFailed
from partita.expressions._ast import Condition, KeyCondition, Projection, Update
from partita.expressions._parse import (
    Substitutions,
    parse_condition,
    parse_key_condition,
    parse_projection,
    parse_update,
)
from partita.expressions._render import render

PARSERS = [parse_condition, parse_update, parse_projection, parse_key_condition]
PIECES = st.sampled_from(
    [
        *("a", "b.c", "#n", "#z", ":v", ":z", "4", "[0]", "[", "]", "(", ")", ",", ".", "+", "-", " ", "'", "é"),
        *("=", "<>", "<", "<=", ">", ">=", "AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"),
        *("size(", "attribute_exists(", "contains(", "if_not_exists(", "list_append(", "dog(", "\ud800", "\0"),
    ]
)
TEXTS = st.text() | st.lists(PIECES, max_size=25).map(" ".join) | st.lists(PIECES, max_size=25).map("".join)


def reparsed(parse: Callable[[str, Substitutions], Any], tree: Any) -> Any:
    rendered = render(tree)
    given = Substitutions(rendered.names, rendered.values)
    parsed = parse(rendered.text, given)
    given.check_all_used()
    return parsed


@given(conditions)
def test_a_condition_survives_its_text(condition: Condition) -> None:
    assert reparsed(parse_condition, condition) == condition


@given(updates())
def test_an_update_survives_its_text(update: Update) -> None:
    assert reparsed(parse_update, update) == update


@given(projections)
def test_a_projection_survives_its_text(projection: Projection) -> None:
    assert reparsed(parse_projection, projection) == projection


@given(key_conditions())
def test_a_key_condition_survives_its_text(condition: KeyCondition) -> None:
    assert reparsed(parse_key_condition, condition) == condition


@pytest.mark.parametrize("parse", PARSERS)
@given(text=TEXTS)
def test_any_text_is_parsed_or_refused(parse: Callable[[str, Substitutions], Any], text: str) -> None:
    given = Substitutions({"#n": "name"}, {":v": 1})
    try:
        tree = parse(text, given)
    except ValidationFailed:
        return
    assert reparsed(parse, tree) == tree
