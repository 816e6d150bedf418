"""Evaluating conditions on items: which are true, which are false, and the effect of a missing value."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from tests.strategies import conditions, items, paths, strings, values

from partita.expressions._ast import (
    And,
    BeginsWith,
    Between,
    Comparator,
    Compare,
    Condition,
    Contains,
    Exists,
    HasType,
    In,
    Missing,
    Not,
    Or,
    Path,
    Size,
    Value,
)
from partita.expressions._evaluate import evaluate
from partita.values._attribute_values import Item

ITEM: Item = {
    "s": "hello",
    "n": 5,
    "d": Decimal("2.5"),
    "b": b"\x80\x01",
    "t": True,
    "nil": None,
    "l": [1, True, {"k": "v"}],
    "m": {"k": "v"},
    "ss": frozenset({"x", "y"}),
    "ns": frozenset({1, Decimal("0.5")}),
    "bs": frozenset({b"x"}),
}


def path(*parts: str | int) -> Path:
    return Path(parts)


def compare(left: str, op: Comparator, right: Any) -> Compare:
    return Compare(op, path(left), Value(right))


TRUE = compare("n", "=", 5)
FALSE = compare("n", "=", 6)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (compare("n", "=", Decimal("5.0")), True),
        (compare("n", "=", "5"), False),
        (compare("t", "=", 1), False),
        (compare("n", "<>", True), True),
        (compare("nil", "=", None), True),
        (compare("l", "=", [1, True, {"k": "v"}]), True),
        (compare("l", "=", [1, 1, {"k": "v"}]), False),
        (compare("m", "=", {"k": "v"}), True),
        (compare("ss", "=", frozenset({"y", "x"})), True),
        (compare("ns", "=", frozenset({Decimal("1.0"), Decimal("0.50")})), True),
        (Compare("=", path("m", "k"), path("l", 2, "k")), True),
    ],
)
def test_equality_is_of_type_and_value(condition: Condition, *, holds: bool) -> None:
    assert evaluate(condition, ITEM) == holds


@pytest.mark.rule(12)
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (compare("z", "=", 1), False),
        (compare("z", "<>", 1), True),
        (Compare("<>", path("z"), path("y")), True),
        (Compare("=", path("z"), path("y")), False),
        (compare("z", "<", 1), False),
        (compare("z", ">=", 1), False),
        (Between(path("z"), Value(0), Value(9)), False),
        (In(path("z"), (Value(None),)), False),
        (In(path("nil"), (path("z"),)), False),
        (Contains(path("z"), Value("x")), False),
        (Contains(path("l"), path("z")), False),
        (BeginsWith(path("z"), Value("")), False),
        (HasType(path("z"), Value("NULL")), False),
        (Compare("=", Size(path("z")), Value(0)), False),
        (Compare("<>", Size(path("z")), Value(0)), True),
    ],
)
def test_of_a_missing_value_only_inequality_holds(condition: Condition, *, holds: bool) -> None:
    assert evaluate(condition, ITEM) == holds


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (compare("n", "<", Decimal("5.1")), True),
        (compare("n", "<=", 5), True),
        (compare("d", ">", 2), True),
        (compare("n", ">=", 6), False),
        (compare("n", "<", "9"), False),
        (compare("s", "<", "help"), True),
        (compare("b", ">", b"\x7f"), True),
        (compare("s", ">", b"a"), False),
        (compare("t", "<", 9), False),
        (Compare("<", path("l"), path("ss")), False),
        (Compare("<", path("ns"), path("ns", 0)), False),
        (Between(path("n"), Value(5), Value(5)), True),
        (Between(path("n"), path("d"), Value(9)), True),
        (Between(path("n"), Value(6), path("n")), False),
        (Between(path("s"), path("n"), path("d")), False),
    ],
)
def test_order_is_within_strings_numbers_and_binaries(condition: Condition, *, holds: bool) -> None:
    assert evaluate(condition, ITEM) == holds


@pytest.mark.rule(31)
@given(strings, strings)
def test_strings_are_ordered_by_their_bytes(left: str, right: str) -> None:
    assert evaluate(compare("a", "<", right), {"a": left}) == (left.encode() < right.encode())


@pytest.mark.rule(31)
def test_a_character_outside_the_basic_plane_sorts_after_those_inside() -> None:
    assert evaluate(compare("a", ">", "\uffff"), {"a": "\U00010000"})


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Contains(path("s"), Value("ell")), True),
        (Contains(path("s"), Value(b"ell")), False),
        (Contains(path("b"), Value(b"\x01")), True),
        (Contains(path("ss"), Value("x")), True),
        (Contains(path("ns"), Value(Decimal("1.0"))), True),
        (Contains(path("ns"), Value(True)), False),
        (Contains(path("ns"), Value([1])), False),
        (Contains(path("bs"), Value("x")), False),
        (Contains(path("l"), Value({"k": "v"})), True),
        (Contains(path("l", 2), Value("k")), False),
        (Contains(path("n"), Value(5)), False),
        (Contains(Value("hello world"), path("s")), True),
        (BeginsWith(path("s"), Value("he")), True),
        (BeginsWith(path("s"), Value(b"he")), False),
        (BeginsWith(path("b"), Value(b"\x80")), True),
        (BeginsWith(path("l"), path("n")), False),
        (In(path("n"), (Value("5"), path("d"), Value(Decimal(5)))), True),
        (In(path("t"), (Value(1),)), False),
        (Exists(path("nil")), True),
        (Missing(path("nil")), False),
        (Exists(path("l", 3)), False),
        (Missing(path("l", 3)), True),
    ],
)
def test_functions(condition: Condition, *, holds: bool) -> None:
    assert evaluate(condition, ITEM) == holds


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("s", "S"),
        ("n", "N"),
        ("d", "N"),
        ("b", "B"),
        ("t", "BOOL"),
        ("nil", "NULL"),
        ("l", "L"),
        ("m", "M"),
        ("ss", "SS"),
        ("ns", "NS"),
        ("bs", "BS"),
    ],
)
def test_attribute_type_knows_every_type(name: str, kind: str) -> None:
    assert evaluate(HasType(path(name), Value(kind)), ITEM)
    assert not evaluate(HasType(path(name), Value("S" if kind != "S" else "N")), ITEM)


@pytest.mark.parametrize(("name", "size"), [("s", 5), ("b", 2), ("l", 3), ("m", 1), ("ss", 2)])
def test_size_counts_units_or_members(name: str, size: int) -> None:
    assert evaluate(Compare("=", Size(path(name)), Value(size)), ITEM)


@pytest.mark.parametrize(("text", "size"), [("a", 1), ("é", 1), ("日", 1), ("𝄞", 2), ("é𝄞", 3), ("", 0)])
def test_the_size_of_a_string_is_in_utf_16_units(text: str, size: int) -> None:
    assert evaluate(Compare("=", Size(path("a")), Value(size)), {"a": text})


@pytest.mark.parametrize("name", ["n", "t", "nil"])
def test_what_has_no_size_equals_no_number(name: str) -> None:
    assert not evaluate(Compare(">=", Size(path(name)), Value(0)), ITEM)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (And((TRUE, TRUE)), True),
        (And((TRUE, FALSE)), False),
        (Or((FALSE, TRUE)), True),
        (Or((FALSE, FALSE)), False),
        (Not(FALSE), True),
        (Not(TRUE), False),
    ],
)
def test_connectives(condition: Condition, *, holds: bool) -> None:
    assert evaluate(condition, ITEM) == holds


def test_no_item_is_an_item_without_attributes() -> None:
    assert evaluate(Missing(path("s")), {})


def test_three_hundred_nested_operators_are_evaluated() -> None:
    condition: Condition = TRUE
    for _ in range(298):
        condition = Not(And((condition, TRUE))) if isinstance(condition, Not) else Not(condition)
    assert evaluate(condition, ITEM) in {True, False}


@given(conditions, items)
def test_a_condition_or_its_negation_holds(condition: Condition, item: Item) -> None:
    assert evaluate(Not(condition), item) != evaluate(condition, item)


@given(paths, values, items)
def test_unequal_is_not_equal(where: Path, value: Any, item: Item) -> None:
    equal = evaluate(Compare("=", where, Value(value)), item)
    assert evaluate(Compare("<>", where, Value(value)), item) != equal
