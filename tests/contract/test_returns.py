"""The attributes that a write returns, and the item that a failed condition carries."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.table import Table
from tests.contract.trees import adding, eq, exists, joined, path, removing, setting

from partita.errors import ConditionFailed, ValidationFailed
from partita.expressions._ast import Update
from partita.store._requests import Returns

OLD: dict[str, Any] = {"pk": "a", "sk": "1", "n": 1, "tags": ["x", "y", "z"], "address": {"city": "P", "zip": 9}}


def test_a_put_returns_nothing_unless_asked(table: Table) -> None:
    table.put(OLD)
    assert table.put({"pk": "a", "sk": "1"}).attributes is None


def test_a_put_returns_the_item_that_it_replaced(table: Table) -> None:
    table.put(OLD)
    assert table.put({"pk": "a", "sk": "1"}, returns="ALL_OLD").attributes == OLD


def test_a_put_of_a_new_item_has_no_old_one_to_return(table: Table) -> None:
    assert table.put(OLD, returns="ALL_OLD").attributes is None


def test_a_delete_returns_the_item_that_it_deleted(table: Table) -> None:
    table.put(OLD)
    assert table.delete("a", "1", returns="ALL_OLD").attributes == OLD


def test_a_delete_of_a_missing_item_returns_nothing(table: Table) -> None:
    assert table.delete("a", "1", returns="ALL_OLD").attributes is None


@pytest.mark.parametrize("returns", ["UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"])
def test_put_and_delete_know_only_the_old_item(table: Table, returns: Returns) -> None:
    with pytest.raises(ValidationFailed):
        table.put(OLD, returns=returns)
    with pytest.raises(ValidationFailed):
        table.delete("a", "1", returns=returns)


NEW = setting({"n": 2, "address.city": "Q"})
UPDATES: dict[str, tuple[Update, Returns, dict[str, Any] | None]] = {
    "nothing asked": (NEW, "NONE", None),
    "all old": (NEW, "ALL_OLD", OLD),
    "all new": (NEW, "ALL_NEW", {**OLD, "n": 2, "address": {"city": "Q", "zip": 9}}),
    "touched old": (NEW, "UPDATED_OLD", {"n": 1, "address": {"city": "P"}}),
    "touched new": (NEW, "UPDATED_NEW", {"n": 2, "address": {"city": "Q"}}),
    "touched old of a new attribute": (setting({"m": 1}), "UPDATED_OLD", None),
    "touched new of a new attribute": (setting({"m": 1}), "UPDATED_NEW", {"m": 1}),
    "touched new of a removal": (removing("n"), "UPDATED_NEW", None),
    "touched old of a removal": (removing("n"), "UPDATED_OLD", {"n": 1}),
    "touched list elements old": (setting({"tags[2]": "c", "tags[0]": "a"}), "UPDATED_OLD", {"tags": ["x", "z"]}),
    "touched list elements new": (setting({"tags[2]": "c", "tags[0]": "a"}), "UPDATED_NEW", {"tags": ["a", "c"]}),
    "touched by addition old": (adding({"n": 5}), "UPDATED_OLD", {"n": 1}),
    "touched by addition new": (adding({"n": 5}), "UPDATED_NEW", {"n": 6}),
    "set and removed": (joined(setting({"m": 1}), removing("n")), "UPDATED_NEW", {"m": 1}),
    "value that did not change": (setting({"n": path("n")}), "UPDATED_NEW", {"n": 1}),
}


@pytest.mark.rule(21)
@pytest.mark.parametrize(("update", "returns", "expected"), UPDATES.values(), ids=UPDATES.keys())
def test_an_update_returns_what_was_asked_for(
    table: Table, update: Update, returns: Returns, expected: dict[str, Any] | None
) -> None:
    table.put(OLD)
    assert table.update(("a", "1"), update, returns=returns).attributes == expected


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        ("ALL_OLD", None),
        ("UPDATED_OLD", None),
        ("ALL_NEW", {"pk": "a", "sk": "1", "n": 2}),
        ("UPDATED_NEW", {"n": 2}),
    ],
)
def test_an_update_that_creates_the_item_has_no_old_attributes(
    table: Table, returns: Returns, expected: dict[str, Any] | None
) -> None:
    assert table.update(("a", "1"), setting({"n": 2}), returns=returns).attributes == expected


@pytest.mark.rule(22)
def test_a_failed_condition_carries_the_item_where_asked(table: Table) -> None:
    table.put(OLD)
    with pytest.raises(ConditionFailed) as put:
        table.put({"pk": "a", "sk": "1"}, condition=eq("n", 5), on_failure_item=True)
    with pytest.raises(ConditionFailed) as update:
        table.update(("a", "1"), setting({"n": 2}), condition=eq("n", 5), on_failure_item=True)
    with pytest.raises(ConditionFailed) as delete:
        table.delete("a", "1", condition=eq("n", 5), on_failure_item=True)
    assert [put.value.item, update.value.item, delete.value.item] == [OLD, OLD, OLD]


def test_a_failed_condition_carries_nothing_unasked(table: Table) -> None:
    table.put(OLD)
    with pytest.raises(ConditionFailed) as failure:
        table.put(OLD, condition=eq("n", 5))
    assert failure.value.item is None


def test_a_failed_condition_on_a_missing_item_has_no_item_to_carry(table: Table) -> None:
    with pytest.raises(ConditionFailed) as failure:
        table.delete("a", "1", condition=exists("pk"), on_failure_item=True)
    assert failure.value.item is None
