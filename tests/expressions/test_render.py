"""Rendering expressions to DynamoDB's text."""

from __future__ import annotations

import pytest

from partita.expressions._ast import (
    AddAction,
    And,
    Arithmetic,
    Between,
    Compare,
    Condition,
    DeleteAction,
    Exists,
    IfNotExists,
    In,
    KeyCondition,
    KeyRange,
    ListAppend,
    Missing,
    Not,
    Or,
    Path,
    SetAction,
    Size,
    Update,
    Value,
)
from partita.expressions._render import RenderedExpression, Renderer, render

A, B, C = (Exists(Path((name,))) for name in "abc")


def test_every_name_and_value_becomes_a_placeholder() -> None:
    condition = Compare("=", Path(("status", 0, "a.b")), Value("open"))
    assert render(condition) == RenderedExpression("#0[0].#1 = :0", {"#0": "status", "#1": "a.b"}, {":0": "open"})


def test_the_expressions_of_a_request_share_their_placeholders() -> None:
    renderer = Renderer()
    texts = [
        renderer.key_condition(KeyCondition((("pk", "u1"),), KeyRange("sk", "BEGINS_WITH", ("TASK#",)))),
        renderer.condition(Missing(Path(("pk",)))),
        renderer.projection((Path(("sk",)), Path(("title",)))),
    ]
    assert texts == ["#0 = :0 AND begins_with(#1, :1)", "attribute_not_exists(#0)", "#1, #2"]
    assert renderer.names == {"#0": "pk", "#1": "sk", "#2": "title"}
    assert renderer.values == {":0": "u1", ":1": "TASK#"}


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (And((A, B, C)), "e(#0) AND e(#1) AND e(#2)"),
        (And((And((A, B)), C)), "(e(#0) AND e(#1)) AND e(#2)"),
        (And((Or((A, B)), C)), "(e(#0) OR e(#1)) AND e(#2)"),
        (Or((And((A, B)), C)), "e(#0) AND e(#1) OR e(#2)"),
        (Or((Or((A, B)), C)), "(e(#0) OR e(#1)) OR e(#2)"),
        (Not(And((A, B))), "NOT (e(#0) AND e(#1))"),
        (Not(Not(A)), "NOT (NOT (e(#0)))"),
        (And((Not(A), B)), "NOT (e(#0)) AND e(#1)"),
    ],
)
def test_parentheses_keep_the_shape_of_the_tree(condition: Condition, text: str) -> None:
    assert render(condition).text == text.replace("e(", "attribute_exists(")


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Between(Path(("a",)), Value(1), Value(2)), "#0 BETWEEN :0 AND :1"),
        (In(Size(Path(("a",))), (Value(1), Path(("b",)))), "size(#0) IN (:0, #1)"),
    ],
)
def test_comparisons(condition: Condition, text: str) -> None:
    assert render(condition).text == text


def test_an_update_has_its_clauses_in_order() -> None:
    update = Update(
        sets=(
            SetAction(Path(("n",)), Arithmetic("-", IfNotExists(Path(("n",)), Value(0)), Value(1))),
            SetAction(Path(("l",)), ListAppend(Path(("l",)), Value([1]))),
        ),
        removes=(Path(("x",)), Path(("y", 2))),
        adds=(AddAction(Path(("z",)), Value(1)),),
        deletes=(DeleteAction(Path(("s",)), Value(frozenset({"m"}))),),
    )
    assert render(update).text == (
        "SET #0 = if_not_exists(#0, :0) - :1, #1 = list_append(#1, :2) REMOVE #2, #3[2] ADD #4 :3 DELETE #5 :4"
    )


def test_an_update_that_changes_nothing_has_no_text() -> None:
    assert render(Update()) == RenderedExpression("", {}, {})


@pytest.mark.parametrize(
    ("key_range", "text"),
    [
        (None, "#0 = :0 AND #1 = :1"),
        (KeyRange("c", ">=", (1,)), "#0 = :0 AND #1 = :1 AND #2 >= :2"),
        (KeyRange("c", "BETWEEN", (1, 2)), "#0 = :0 AND #1 = :1 AND #2 BETWEEN :2 AND :3"),
    ],
)
def test_a_key_condition_has_its_equalities_first(key_range: KeyRange | None, text: str) -> None:
    assert render(KeyCondition((("a", 1), ("b", 2)), key_range)).text == text


def test_three_hundred_nested_operators_are_rendered() -> None:
    condition: Condition = A
    for _ in range(299):
        condition = Not(condition)
    assert render(condition).text == "NOT (" * 299 + "attribute_exists(#0)" + ")" * 299
