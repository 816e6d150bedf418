"""TransactWriteItems: all or nothing, with a reason for each action."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.table import MakeTable, Table
from tests.contract.trees import adding, compare, eq, exists, missing, path, removing, setting

from partita.errors import TableNotFound, TransactionCancelled, ValidationFailed
from partita.store._interface import Store
from partita.store._requests import (
    ConditionCheck,
    DeleteItem,
    PutItem,
    TransactAction,
    TransactWriteItems,
    UpdateItem,
)
from partita.store._schema import IndexSchema, KeyAttribute


def key(sk: str) -> dict[str, Any]:
    """Return a key of partition `p`."""
    return {"pk": "p", "sk": sk}


def transact(table: Table, *actions: TransactAction) -> None:
    """Run the actions in one transaction."""
    table.store.execute(TransactWriteItems(actions))


def codes(failure: pytest.ExceptionInfo[TransactionCancelled]) -> list[str]:
    """Return the codes of the reasons."""
    return [reason.code for reason in failure.value.reasons]


def test_all_four_actions_go_through_together(table: Table) -> None:
    table.put({**key("update"), "n": 1}, key("delete"), {**key("check"), "n": 5})
    transact(
        table,
        PutItem(table.name, {**key("put"), "n": 0}),
        UpdateItem(table.name, key("update"), adding({"n": 1})),
        DeleteItem(table.name, key("delete")),
        ConditionCheck(table.name, key("check"), eq("n", 5)),
    )
    assert table.query("p").items == [{**key("check"), "n": 5}, {**key("put"), "n": 0}, {**key("update"), "n": 2}]


def test_actions_may_be_of_several_tables(make_table: MakeTable) -> None:
    one, two = make_table(), make_table(range_type=None)
    transact(one, PutItem(one.name, key("1")), PutItem(two.name, {"pk": "q"}))
    assert (one.get("p", "1"), two.get("q")) == (key("1"), {"pk": "q"})


@pytest.mark.rule(36)
def test_one_false_condition_undoes_everything(table: Table) -> None:
    table.put({**key("1"), "n": 1})
    with pytest.raises(TransactionCancelled) as failure:
        transact(
            table,
            PutItem(table.name, key("new")),
            UpdateItem(table.name, key("1"), adding({"n": 1}), condition=eq("n", 9)),
            DeleteItem(table.name, key("other")),
        )
    assert codes(failure) == ["None", "ConditionalCheckFailed", "None"]
    assert table.query("p").items == [{**key("1"), "n": 1}]


def test_the_message_lists_the_reasons(table: Table) -> None:
    with pytest.raises(TransactionCancelled, match=r"specific reasons \[None, ConditionalCheckFailed\]"):
        transact(table, PutItem(table.name, key("1")), ConditionCheck(table.name, key("2"), exists("pk")))


@pytest.mark.rule(36)
def test_every_false_condition_has_its_reason(table: Table) -> None:
    table.put(key("1"))
    with pytest.raises(TransactionCancelled) as failure:
        transact(
            table,
            PutItem(table.name, key("1"), condition=missing("pk")),
            PutItem(table.name, key("2"), condition=missing("pk")),
            DeleteItem(table.name, key("3"), condition=exists("pk")),
            ConditionCheck(table.name, key("4"), exists("pk")),
        )
    assert codes(failure) == ["ConditionalCheckFailed", "None", "ConditionalCheckFailed", "ConditionalCheckFailed"]
    assert failure.value.reasons[0].message == "The conditional request failed"


def test_a_reason_carries_the_item_where_asked(table: Table) -> None:
    table.put({**key("1"), "n": 1}, {**key("2"), "n": 2})
    with pytest.raises(TransactionCancelled) as failure:
        transact(
            table,
            PutItem(table.name, key("1"), condition=missing("pk"), on_failure_item=True),
            PutItem(table.name, key("2"), condition=missing("pk")),
            ConditionCheck(table.name, key("3"), exists("pk"), on_failure_item=True),
        )
    assert [reason.item for reason in failure.value.reasons] == [{**key("1"), "n": 1}, None, None]


def test_conditions_see_the_items_before_the_transaction(table: Table) -> None:
    transact(
        table,
        PutItem(table.name, {**key("1"), "n": 1}),
        ConditionCheck(table.name, key("2"), missing("pk")),
    )
    assert table.get("p", "1") == {**key("1"), "n": 1}


def deep(levels: int) -> Any:
    """Return a text inside this number of maps."""
    value: Any = "leaf"
    for _ in range(levels):
        value = {"n": value}
    return value


UNSTORABLE: dict[str, Any] = {"too large": {"body": "x" * 409_600}, "too deep": {"body": deep(32)}}


@pytest.mark.rule(37)
@pytest.mark.parametrize("body", UNSTORABLE.values(), ids=UNSTORABLE.keys())
def test_an_item_that_no_table_takes_refuses_the_request(table: Table, body: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        transact(table, PutItem(table.name, key("1")), PutItem(table.name, {**key("2"), **body}))
    with pytest.raises(ValidationFailed):
        transact(
            table,
            UpdateItem(table.name, key("1"), setting({"n": path("nothing")})),
            PutItem(table.name, {**key("2"), **body}),
        )
    with pytest.raises(ValidationFailed):
        transact(table, DeleteItem(table.name, {"pk": "p", "sk": 5}), PutItem(table.name, {**key("2"), **body}))
    assert table.scan().count == 0


@pytest.mark.rule(37)
def test_an_item_that_an_update_makes_too_large_cancels(table: Table) -> None:
    with pytest.raises(TransactionCancelled, match="ValidationError"):
        transact(table, UpdateItem(table.name, key("1"), setting({"body": "x" * 409_600})))


def test_an_item_may_be_acted_on_once(table: Table) -> None:
    with pytest.raises(ValidationFailed, match="Transaction request cannot include multiple operations on one item"):
        transact(table, PutItem(table.name, key("1")), ConditionCheck(table.name, key("1"), missing("pk")))


def test_equal_numbers_are_one_item(make_table: MakeTable) -> None:
    table = make_table(range_type="N")
    with pytest.raises(ValidationFailed, match="Transaction request cannot include multiple operations on one item"):
        transact(table, PutItem(table.name, {"pk": "p", "sk": 10}), DeleteItem(table.name, {"pk": "p", "sk": 10}))


@pytest.mark.rule(8)
def test_a_hundred_actions_go_through(table: Table) -> None:
    transact(table, *(PutItem(table.name, key(f"{n:03}")) for n in range(100)))
    assert table.query("p").count == 100


@pytest.mark.rule(8)
def test_more_than_a_hundred_actions_are_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        transact(table, *(PutItem(table.name, key(f"{n:03}")) for n in range(101)))
    assert table.scan().count == 0


def test_no_actions_are_refused(store: Store) -> None:
    with pytest.raises(ValidationFailed):
        store.execute(TransactWriteItems(()))


@pytest.mark.rule(8)
def test_more_than_four_megabytes_are_refused(table: Table) -> None:
    with pytest.raises(ValidationFailed):
        transact(table, *(PutItem(table.name, {**key(f"{n:03}"), "body": "x" * 400_000}) for n in range(11)))
    assert table.scan().count == 0


def test_items_of_more_than_four_megabytes_may_be_deleted_together(table: Table) -> None:
    names = [f"{n:03}" for n in range(11)]
    table.put(*({**key(name), "body": "x" * 400_000} for name in names))
    transact(table, *(DeleteItem(table.name, key(name)) for name in names))
    assert table.scan().count == 0


def test_a_missing_table_is_reported(table: Table) -> None:
    with pytest.raises(TableNotFound):
        transact(table, PutItem(table.name, key("1")), PutItem("no-such-table", {"pk": "p"}))
    assert table.scan().count == 0


TOP_LEVEL: dict[str, Any] = {
    "empty key": lambda name: DeleteItem(name, key("")),
    "invalid condition": lambda name: DeleteItem(name, key("x"), condition=compare("n", "<", [1])),
    "overlapping paths": lambda name: UpdateItem(name, key("x"), setting({"a": 1, "a.b": 2})),
    "operand type": lambda name: UpdateItem(name, key("x"), adding({"a": "text"})),
    "same operands": lambda name: ConditionCheck(name, key("x"), eq("n", path("n"))),
}


@pytest.mark.rule(37)
@pytest.mark.parametrize("action", TOP_LEVEL.values(), ids=TOP_LEVEL.keys())
def test_an_action_that_is_wrong_in_itself_refuses_the_request(table: Table, action: Any) -> None:
    with pytest.raises(ValidationFailed):
        transact(table, PutItem(table.name, key("1")), action(table.name))
    assert table.scan().count == 0


REASONS: dict[str, Any] = {
    "wrongly typed key": lambda name: DeleteItem(name, {"pk": "p", "sk": 7}),
    "a key too few": lambda name: PutItem(name, {"pk": "p"}),
    "sum with a text": lambda name: UpdateItem(name, key("old"), adding({"text": 1})),
    "path below nothing": lambda name: UpdateItem(name, key("old"), setting({"nothing.a": 1})),
    "item too large": lambda name: UpdateItem(name, key("large"), setting({"more": "x" * 200_000})),
    "wrongly typed index key": lambda name: UpdateItem(name, key("old"), setting({"city": 1})),
}


@pytest.mark.rule(37)
@pytest.mark.parametrize("action", REASONS.values(), ids=REASONS.keys())
def test_an_action_that_the_table_or_item_refuses_is_a_reason(make_table: MakeTable, action: Any) -> None:
    table = make_table(indexes=(IndexSchema("by-city", (KeyAttribute("city"),)),))
    table.put({**key("old"), "text": "t"}, {**key("large"), "body": "x" * 300_000})
    with pytest.raises(TransactionCancelled) as failure:
        transact(table, PutItem(table.name, key("1")), action(table.name))
    assert codes(failure) == ["None", "ValidationError"]
    assert table.get("p", "1") is None


EMPTY: dict[str, Any] = {
    "put": lambda name: PutItem(name, {**key("2"), "city": ""}),
    "update": lambda name: UpdateItem(name, key("2"), setting({"city": ""})),
    "update with a false condition": lambda name: UpdateItem(name, key("2"), setting({"city": ""}), exists("pk")),
}


@pytest.mark.rule(37)
@pytest.mark.parametrize("action", EMPTY.values(), ids=EMPTY.keys())
def test_an_empty_index_key_refuses_the_request(make_table: MakeTable, action: Any) -> None:
    """Neither a false condition nor an action that would cancel the transaction comes first."""
    table = make_table(indexes=(IndexSchema("by-city", (KeyAttribute("city"),)),))
    others = (
        ConditionCheck(table.name, key("1"), exists("pk")),
        PutItem(table.name, {**key("1"), "city": 1}),
        DeleteItem(table.name, {"pk": "p", "sk": 7}),
    )
    for other in others:
        with pytest.raises(ValidationFailed, match="cannot contain an empty string value"):
            transact(table, other, action(table.name))
    assert table.scan().count == 0


@pytest.mark.rule(36)
def test_with_a_validation_error_no_condition_is_evaluated(table: Table) -> None:
    with pytest.raises(TransactionCancelled) as failure:
        transact(
            table,
            ConditionCheck(table.name, key("1"), exists("pk")),
            DeleteItem(table.name, {"pk": "p", "sk": 7}),
            DeleteItem(table.name, {"pk": "p", "sk": 8}),
        )
    assert codes(failure) == ["None", "ValidationError", "None"]


def test_a_transaction_keeps_the_indexes(make_table: MakeTable) -> None:
    table = make_table(indexes=(IndexSchema("by-city", (KeyAttribute("city"),)),))
    table.put({**key("1"), "city": "C"}, {**key("2"), "city": "C"})
    transact(
        table,
        PutItem(table.name, {**key("3"), "city": "C"}),
        UpdateItem(table.name, key("1"), removing("city")),
        DeleteItem(table.name, key("2")),
    )
    assert [item["sk"] for item in table.query("C", index="by-city").items] == ["3"]


def test_an_update_in_a_transaction_creates_a_missing_item(table: Table) -> None:
    transact(table, UpdateItem(table.name, key("1"), adding({"n": 1})))
    assert table.get("p", "1") == {**key("1"), "n": 1}


def test_a_condition_check_writes_nothing(table: Table) -> None:
    transact(table, ConditionCheck(table.name, key("1"), missing("pk")))
    assert table.scan().count == 0
