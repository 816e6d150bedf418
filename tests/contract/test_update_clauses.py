"""The REMOVE, ADD and DELETE clauses of UpdateItem, and clauses together."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import Table
from tests.contract.trees import adding, deleting, eq, exists, joined, path, removing, setting

from partita.errors import ConditionFailed, ValidationFailed
from partita.expressions._ast import Update

KEY = {"pk": "a", "sk": "1"}
OLD: dict[str, Any] = {
    "n": 10,
    "text": "old",
    "tags": ["x", "y", "z"],
    "address": {"city": "P", "visits": 1, "names": frozenset({"home"})},
    "words": frozenset({"a", "b"}),
    "numbers": frozenset({1, 2}),
    "bits": frozenset({b"a", b"b"}),
}
GONE = object()
CHANGES: dict[str, tuple[Update, dict[str, Any]]] = {
    "REMOVE an attribute": (removing("n"), {"n": GONE}),
    "REMOVE several": (removing("n", "text"), {"n": GONE, "text": GONE}),
    "REMOVE what is missing": (removing("nothing"), {}),
    "REMOVE a map member": (removing("address.city"), {"address": {"visits": 1, "names": frozenset({"home"})}}),
    "REMOVE a missing map member": (removing("address.nothing"), {}),
    "REMOVE a list element": (removing("tags[1]"), {"tags": ["x", "z"]}),
    "REMOVE by the old positions": (removing("tags[0]", "tags[1]"), {"tags": ["z"]}),
    "REMOVE all elements": (removing("tags[0]", "tags[1]", "tags[2]"), {"tags": []}),
    "REMOVE past the end of a list": (removing("tags[9]"), {}),
    "ADD to a number": (adding({"n": 5}), {"n": 15}),
    "ADD a negative number": (adding({"n": -15}), {"n": -5}),
    "ADD a fraction": (adding({"n": Decimal("0.25")}), {"n": Decimal("10.25")}),
    "ADD to a missing number": (adding({"m": 5}), {"m": 5}),
    "ADD to a number in a map": (
        adding({"address.visits": 1}),
        {"address": {"city": "P", "visits": 2, "names": frozenset({"home"})}},
    ),
    "ADD to a missing number in a map": (
        adding({"address.m": 1}),
        {"address": {"city": "P", "visits": 1, "m": 1, "names": frozenset({"home"})}},
    ),
    "ADD to a string set": (adding({"words": frozenset({"b", "c"})}), {"words": frozenset({"a", "b", "c"})}),
    "ADD to a number set": (
        adding({"numbers": frozenset({2, Decimal("2.5")})}),
        {"numbers": frozenset({1, 2, Decimal("2.5")})},
    ),
    "ADD an equal number to a set": (adding({"numbers": frozenset({Decimal("1.0")})}), {}),
    "ADD to a binary set": (adding({"bits": frozenset({b"c"})}), {"bits": frozenset({b"a", b"b", b"c"})}),
    "ADD to a missing set": (adding({"more": frozenset({"a"})}), {"more": frozenset({"a"})}),
    "ADD to a set in a map": (
        adding({"address.names": frozenset({"work"})}),
        {"address": {"city": "P", "visits": 1, "names": frozenset({"home", "work"})}},
    ),
    "DELETE from a string set": (deleting({"words": frozenset({"a"})}), {"words": frozenset({"b"})}),
    "DELETE from a number set": (deleting({"numbers": frozenset({Decimal("2.0")})}), {"numbers": frozenset({1})}),
    "DELETE from a binary set": (deleting({"bits": frozenset({b"a"})}), {"bits": frozenset({b"b"})}),
    "DELETE what is not in the set": (deleting({"words": frozenset({"c"})}), {}),
    "DELETE from a missing set": (deleting({"nothing": frozenset({"c"})}), {}),
    "DELETE the last members": (deleting({"words": frozenset({"a", "b", "c"})}), {"words": GONE}),
    "DELETE the last member in a map": (
        deleting({"address.names": frozenset({"home"})}),
        {"address": {"city": "P", "visits": 1}},
    ),
    "all four clauses": (
        joined(
            setting({"new": 1}),
            removing("text"),
            adding({"n": 1}),
            deleting({"words": frozenset({"a"})}),
        ),
        {"new": 1, "text": GONE, "n": 11, "words": frozenset({"b"})},
    ),
    "SET reads what REMOVE takes away": (
        joined(setting({"copy": path("text")}), removing("text")),
        {"copy": "old", "text": GONE},
    ),
    "SET and REMOVE in one list use the old positions": (
        joined(setting({"tags[2]": "c"}), removing("tags[0]")),
        {"tags": ["y", "c"]},
    ),
}


@pytest.mark.rule(4, 11, 18)
@pytest.mark.parametrize(("update", "expected"), CHANGES.values(), ids=CHANGES.keys())
def test_update(table: Table, update: Update, expected: dict[str, Any]) -> None:
    table.put({**KEY, **OLD})
    table.update(("a", "1"), update)
    wanted = {name: value for name, value in {**KEY, **OLD, **expected}.items() if value is not GONE}
    assert table.get("a", "1") == wanted


REFUSED: dict[str, tuple[Update, str]] = {
    "REMOVE a key": (removing("pk"), "Cannot update attribute pk. This attribute is part of the key"),
    "REMOVE below a missing attribute": (removing("nothing.a"), "document path provided in the update expression"),
    "REMOVE overlapping paths": (removing("address", "address.city"), "Two document paths overlap"),
    "ADD a text": (adding({"n": "5"}), "Incorrect operand type for operator or function"),
    "ADD a list": (adding({"tags": ["w"]}), "Incorrect operand type for operator or function"),
    "ADD a number to a text": (adding({"text": 1}), "incorrect data type"),
    "ADD a number to a set": (adding({"numbers": 1}), "incorrect data type"),
    "ADD a set to a number": (adding({"n": frozenset({1})}), "incorrect data type"),
    "ADD another kind of set": (adding({"words": frozenset({1})}), "incorrect data type"),
    "ADD below a missing map": (adding({"nothing.n": 1}), "document path provided in the update expression"),
    "ADD to a key": (adding({"sk": 1}), "Cannot update attribute sk. This attribute is part of the key"),
    "DELETE a text": (deleting({"words": "a"}), "Incorrect operand type for operator or function"),
    "DELETE a number": (deleting({"n": 1}), "Incorrect operand type for operator or function"),
    "DELETE from a text": (deleting({"text": frozenset({"o"})}), "incorrect data type"),
    "DELETE another kind of set": (deleting({"words": frozenset({1})}), "incorrect data type"),
    "the same path in two clauses": (joined(setting({"n": 1}), removing("n")), "Two document paths overlap"),
    "overlap between clauses": (
        joined(adding({"address.visits": 1}), removing("address")),
        "Two document paths overlap",
    ),
}


@pytest.mark.rule(19)
@pytest.mark.parametrize(("update", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_update_refused(table: Table, update: Update, message: str) -> None:
    table.put({**KEY, **OLD})
    with pytest.raises(ValidationFailed, match=message):
        table.update(("a", "1"), update)
    assert table.get("a", "1") == {**KEY, **OLD}


@pytest.mark.rule(19, 20)
@pytest.mark.parametrize(
    "update",
    [removing("n"), deleting({"words": frozenset({"a"})}), removing("nothing.a")],
    ids=["REMOVE", "DELETE", "REMOVE below nothing"],
)
def test_taking_away_from_a_missing_item_does_not_create_it(table: Table, update: Update) -> None:
    table.update(("a", "1"), update)
    assert table.get("a", "1") is None


@pytest.mark.parametrize(
    ("update", "attributes"),
    [
        (adding({"n": 1}), {"n": 1}),
        (adding({"words": frozenset({"a"})}), {"words": frozenset({"a"})}),
        (joined(setting({"n": 1}), removing("m")), {"n": 1}),
    ],
    ids=["ADD a number", "ADD a set", "SET and REMOVE"],
)
def test_adding_to_a_missing_item_creates_it(table: Table, update: Update, attributes: dict[str, Any]) -> None:
    table.update(("a", "1"), update)
    assert table.get("a", "1") == {**KEY, **attributes}


def test_a_false_condition_keeps_an_update_away(table: Table) -> None:
    table.put({**KEY, "n": 1})
    with pytest.raises(ConditionFailed, match="The conditional request failed"):
        table.update(("a", "1"), adding({"n": 1}), condition=eq("n", 2))
    assert table.get("a", "1") == {**KEY, "n": 1}


def test_a_false_condition_keeps_an_update_from_creating_the_item(table: Table) -> None:
    with pytest.raises(ConditionFailed):
        table.update(("a", "1"), adding({"n": 1}), condition=exists("pk"))
    assert table.get("a", "1") is None


def test_a_true_condition_lets_an_update_through(table: Table) -> None:
    table.put({**KEY, "n": 1})
    table.update(("a", "1"), adding({"n": 1}), condition=eq("n", 1))
    assert table.get("a", "1") == {**KEY, "n": 2}


def test_updates_add_up(table: Table) -> None:
    for _ in range(10):
        table.update(("a", "1"), adding({"n": 1}))
    assert table.get("a", "1") == {**KEY, "n": 10}
