"""PutItem."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import eq, missing

from partita.errors import ConditionFailed, TableNotFound, ValidationFailed
from partita.store._interface import Store
from partita.store._requests import GetItem, PutItem
from partita.values._attribute_values import kind_of

VALUES: dict[str, Any] = {
    "string": "text",
    "empty string": "",
    "text beyond ASCII": "Zoë ☃ 𝄞",
    "text with a NUL": "a\x00b",
    "whole number": 42,
    "negative number": -7,
    "fraction": Decimal("1.25"),
    "number of 38 digits": int("9" * 38),
    "integer beyond 64 bits": 2**70,
    "smallest magnitude": Decimal("1E-130"),
    "binary": b"\x00\xff",
    "empty binary": b"",
    "true": True,
    "false": False,
    "null": None,
    "list": [1, "a", None, [True]],
    "empty list": [],
    "map": {"a": {"b": [1]}, "c": ""},
    "empty map": {},
    "string set": frozenset({"a", "b"}),
    "string set with an empty string": frozenset({"", "b"}),
    "number set": frozenset({1, Decimal("2.5")}),
    "binary set": frozenset({b"a", b""}),
    "sets in a list": [frozenset({"a"}), frozenset({1})],
}


@pytest.mark.rule(9)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_a_value_comes_back_as_it_was_put(table: Table, value: Any) -> None:
    table.put({"pk": "a", "sk": "1", "value": value})
    item = table.get("a", "1")
    assert item == {"pk": "a", "sk": "1", "value": value}
    assert kind_of(value) == kind_of(item["value"])


def test_a_put_replaces_the_whole_item(table: Table) -> None:
    table.put({"pk": "a", "sk": "1", "old": 1}, {"pk": "a", "sk": "1", "new": 2})
    assert table.get("a", "1") == {"pk": "a", "sk": "1", "new": 2}


def test_items_with_other_keys_are_untouched(table: Table) -> None:
    table.put({"pk": "a", "sk": "1"}, {"pk": "a", "sk": "2"}, {"pk": "b", "sk": "1"})
    table.put({"pk": "a", "sk": "1", "n": 1})
    assert table.get("a", "2") == {"pk": "a", "sk": "2"}
    assert table.get("b", "1") == {"pk": "b", "sk": "1"}


def test_changing_a_stored_or_returned_item_changes_nothing_in_the_store(table: Table) -> None:
    item: dict[str, Any] = {"pk": "a", "sk": "1", "list": [1]}
    table.put(item)
    item["list"].append(2)
    returned = table.get("a", "1")
    assert returned is not None
    returned["list"].append(3)
    assert table.get("a", "1") == {"pk": "a", "sk": "1", "list": [1]}


def test_a_true_condition_lets_the_put_through(table: Table) -> None:
    table.put({"pk": "a", "sk": "1", "n": 1})
    table.put({"pk": "a", "sk": "1", "n": 2}, condition=eq("n", 1))
    assert table.get("a", "1") == {"pk": "a", "sk": "1", "n": 2}


def test_a_false_condition_leaves_the_item_alone(table: Table) -> None:
    table.put({"pk": "a", "sk": "1", "n": 1})
    with pytest.raises(ConditionFailed, match="The conditional request failed"):
        table.put({"pk": "a", "sk": "1", "n": 2}, condition=missing("pk"))
    assert table.get("a", "1") == {"pk": "a", "sk": "1", "n": 1}


def test_an_insert_goes_through_where_nothing_is(table: Table) -> None:
    table.put({"pk": "a", "sk": "1"}, condition=missing("pk"))
    assert table.get("a", "1") == {"pk": "a", "sk": "1"}


@pytest.mark.parametrize("item", [{"sk": "1"}, {"pk": "a"}, {}], ids=["no hash", "no range", "nothing"])
def test_a_key_attribute_must_not_be_left_out(table: Table, item: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        table.put(item)


def test_the_message_names_the_missing_key(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Missing the key sk in the item"):
        table.put({"pk": "a"})


def test_a_table_without_range_has_one_item_for_each_hash(make_table: MakeTable) -> None:
    table = make_table(range_type=None)
    table.put({"pk": "a", "n": 1}, {"pk": "a", "n": 2})
    assert table.get("a") == {"pk": "a", "n": 2}
    assert table.scan().count == 1


def test_a_missing_table_is_reported(store: Store) -> None:
    with pytest.raises(TableNotFound):
        store.execute(PutItem("no-such-table", {"pk": "a"}))
    with pytest.raises(TableNotFound):
        store.execute(GetItem("no-such-table", {"pk": "a"}))


INVALID: dict[str, Any] = {
    "empty set": frozenset(),
    "empty set in a map": {"a": frozenset()},
    "empty set in a list": [frozenset()],
    "set of two kinds": frozenset({"a", 1}),
}


@pytest.mark.rule(9)
@pytest.mark.parametrize("value", INVALID.values(), ids=INVALID.keys())
def test_a_value_that_dynamodb_does_not_have_is_refused(table: Table, value: Any) -> None:
    with pytest.raises(ValidationFailed):
        table.put({"pk": "a", "sk": "1", "value": value})
    assert table.get("a", "1") is None


@pytest.mark.parametrize("value", [1.5, object(), (1, 2)], ids=["float", "object", "tuple"])
def test_a_python_type_without_a_dynamodb_type_is_refused(table: Table, value: Any) -> None:
    with pytest.raises(ValidationFailed):
        table.put({"pk": "a", "sk": "1", "value": value})
