"""The functions of conditions: existence, type, prefix, containment and size."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import Table
from tests.contract.trees import begins, compare, contains, eq, exists, has_type, missing, path, size

from partita.errors import ConditionFailed, ValidationFailed
from partita.expressions._ast import BeginsWith, Condition, Contains, HasType, Value

ITEM: dict[str, Any] = {
    "pk": "a",
    "sk": "1",
    "S": "hello",
    "N": 5,
    "B": b"hello",
    "BOOL": False,
    "NULL": None,
    "L": [1, "a", [2], None, {"k": 1}],
    "M": {"x": {"y": 1}},
    "SS": frozenset({"a", "b"}),
    "NS": frozenset({1, Decimal("2.5")}),
    "BS": frozenset({b"a"}),
    "empty": "",
    "ell": "ell",
}
KINDS = ["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]


def holds(table: Table, condition: Condition) -> bool:
    """Whether the condition is true for the item."""
    table.put(ITEM)
    try:
        table.put(ITEM, condition=condition)
    except ConditionFailed:
        return False
    return True


@pytest.mark.parametrize("name", [*KINDS, "M.x.y", "L[2]", "L[2][0]", "pk"])
def test_what_exists(table: Table, name: str) -> None:
    assert holds(table, exists(name))
    assert not holds(table, missing(name))


@pytest.mark.parametrize("name", ["nothing", "M.nothing", "M.x.y.z", "L[9]", "S.x", "M[0]", "L.x"])
def test_what_is_missing(table: Table, name: str) -> None:
    assert not holds(table, exists(name))
    assert holds(table, missing(name))


@pytest.mark.parametrize("kind", KINDS)
def test_attribute_type_distinguishes_each_type_from_all_others(table: Table, kind: str) -> None:
    assert [name for name in KINDS if holds(table, has_type(name, kind))] == [kind]


def test_a_missing_attribute_has_no_type(table: Table) -> None:
    assert not holds(table, has_type("nothing", "NULL"))


def test_the_type_of_a_value_may_be_asked_too(table: Table) -> None:
    assert holds(table, HasType(Value(1), Value("N")))
    assert not holds(table, HasType(Value(1), Value("S")))


@pytest.mark.rule(14)
@pytest.mark.parametrize("kind", ["X", "s", "STRING", ""])
def test_an_unknown_type_is_refused(table: Table, kind: str) -> None:
    with pytest.raises(ValidationFailed, match="Invalid attribute type name found"):
        holds(table, has_type("S", kind))


@pytest.mark.rule(14)
def test_a_type_that_is_not_text_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Incorrect operand type"):
        holds(table, has_type("S", 1))


PREFIXES: dict[str, tuple[Condition, bool]] = {
    "text": (begins("S", "hel"), True),
    "whole text": (begins("S", "hello"), True),
    "longer than the text": (begins("S", "hello!"), False),
    "empty prefix": (begins("S", ""), True),
    "other text": (begins("S", "el"), False),
    "other case": (begins("S", "HEL"), False),
    "bytes": (begins("B", b"hel"), True),
    "text for bytes": (begins("B", "hel"), False),
    "a number": (begins("N", "5"), False),
    "missing": (begins("nothing", "a"), False),
    "a path as prefix": (BeginsWith(Value("hello world"), path("S")), True),
}


@pytest.mark.parametrize(("condition", "expected"), PREFIXES.values(), ids=PREFIXES.keys())
def test_begins_with(table: Table, condition: Condition, expected: bool) -> None:  # noqa: FBT001
    assert holds(table, condition) is expected


@pytest.mark.parametrize("prefix", [1, True, ["a"], None], ids=["number", "boolean", "list", "null"])
def test_a_prefix_that_is_neither_text_nor_bytes_is_refused(table: Table, prefix: Any) -> None:
    with pytest.raises(ValidationFailed, match="Incorrect operand type"):
        holds(table, begins("S", prefix))


CONTAINED: dict[str, tuple[Condition, bool]] = {
    "substring": (contains("S", "ell"), True),
    "no substring": (contains("S", "xyz"), False),
    "substring from a path": (contains("S", path("ell")), True),
    "bytes": (contains("B", b"ell"), True),
    "text in bytes": (contains("B", "ell"), False),
    "string set member": (contains("SS", "a"), True),
    "part of a string set member": (contains("SS", ""), False),
    "number set member": (contains("NS", Decimal("2.50")), True),
    "text in a number set": (contains("NS", "1"), False),
    "binary set member": (contains("BS", b"a"), True),
    "list element": (contains("L", 1), True),
    "text element": (contains("L", "a"), True),
    "list in a list": (contains("L", [2]), True),
    "map in a list": (contains("L", {"k": 1}), True),
    "null in a list": (contains("L", None), True),
    "no element": (contains("L", 9), False),
    "boolean is not one": (contains("L", True), False),
    "a map contains nothing": (contains("M", "x"), False),
    "a number contains nothing": (contains("N", 5), False),
    "missing": (contains("nothing", "a"), False),
    "member from a path": (Contains(path("SS"), path("pk")), True),
}


@pytest.mark.parametrize(("condition", "expected"), CONTAINED.values(), ids=CONTAINED.keys())
def test_contains(table: Table, condition: Condition, expected: bool) -> None:  # noqa: FBT001
    assert holds(table, condition) is expected


@pytest.mark.rule(17)
def test_contains_of_a_path_in_itself_is_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="The first operand must be distinct from the remaining operands"):
        holds(table, contains("S", path("S")))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("S", 5), ("empty", 0), ("B", 5), ("L", 5), ("M", 1), ("SS", 2), ("NS", 2), ("BS", 1), ("M.x", 1)],
)
def test_size(table: Table, name: str, expected: int) -> None:
    assert holds(table, eq(size(name), expected))
    assert holds(table, compare(size(name), ">=", expected))
    assert not holds(table, compare(size(name), "<", expected))


@pytest.mark.rule(14)
@pytest.mark.parametrize(("text", "expected"), [("é", 1), ("日", 1), ("𝄞", 2), ("é𝄞", 3)])
def test_the_size_of_a_text_counts_utf_16_units(table: Table, text: str, expected: int) -> None:
    table.put({"pk": "a", "sk": "units", "text": text})
    assert table.query("a", filter=eq(size("text"), expected)).count == 1


@pytest.mark.parametrize("name", ["N", "BOOL", "NULL", "nothing"])
def test_what_has_no_size_compares_as_false(table: Table, name: str) -> None:
    assert not holds(table, compare(size(name), ">=", 0))
    assert not holds(table, compare(size(name), "<", 0))
