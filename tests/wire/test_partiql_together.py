"""Statements in a batch and in a transaction."""

# ruff: noqa: S608 - the statements are the tests' own

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.support import Caller, Json, task

from partita.errors import TransactionCancelled, ValidationFailed

pytestmark = pytest.mark.rule(51)

HERE = "WHERE \"user\" = 'u' AND task = '{}'"
NEEDS_KEY = "Select statements within {} must specify the primary key in the where clause."
FAILED_IN = "Validation failed in TransactStatements[{}]: "


@pytest.fixture
def call(call: Caller) -> Caller:
    """A caller whose table has three tasks."""
    for number in "123":
        call("PutItem", TableName="tasks", Item={**task("u", number, status="open"), "n": {"N": number}})
    return call


def batch(call: Caller, *statements: str) -> list[Json]:
    given = [{"Statement": statement} for statement in statements]
    responses: list[Json] = call("BatchExecuteStatement", Statements=given)["Responses"]
    return responses


def transact(call: Caller, *statements: str, **options: Any) -> Json:
    return call("ExecuteTransaction", TransactStatements=[{"Statement": each} for each in statements], **options)


def refusal(call: Caller, *statements: str) -> str:
    with pytest.raises(ValidationFailed) as refused:
        transact(call, *statements)
    return refused.value.message


def update(number: str, change: str = "SET n = 9") -> str:
    return f"UPDATE tasks {change} {HERE.format(number)}"


def test_reads_of_a_batch_fail_alone(call: Caller) -> None:
    found, missing, none = batch(
        call,
        f"SELECT n FROM tasks {HERE.format(1)}",
        f"SELECT n FROM other {HERE.format(1)}",
        f"SELECT n FROM tasks {HERE.format(9)}",
    )
    assert found == {"TableName": "tasks", "Item": {"n": {"N": "1"}}}
    assert missing == {
        "TableName": "other",
        "Error": {"Code": "ResourceNotFound", "Message": "Requested resource not found"},
    }
    assert none == {"TableName": "tasks"}


@pytest.mark.parametrize(
    "rest",
    [
        "FROM tasks WHERE \"user\" = 'u'",
        "FROM tasks.by_status WHERE status = 'open'",
        f"FROM tasks {HERE.format(1)} AND attribute_exists(n)",
        "FROM tasks",
    ],
)
def test_a_read_among_others_is_of_one_item(call: Caller, rest: str) -> None:
    (response,) = batch(call, f"SELECT * {rest}")
    assert response == {
        "Error": {"Code": "ValidationError", "Message": NEEDS_KEY.format("BatchExecuteStatement")},
    }
    expected = "Reads on indices are not supported within transactions."
    if "by_status" not in rest:
        expected = NEEDS_KEY.format("ExecuteTransaction")
    assert refusal(call, f"SELECT * {rest}") == FAILED_IN.format(0) + expected


