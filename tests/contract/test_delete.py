"""DeleteItem."""

from __future__ import annotations

import pytest
from tests.contract.table import Table
from tests.contract.trees import eq, exists, missing

from partita.errors import ConditionFailed, ValidationFailed
from partita.store._requests import DeleteItem


def test_a_deleted_item_is_gone(table: Table) -> None:
    table.put({"pk": "a", "sk": "1"}, {"pk": "a", "sk": "2"})
    table.delete("a", "1")
    assert table.get("a", "1") is None
    assert table.get("a", "2") == {"pk": "a", "sk": "2"}


def test_deleting_what_is_not_there_succeeds(table: Table) -> None:
    assert table.delete("a", "1").attributes is None


def test_deleting_twice_succeeds(table: Table) -> None:
    table.put({"pk": "a", "sk": "1"})
    table.delete("a", "1")
    table.delete("a", "1")
    assert table.get("a", "1") is None


def test_a_true_condition_lets_the_delete_through(table: Table) -> None:
    table.put({"pk": "a", "sk": "1", "n": 1})
    table.delete("a", "1", condition=eq("n", 1))
    assert table.get("a", "1") is None


def test_a_false_condition_keeps_the_item(table: Table) -> None:
    table.put({"pk": "a", "sk": "1", "n": 1})
    with pytest.raises(ConditionFailed):
        table.delete("a", "1", condition=eq("n", 2))
    assert table.get("a", "1") == {"pk": "a", "sk": "1", "n": 1}


def test_a_condition_is_evaluated_on_a_missing_item_too(table: Table) -> None:
    with pytest.raises(ConditionFailed):
        table.delete("a", "1", condition=exists("pk"))
    assert table.delete("a", "1", condition=missing("pk")).attributes is None


def test_a_deleted_item_can_be_inserted_again(table: Table) -> None:
    table.put({"pk": "a", "sk": "1", "n": 1})
    table.delete("a", "1")
    table.put({"pk": "a", "sk": "1", "m": 2}, condition=missing("pk"))
    assert table.get("a", "1") == {"pk": "a", "sk": "1", "m": 2}


def test_the_key_must_be_the_tables(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="The provided key element does not match the schema"):
        table.store.execute(DeleteItem(table.name, {"pk": "a"}))
