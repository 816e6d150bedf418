"""Comparisons and connectives in conditions: each comparator with each type."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import Table
from tests.contract.trees import between, compare, contains, eq, exists, is_in, missing, path, size

from partita.errors import ConditionFailed, ValidationFailed
from partita.expressions._ast import And, Condition, Not, Or, Value

ITEM: dict[str, Any] = {
    "pk": "a",
    "sk": "1",
    "s": "mm",
    "n": 5,
    "fraction": Decimal("5.5"),
    "b": b"mm",
    "yes": True,
    "nil": None,
    "list": [1, "a"],
    "map": {"x": 1, "deep": {"y": [7, 8]}},
    "words": frozenset({"a", "b"}),
    "numbers": frozenset({1, 2}),
    "other": 5,
    "wide": "é",
}


def holds(table: Table, condition: Condition) -> bool:
    """Whether the condition is true for the item."""
    table.put(ITEM)
    try:
        table.put(ITEM, condition=condition)
    except ConditionFailed:
        return False
    return True


ORDERED: dict[str, tuple[str, Any, Any, Any]] = {
    "string": ("s", "ma", "mm", "mz"),
    "number": ("n", 4, 5, 6),
    "fraction": ("fraction", 5, Decimal("5.50"), Decimal("5.51")),
    "binary": ("b", b"ma", b"mm", b"\xff"),
    "string beyond ASCII": ("wide", "z", "é", "ê"),
}
TRUTH = {"=": (False, True, False), "<>": (True, False, True), "<": (False, False, True)}
TRUTH |= {"<=": (False, True, True), ">": (True, False, False), ">=": (True, True, False)}


@pytest.mark.rule(31)
@pytest.mark.parametrize("op", TRUTH.keys())
@pytest.mark.parametrize("kind", ORDERED.keys())
def test_comparing_ordered_types(table: Table, kind: str, op: Any) -> None:
    name, below, same, above = ORDERED[kind]
    results = tuple(holds(table, compare(name, op, value)) for value in (below, same, above))
    assert results == TRUTH[op]


EQUAL: dict[str, tuple[str, Any, bool]] = {
    "same boolean": ("yes", True, True),
    "other boolean": ("yes", False, False),
    "true is not one": ("yes", 1, False),
    "null": ("nil", None, True),
    "null and a text": ("nil", "", False),
    "same list": ("list", [1, "a"], True),
    "other order of a list": ("list", ["a", 1], False),
    "same map": ("map", {"deep": {"y": [7, 8]}, "x": 1}, True),
    "map with less": ("map", {"x": 1}, False),
    "same set in another order": ("words", frozenset({"b", "a"}), True),
    "smaller set": ("words", frozenset({"a"}), False),
    "number set with fraction zeros": ("numbers", frozenset({Decimal("1.0"), 2}), True),
    "number and its text": ("n", "5", False),
    "text and its bytes": ("s", b"mm", False),
    "missing attribute": ("nothing", 1, False),
    "nested member": ("map.deep.y[1]", 8, True),
    "nested member that is missing": ("map.deep.z", 8, False),
    "path through a text": ("s.x", 8, False),
    "element past the end": ("list[9]", 8, False),
    "another attribute": ("n", path("other"), True),
    "a missing attribute on the right": ("n", path("nothing"), False),
}


@pytest.mark.rule(4, 12)
@pytest.mark.parametrize(("name", "value", "expected"), EQUAL.values(), ids=EQUAL.keys())
def test_equality(table: Table, name: str, value: Any, expected: bool) -> None:  # noqa: FBT001
    assert holds(table, eq(name, value)) is expected
    assert holds(table, compare(name, "<>", value)) is not expected


@pytest.mark.rule(12)
def test_a_missing_attribute_differs_from_a_missing_one(table: Table) -> None:
    assert not holds(table, eq("nothing", path("nowhere")))
    assert holds(table, compare("nothing", "<>", path("nowhere")))


@pytest.mark.rule(12)
@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(
    ("name", "value"),
    [("nothing", 1), ("s", 1), ("n", "5"), ("b", "mm"), ("n", path("nothing")), ("n", path("s")), ("yes", 1)],
    ids=["missing", "text and number", "number and text", "bytes and text", "right missing", "two paths", "boolean"],
)
def test_what_cannot_be_ordered_is_false_both_ways(table: Table, name: str, value: Any, op: Any) -> None:
    assert not holds(table, compare(name, op, value))


@pytest.mark.rule(13)
@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(
    "value",
    [True, None, [1], {"a": 1}, frozenset({"a"}), frozenset({1})],
    ids=["boolean", "null", "list", "map", "string set", "number set"],
)
def test_a_literal_without_an_order_is_refused(table: Table, value: Any, op: Any) -> None:
    with pytest.raises(ValidationFailed, match="Incorrect operand type for operator or function"):
        holds(table, compare("n", op, value))


BETWEEN: dict[str, tuple[Condition, bool]] = {
    "inside": (between("n", 4, 6), True),
    "on the lower end": (between("n", 5, 6), True),
    "on the upper end": (between("n", 4, 5), True),
    "below": (between("n", 6, 7), False),
    "above": (between("n", 3, 4), False),
    "texts": (between("s", "ma", "mz"), True),
    "binaries": (between("b", b"ma", b"mz"), True),
    "another type": (between("s", 1, 9), False),
    "missing": (between("nothing", 1, 9), False),
    "ends that are paths": (between("fraction", path("n"), Value(9)), True),
    "literal between two paths": (between(Value(5), path("n"), path("other")), True),
    "size": (between(size("list"), 1, 2), True),
}


@pytest.mark.parametrize(("condition", "expected"), BETWEEN.values(), ids=BETWEEN.keys())
def test_between(table: Table, condition: Condition, expected: bool) -> None:  # noqa: FBT001
    assert holds(table, condition) is expected


@pytest.mark.rule(13)
def test_between_with_ends_the_wrong_way_round_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="greater than or equal to lower bound"):
        holds(table, between("n", 6, 4))


@pytest.mark.rule(13)
def test_between_with_ends_of_two_types_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="same data type"):
        holds(table, between("n", 4, "6"))


@pytest.mark.rule(13)
def test_between_with_an_end_without_order_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Incorrect operand type"):
        holds(table, between("n", [1], [2]))


IN: dict[str, tuple[Condition, bool]] = {
    "one of several": (is_in("n", 4, 5, 6), True),
    "none of them": (is_in("n", 4, 6), False),
    "only option": (is_in("s", "mm"), True),
    "options of several types": (is_in("n", "5", b"5", 5), True),
    "missing": (is_in("nothing", 1, None), False),
    "an option that is a path": (is_in("n", path("nothing"), path("other")), True),
    "a whole list": (is_in("list", [1, "a"]), True),
    "a hundred options": (is_in("n", *range(6, 105), 5), True),
}


@pytest.mark.parametrize(("condition", "expected"), IN.values(), ids=IN.keys())
def test_in(table: Table, condition: Condition, expected: bool) -> None:  # noqa: FBT001
    assert holds(table, condition) is expected


def test_more_than_a_hundred_options_are_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        holds(table, is_in("n", *range(101)))


TRUE, FALSE = exists("n"), missing("n")
CONNECTED: dict[str, tuple[Condition, bool]] = {
    "and of true": (And((TRUE, TRUE, TRUE)), True),
    "and with one false": (And((TRUE, TRUE, FALSE)), False),
    "or with one true": (Or((FALSE, FALSE, TRUE)), True),
    "or of false": (Or((FALSE, FALSE)), False),
    "not true": (Not(TRUE), False),
    "not false": (Not(FALSE), True),
    "not of a comparison with a missing attribute": (Not(eq("nothing", 1)), True),
    "not of a comparison of two types": (Not(compare("s", "<", 1)), True),
    "and inside or": (Or((And((TRUE, FALSE)), And((TRUE, TRUE)))), True),
    "or inside and": (And((Or((FALSE, TRUE)), Or((FALSE, FALSE)))), False),
    "not inside and": (And((Not(FALSE), TRUE)), True),
    "not of or": (Not(Or((FALSE, FALSE))), True),
    "three levels": (Not(And((Or((FALSE, TRUE)), Not(FALSE)))), False),
}


@pytest.mark.parametrize(("condition", "expected"), CONNECTED.values(), ids=CONNECTED.keys())
def test_connectives(table: Table, condition: Condition, expected: bool) -> None:  # noqa: FBT001
    assert holds(table, condition) is expected


@pytest.mark.parametrize(
    "condition",
    [
        Or((exists("n"), compare("n", "<", [1]))),
        And((missing("n"), between("n", 6, 4))),
        Not(And((missing("n"), contains("list", path("list"))))),
    ],
    ids=["right of a true or", "right of a false and", "the same path in contains"],
)
def test_a_part_that_need_not_be_evaluated_is_validated(table: Table, condition: Condition) -> None:
    with pytest.raises(ValidationFailed):
        holds(table, condition)


@pytest.mark.rule(13)
def test_an_invalid_condition_is_refused_though_there_is_no_item(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        table.delete("a", "1", condition=compare("n", "<", True))


def test_a_comparison_with_itself_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="The first operand must be distinct from the remaining operands"):
        holds(table, eq("n", path("n")))
