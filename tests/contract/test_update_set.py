"""The SET clause of UpdateItem."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import Table
from tests.contract.trees import append, if_missing, minus, path, plus, setting

from partita.errors import ValidationFailed
from partita.expressions._ast import ListAppend, Update, Value

KEY = {"pk": "a", "sk": "1"}
OLD: dict[str, Any] = {
    "n": 10,
    "text": "old",
    "tags": ["x", "y", "z"],
    "address": {"city": "P", "lines": ["1", "2"]},
    "rows": [{"n": 1}, {"n": 2}],
    "flag": True,
}
SETS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "new attribute": ({"new": 1}, {"new": 1}),
    "existing attribute": ({"n": 11}, {"n": 11}),
    "another type": ({"n": "ten"}, {"n": "ten"}),
    "null": ({"n": None}, {"n": None}),
    "map member": ({"address.city": "Q"}, {"address": {"city": "Q", "lines": ["1", "2"]}}),
    "new map member": ({"address.zip": 9}, {"address": {"city": "P", "lines": ["1", "2"], "zip": 9}}),
    "list element": ({"tags[1]": "b"}, {"tags": ["x", "b", "z"]}),
    "list element in a map": ({"address.lines[0]": "one"}, {"address": {"city": "P", "lines": ["one", "2"]}}),
    "member of a list element": ({"rows[1].n": 5}, {"rows": [{"n": 1}, {"n": 5}]}),
    "element past the end appends": ({"tags[7]": "w"}, {"tags": ["x", "y", "z", "w"]}),
    "several past the end append in index order": (
        {"tags[9]": "nine", "tags[5]": "five", "tags[7]": "seven"},
        {"tags": ["x", "y", "z", "five", "seven", "nine"]},
    ),
    "two members of one map": (
        {"address.city": "Q", "address.zip": 9},
        {"address": {"city": "Q", "lines": ["1", "2"], "zip": 9}},
    ),
    "value of another attribute": ({"copy": path("address.city")}, {"copy": "P"}),
    "whole map of another attribute": ({"copy": path("address")}, {"copy": {"city": "P", "lines": ["1", "2"]}}),
    "the item as it was": ({"n": 1, "copy": path("n")}, {"n": 1, "copy": 10}),
    "two attributes swapped": ({"n": path("text"), "text": path("n")}, {"n": "old", "text": 10}),
    "sum": ({"n": plus("n", 5)}, {"n": 15}),
    "difference": ({"n": minus("n", 15)}, {"n": -5}),
    "literal minus attribute": ({"n": minus(Value(1), path("n"))}, {"n": -9}),
    "sum of two attributes": ({"sum": plus("n", path("rows[1].n"))}, {"sum": 12}),
    "exact fraction": ({"n": plus("n", Decimal("0.1"))}, {"n": Decimal("10.1")}),
    "fraction that becomes whole": ({"sum": plus(Value(Decimal("0.5")), Decimal("1.5"))}, {"sum": 2}),
    "if_not_exists of what exists": ({"n": if_missing("n", 0)}, {"n": 10}),
    "if_not_exists of what is missing": ({"m": if_missing("m", 0)}, {"m": 0}),
    "if_not_exists of another path": ({"m": if_missing("n", 0)}, {"m": 10}),
    "counter that starts": ({"m": plus(if_missing("m", 100), 1)}, {"m": 101}),
    "counter that goes on": ({"n": plus(if_missing("n", 100), 1)}, {"n": 11}),
    "if_not_exists with a path as default": ({"m": if_missing("m", path("n"))}, {"m": 10}),
    "if_not_exists in if_not_exists": ({"m": if_missing("m", if_missing("k", 3))}, {"m": 3}),
    "append to the end": ({"tags": append(path("tags"), ["w"])}, {"tags": ["x", "y", "z", "w"]}),
    "append to the front": ({"tags": append(["w"], path("tags"))}, {"tags": ["w", "x", "y", "z"]}),
    "append two attributes": (
        {"tags": append(path("tags"), path("address.lines"))},
        {"tags": ["x", "y", "z", "1", "2"]},
    ),
    "append to a list that may be missing": ({"log": append(if_missing("log", []), ["w"])}, {"log": ["w"]}),
    "append nothing": ({"tags": append(path("tags"), [])}, {"tags": ["x", "y", "z"]}),
}


@pytest.mark.rule(17, 18)
@pytest.mark.parametrize(("changes", "expected"), SETS.values(), ids=SETS.keys())
def test_set(table: Table, changes: dict[str, Any], expected: dict[str, Any]) -> None:
    table.put({**KEY, **OLD})
    table.update(("a", "1"), setting(changes))
    assert table.get("a", "1") == {**KEY, **OLD, **expected}


REFUSED: dict[str, tuple[dict[str, Any], str | None]] = {
    "map member of a missing map": ({"nothing.a": 1}, "document path provided in the update expression is invalid"),
    "element of a missing list": ({"nothing[0]": 1}, "document path provided in the update expression is invalid"),
    "member of a text": ({"text.a": 1}, "document path provided in the update expression is invalid"),
    "element of a map": ({"address[0]": 1}, "document path provided in the update expression is invalid"),
    "member of a list": ({"tags.a": 1}, "document path provided in the update expression is invalid"),
    "deep below a missing map": ({"address.a.b": 1}, "document path provided in the update expression is invalid"),
    "value of a missing attribute": ({"m": path("nothing")}, "attribute that does not exist in the item"),
    "sum with a missing attribute": ({"m": plus("nothing", 1)}, "attribute that does not exist in the item"),
    "sum with a text": ({"m": plus("text", 1)}, "incorrect data type"),
    "sum of literal texts": ({"m": plus(Value("a"), 1)}, "Incorrect operand type for operator or function"),
    "append to a text": ({"m": append(path("text"), ["w"])}, "incorrect data type"),
    "append a literal that is not a list": ({"m": append(path("tags"), "w")}, "Incorrect operand type"),
    "append to a missing list": ({"m": append(path("nothing"), ["w"])}, "attribute that does not exist in the item"),
    "same path twice": ({"n": 1, "n[0]": 1}, "Two document paths"),
    "map and its member": ({"address": {}, "address.city": "Q"}, "Two document paths overlap with each other"),
    "hash key": ({"pk": "b"}, "Cannot update attribute pk. This attribute is part of the key"),
    "range key": ({"sk": "2"}, "Cannot update attribute sk. This attribute is part of the key"),
    "part of a key": ({"sk.a": "2"}, None),
    "empty set": ({"m": frozenset()}, None),
    "append in append": (
        {"m": ListAppend(ListAppend(path("tags"), Value(["a"])), Value(["b"]))},
        "Invalid UpdateExpression",
    ),
}


@pytest.mark.rule(17, 19)
@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_set_refused(table: Table, changes: dict[str, Any], message: str | None) -> None:
    table.put({**KEY, **OLD})
    with pytest.raises(ValidationFailed, match=message):
        table.update(("a", "1"), setting(changes))
    assert table.get("a", "1") == {**KEY, **OLD}


def test_an_update_of_a_missing_item_creates_it(table: Table) -> None:
    table.update(("a", "1"), setting({"n": 1, "m": if_missing("m", 2)}))
    assert table.get("a", "1") == {**KEY, "n": 1, "m": 2}


def test_an_update_of_a_missing_item_may_read_its_key(table: Table) -> None:
    table.update(("a", "1"), setting({"copy": path("sk"), "other": if_missing("other", path("pk"))}))
    assert table.get("a", "1") == {**KEY, "copy": "1", "other": "a"}


@pytest.mark.rule(20)
def test_an_empty_update_of_a_missing_item_creates_it(table: Table) -> None:
    table.update(("a", "1"), Update())
    assert table.get("a", "1") == KEY


def test_an_empty_update_of_an_item_changes_nothing(table: Table) -> None:
    table.put({**KEY, **OLD})
    table.update(("a", "1"), Update())
    assert table.get("a", "1") == {**KEY, **OLD}


def test_a_nested_path_needs_its_parent_on_a_missing_item_too(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="document path provided in the update expression is invalid"):
        table.update(("a", "1"), setting({"address.city": "P"}))
    assert table.get("a", "1") is None