def test_writes_of_a_batch_fail_alone(call: Caller) -> None:
    duplicate, false, wrong, malformed, removed, empty = batch(
        call,
        "INSERT INTO tasks VALUE {'user': 'u', 'task': '1'}",
        f"UPDATE tasks SET n = 7 {HERE.format(2)} AND n = 9",
        f"DELETE FROM tasks {HERE.format(7)} RETURNING ALL NEW *",
        "DELETE FROM tasks WHERE",
        f"DELETE FROM tasks {HERE.format(3)} RETURNING ALL OLD *",
        f"UPDATE tasks REMOVE none {HERE.format(1)} RETURNING MODIFIED NEW *",
    )
    assert duplicate["Error"] == {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}
    assert false["Error"] == {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
    assert (duplicate["TableName"], false["TableName"]) == ("tasks", "tasks")
    assert wrong["Error"]["Message"].startswith("Invalid returning clause: RETURNING ALL NEW *.")
    assert malformed == {
        "Error": {
            "Code": "ValidationError",
            "Message": "Statement wasn't well formed, can't be processed: Unexpected term",
        }
    }
    assert removed["Item"]["n"] == {"N": "3"}
    assert empty == {"TableName": "tasks"}


def test_a_batch_reads_or_writes(call: Caller) -> None:
    with pytest.raises(ValidationFailed, match="Read and write requests together in the same batch is not supported"):
        batch(call, f"SELECT * FROM tasks {HERE.format(1)}", update("2"))


def test_a_batch_names_an_item_once(call: Caller) -> None:
    with pytest.raises(ValidationFailed, match="Provided list of item keys contains duplicates"):
        batch(call, update("1"), f"DELETE FROM tasks {HERE.format(1)}")


def test_a_number_that_is_none_is_said_of_its_statement(call: Caller) -> None:
    statement = {"Statement": f"SELECT * FROM tasks {HERE.format(1)} AND n = ?", "Parameters": [{"N": "1e99999999999"}]}
    message = "The parameter cannot be converted to a numeric value: 1e99999999999"
    (response,) = call("BatchExecuteStatement", Statements=[statement])["Responses"]
    assert response == {"Error": {"Code": "ValidationError", "Message": message}}
    with pytest.raises(ValidationFailed) as refused:
        call("ExecuteTransaction", TransactStatements=[statement])
    assert refused.value.message == message


def test_a_transaction_of_writes_responds_with_nothing(call: Caller) -> None:
    assert transact(call, update("1"), update("2")) == {"Responses": []}
    insert = "INSERT INTO tasks VALUE {'user': 'u', 'task': '8'}"
    response = transact(call, insert, f"DELETE FROM tasks {HERE.format(3)}", ReturnConsumedCapacity="TOTAL")
    assert response["Responses"] == []
    assert [each["TableName"] for each in response["ConsumedCapacity"]] == ["tasks"]
    assert call("GetItem", TableName="tasks", Key=task("u", "1"))["Item"]["n"] == {"N": "9"}


def test_a_transaction_runs_every_kind_of_write(call: Caller) -> None:
    transact(
        call,
        f"FROM tasks {HERE.format(1)} SET c = 1",
        update("2", "SET s = set_add(s, <<'a'>>)") + " AND attribute_exists(n)",
    )
    assert call("GetItem", TableName="tasks", Key=task("u", "1"))["Item"]["c"] == {"N": "1"}
    assert call("GetItem", TableName="tasks", Key=task("u", "2"))["Item"]["s"] == {"SS": ["a"]}
    with pytest.raises(TransactionCancelled) as cancelled:
        transact(call, update("3"), update("1") + " AND attribute_exists(none)")
    assert [reason.code for reason in cancelled.value.reasons] == ["None", "ConditionalCheckFailed"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (update("2") + " RETURNING ALL NEW *", "RETURNING clause is not supported in ExecuteTransaction."),
        (
            f"DELETE FROM tasks {HERE.format(2)} RETURNING ALL OLD *",
            "RETURNING clause is not supported in ExecuteTransaction.",
        ),
        (
            f"EXISTS(SELECT * FROM tasks {HERE.format(2)})",
            "EXISTS() must contain a single item read with additional condition",
        ),
        ("SELECT * FROM tasks WHERE", "Statement wasn't well formed, can't be processed: Unexpected term"),
        (
            "DELETE FROM tasks WHERE n = 1",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
    ],
)
def test_a_statement_that_a_transaction_refuses_is_named_by_its_place(
    call: Caller, statement: str, message: str
) -> None:
    assert refusal(call, statement) == FAILED_IN.format(0) + message
    assert refusal(call, update("1"), statement) == FAILED_IN.format(1) + message
    assert call("GetItem", TableName="tasks", Key=task("u", "1"))["Item"]["n"] == {"N": "1"}


def test_a_transaction_reads_or_writes(call: Caller) -> None:
    message = "ExecuteTransaction API does not support both read and write operations in the same request."
    assert refusal(call, f"SELECT * FROM tasks {HERE.format(1)}", update("2")) == message
