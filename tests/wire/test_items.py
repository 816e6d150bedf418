"""Items over the wire: reported capacity and collection sizes, and the wording of validation errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.wire.support import TASKS, Caller, Json, task

from partita.errors import SerializationFailed, ValidationFailed
from partita.wire._values import read_value

KEY = task("u", "1")


def test_capacity_is_reported_for_table_and_index(call: Caller) -> None:
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


def test_a_transaction_reports_reads_and_writes_apart(call: Caller) -> None:
    put = {"Put": {"TableName": "tasks", "Item": KEY}}
    response = call("TransactWriteItems", TransactItems=[put], ReturnConsumedCapacity="TOTAL")
    assert response["ConsumedCapacity"] == [{"TableName": "tasks", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}]


def test_item_collections_are_measured_where_there_is_a_local_index(call: Caller) -> None:
    local = {**TASKS["GlobalSecondaryIndexes"][0], "KeySchema": [*TASKS["KeySchema"][:1]]}
    local["KeySchema"].append({"AttributeName": "status", "KeyType": "RANGE"})
    table = {name: part for name, part in TASKS.items() if name != "GlobalSecondaryIndexes"}
    call("CreateTable", **{**table, "TableName": "local", "LocalSecondaryIndexes": [local]})
    for name, expected in (("local", {"ItemCollectionKey": {"user": {"S": "u"}}}), ("tasks", {})):
        response = call("PutItem", TableName=name, Item=KEY, ReturnItemCollectionMetrics="SIZE")
        metrics = response.get("ItemCollectionMetrics", {})
        assert {part: metrics[part] for part in metrics if part != "SizeEstimateRangeGB"} == expected
    other = {**KEY, "task": {"S": "another"}}
    batch = {name: [{"PutRequest": {"Item": each}} for each in (KEY, other)] for name in ("local", "tasks")}
    puts = [{"Put": {"TableName": name, "Item": each}} for name in ("local", "tasks") for each in (KEY, other)]
    for response in (
        call("BatchWriteItem", RequestItems=batch, ReturnItemCollectionMetrics="SIZE"),
        call("TransactWriteItems", TransactItems=puts, ReturnItemCollectionMetrics="SIZE"),
    ):
        (measured,) = response["ItemCollectionMetrics"]["local"]  # both items are in one collection
        assert measured["ItemCollectionKey"] == {"user": {"S": "u"}}
        assert "tasks" not in response["ItemCollectionMetrics"]


@pytest.mark.rule(25)
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


@pytest.mark.rule(3, 9)
@pytest.mark.parametrize(
    ("tagged", "message"),
    [
        ({}, "Supplied AttributeValue is empty"),
        ({"S": "a", "N": "1"}, "more than one datatypes set"),
        ({"NULL": False}, "Null attribute value types must have the value of true"),
        ({"SS": []}, "An string set  may not be empty"),
        ({"SS": ["a", "a"]}, r"Input collection \[\"a\", \"a\"\] contains duplicates"),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        *(
            ({"N": text}, "cannot be converted to a numeric value")
            for text in ("", " 1", "1 ", "1\n", "NaN", "Infinity", "1.2.3", "+e2", "1e", "0x1")
        ),
    ],
)
def test_a_value_that_breaks_a_rule_is_invalid(tagged: Any, message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        read_value(tagged)


@pytest.mark.rule(3, 11)
@pytest.mark.parametrize(
    "tagged",
    [{"N": 5}, {"S": 5}, {"B": "*"}, {"B": "AAA"}, {"B": "é"}, {"BS": ["é"]}, {"BOOL": "x"}, {"L": {}}, {"M": []}, 5],
)
def test_a_value_of_another_form_cannot_be_read(tagged: Any) -> None:
    with pytest.raises(SerializationFailed):
        read_value(tagged)


@pytest.mark.rule(3)
@pytest.mark.parametrize(
    ("text", "number"),
    [("+5", 5), (".5", 0.5), ("5.", 5), ("1.e5", 100_000), ("0001.50", 1.5), ("-0", 0), ("-7", -7)],
)
def test_a_number_may_be_written_in_many_ways(text: str, number: float) -> None:
    assert read_value({"N": text}) == number


@pytest.mark.rule(2)
@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("+0001.50", "1.5"),
        ("1e3", "1000"),
        ("5.00", "5"),
        ("-0", "0"),
        ("15E-1", "1.5"),
        ("1e-7", "0.0000001"),
        ("-1E2", "-100"),
    ],
)
def test_a_number_is_returned_in_canonical_form(call: Caller, text: str, canonical: str) -> None:
    call("PutItem", TableName="tasks", Item={**KEY, "n": {"N": text}, "set": {"NS": [text]}})
    item = call("GetItem", TableName="tasks", Key=KEY)["Item"]
    assert (item["n"], item["set"]) == ({"N": canonical}, {"NS": [canonical]})


@pytest.mark.rule(7)
def test_a_value_is_only_so_deep() -> None:
    value: Any = {"S": "x"}
    for _ in range(40):
        value = {"L": [value]}
    with pytest.raises(ValidationFailed, match="Nesting Levels"):
        read_value(value)


def test_a_batch_responds_by_the_name_that_it_was_given(call: Caller) -> None:
    arn = call("DescribeTable", TableName="tasks")["Table"]["TableArn"]
    call("BatchWriteItem", RequestItems={arn: [{"PutRequest": {"Item": task("u", "1")}}]})
    response = call("BatchGetItem", RequestItems={arn: {"Keys": [task("u", "1")]}})
    assert response["Responses"] == {arn: [task("u", "1")]}


@pytest.mark.rule(6)
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


@pytest.mark.rule(7)
def test_an_expression_is_measured_before_its_names_are_substituted(call: Caller) -> None:
    condition = {"ConditionExpression": "attribute_not_exists(#n)", "ExpressionAttributeNames": {"#n": "x" * 5_000}}
    assert call("PutItem", TableName="tasks", Item=KEY, **condition) == {}


NEVER = "attribute_not_exists(#user)"
USER = {"#user": "user"}


@pytest.mark.rule(15)
@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"ExpressionAttributeNames": {**USER, "#more": "n"}}, r"Names unused in expressions: keys: \{#more\}"),
        ({"ExpressionAttributeValues": {":more": {"S": "x"}}}, r"Values unused in expressions: keys: \{:more\}"),
        ({"ConditionExpression": f"{NEVER} AND #no = #user"}, "attribute name: #no"),
        ({"ConditionExpression": f"{NEVER} AND #user = :no"}, "attribute value: :no"),
    ],
    ids=["unused name", "unused value", "undefined name", "undefined value"],
)
def test_placeholders_are_checked_though_the_condition_is_false(call: Caller, condition: Json, message: str) -> None:
    call("PutItem", TableName="tasks", Item=KEY)
    given = {"ConditionExpression": NEVER, "ExpressionAttributeNames": USER, **condition}
    with pytest.raises(ValidationFailed, match=message):
        call("PutItem", TableName="tasks", Item=KEY, **given)


@pytest.mark.rule(37)
def test_a_placeholder_that_is_not_used_refuses_the_whole_transaction(call: Caller) -> None:
    names = {**USER, "#more": "n"}
    check = {"TableName": "tasks", "Key": KEY, "ConditionExpression": NEVER, "ExpressionAttributeNames": names}
    with pytest.raises(ValidationFailed, match=r"Names unused in expressions: keys: \{#more\}"):
        call("TransactWriteItems", TransactItems=[{"ConditionCheck": check}])


@pytest.mark.rule(22)
def test_a_wrong_choice_of_what_a_failure_carries_is_refused_before_the_condition_runs(call: Caller) -> None:
    call("PutItem", TableName="tasks", Item=KEY)
    condition = {"ConditionExpression": NEVER, "ExpressionAttributeNames": USER}
    with pytest.raises(ValidationFailed, match="'ALL_NEW' at 'returnValuesOnConditionCheckFailure'"):
        call("PutItem", TableName="tasks", Item=KEY, **condition, ReturnValuesOnConditionCheckFailure="ALL_NEW")


@pytest.mark.rule(27)
@pytest.mark.parametrize("kind", ["Global", "Local"])
def test_all_attributes_come_from_a_local_index_and_not_from_a_global_one(call: Caller, kind: str) -> None:
    projected = {**TASKS["GlobalSecondaryIndexes"][0], "Projection": {"ProjectionType": "KEYS_ONLY"}}
    if kind == "Local":
        projected["KeySchema"] = [TASKS["KeySchema"][0], {"AttributeName": "status", "KeyType": "RANGE"}]
    table = {name: part for name, part in TASKS.items() if name != "GlobalSecondaryIndexes"}
    call("CreateTable", **{**table, "TableName": "narrow", f"{kind}SecondaryIndexes": [projected]})
    call("PutItem", TableName="narrow", Item=task("u", "1", status="open", title="milk"))
    whole = {"TableName": "narrow", "IndexName": "by_status", "Select": "ALL_ATTRIBUTES"}
    if kind == "Local":
        assert call("Scan", **whole)["Items"] == [task("u", "1", status="open", title="milk")]
        return
    with pytest.raises(ValidationFailed, match="ALL_ATTRIBUTES is not supported for global secondary index"):
        call("Scan", **whole)
