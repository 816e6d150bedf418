"""Items over the wire: what is told beside them, and what is refused, in DynamoDB's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.wire.support import TASKS, Caller, Json, task

from partita.errors import SerializationFailed, ValidationFailed
from partita.wire._values import read_value

KEY = task("u", "1")


def test_capacity_is_told_for_table_and_index(call: Caller) -> None:
    put = call("PutItem", TableName="tasks", Item=task("u", "1", status="open"), ReturnConsumedCapacity="INDEXES")
    expected = {
        "TableName": "tasks",
        "CapacityUnits": 2.0,
        "Table": {"CapacityUnits": 1.0},
        "GlobalSecondaryIndexes": {"by_status": {"CapacityUnits": 1.0}},
    }
    assert put["ConsumedCapacity"] == expected
    get = call("GetItem", TableName="tasks", Key=KEY, ReturnConsumedCapacity="TOTAL")
    assert get["ConsumedCapacity"] == {"TableName": "tasks", "CapacityUnits": 0.5}


def test_a_transaction_tells_reads_and_writes_apart(call: Caller) -> None:
    put = {"Put": {"TableName": "tasks", "Item": KEY}}
    answer = call("TransactWriteItems", TransactItems=[put], ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [{"TableName": "tasks", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}]


def test_item_collections_are_measured_where_there_is_a_local_index(call: Caller) -> None:
    local = {**TASKS["GlobalSecondaryIndexes"][0], "KeySchema": [*TASKS["KeySchema"][:1]]}
    local["KeySchema"].append({"AttributeName": "status", "KeyType": "RANGE"})
    table = {name: part for name, part in TASKS.items() if name != "GlobalSecondaryIndexes"}
    call("CreateTable", **{**table, "TableName": "local", "LocalSecondaryIndexes": [local]})
    for name, expected in (("local", {"ItemCollectionKey": {"user": {"S": "u"}}}), ("tasks", {})):
        answer = call("PutItem", TableName=name, Item=KEY, ReturnItemCollectionMetrics="SIZE")
        metrics = answer.get("ItemCollectionMetrics", {})
        assert {part: metrics[part] for part in metrics if part != "SizeEstimateRangeGB"} == expected


@pytest.mark.parametrize("sort", [None, "id"], ids=["partition alone", "with a sort key"])
@pytest.mark.parametrize("operation", ["Scan", "Query"])
def test_the_index_of_a_table_without_a_sort_key_is_paged(call: Caller, operation: str, sort: str | None) -> None:
    key = [{"AttributeName": "kind", "KeyType": "HASH"}]
    call(
        "CreateTable",
        TableName="plain",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("id", "kind")],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by_kind",
                "KeySchema": key if sort is None else [*key, {"AttributeName": sort, "KeyType": "RANGE"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    for number in range(5):
        call("PutItem", TableName="plain", Item={"id": {"S": str(number)}, "kind": {"S": "k"}})
    condition = {"kind": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "k"}]}}
    fixed: dict[str, Any] = {"TableName": "plain", "IndexName": "by_kind", "Limit": 2}
    if operation == "Query":
        fixed["KeyConditions"] = condition
    found: list[str] = []
    start: Json | None = {}
    while start is not None:
        page = call(operation, **fixed, **({"ExclusiveStartKey": start} if start else {}))
        found += [item["id"]["S"] for item in page["Items"]]
        start = page.get("LastEvaluatedKey")
    assert found == list("01234")


def test_the_first_violated_constraint_is_named_alone(call: Caller) -> None:
    """As AWS does since June 2026."""
    with pytest.raises(ValidationFailed) as refusal:
        call("PutItem", TableName="tasks", Item=KEY, ReturnValues="X", ReturnConsumedCapacity="Y")
    assert str(refusal.value) == (
        "1 validation error detected: Value 'Y' at 'returnConsumedCapacity' failed to satisfy constraint: "
        "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
    )


@pytest.mark.parametrize(
    ("tagged", "message"),
    [
        ({}, "Supplied AttributeValue is empty"),
        ({"S": "a", "N": "1"}, "more than one datatypes set"),
        ({"NULL": False}, "Null attribute value types must have the value of true"),
        ({"SS": []}, "An string set  may not be empty"),
        ({"SS": ["a", "a"]}, r"Input collection \[a, a\] contains duplicates"),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        ({"N": "1 "}, "cannot be converted to a numeric value"),
        ({"N": "1e"}, "cannot be converted to a numeric value"),
    ],
)
def test_a_value_that_breaks_a_rule_is_invalid(tagged: Any, message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        read_value(tagged)


@pytest.mark.parametrize(
    "tagged", [{"N": 5}, {"S": 5}, {"B": "*"}, {"B": "AAA"}, {"BOOL": "x"}, {"L": {}}, {"M": []}, 5]
)
def test_a_value_of_another_form_cannot_be_read(tagged: Any) -> None:
    with pytest.raises(SerializationFailed):
        read_value(tagged)


@pytest.mark.parametrize(
    ("text", "number"),
    [("+5", 5), ("5.", 5), ("1.e5", 100_000), ("0001.50", 1.5), ("-0", 0), ("-7", -7)],
)
def test_a_number_may_be_written_in_many_ways(text: str, number: float) -> None:
    assert read_value({"N": text}) == number


def test_a_value_is_only_so_deep() -> None:
    value: Any = {"S": "x"}
    for _ in range(40):
        value = {"L": [value]}
    with pytest.raises(ValidationFailed, match="Nesting Levels"):
        read_value(value)


def test_a_batch_answers_by_the_name_that_it_was_given(call: Caller) -> None:
    arn = call("DescribeTable", TableName="tasks")["Table"]["TableArn"]
    call("BatchWriteItem", RequestItems={arn: [{"PutRequest": {"Item": task("u", "1")}}]})
    answer = call("BatchGetItem", RequestItems={arn: {"Keys": [task("u", "1")]}})
    assert answer["Responses"] == {arn: [task("u", "1")]}


@pytest.mark.parametrize(("name", "message"), [("", "Empty attribute name"), ("x" * 65_536, "may have 65535 bytes")])
@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("GetItem", lambda name: {"ProjectionExpression": "#n", "ExpressionAttributeNames": {"#n": name}}),
        ("GetItem", lambda name: {"AttributesToGet": [name]}),
        ("UpdateItem", lambda name: {"AttributeUpdates": {name: {"Value": {"N": "1"}}}}),
    ],
)
def test_a_name_that_no_attribute_can_have_is_refused(
    call: Caller, operation: str, parameters: Callable[[str], Json], name: str, message: str
) -> None:
    with pytest.raises(ValidationFailed, match=message):
        call(operation, TableName="tasks", Key=task("u", "1"), **parameters(name))
