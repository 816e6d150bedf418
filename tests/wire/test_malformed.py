"""A request with a wrong value in any position is executed, or refused with a client error."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from tests.wire.support import TASKS, Caller, Json, task

from partita.errors import RequestError, SerializationFailed, ValidationFailed

WRONG: list[Any] = [None, 5, -1, "x", "", True, [], {}, [None], [5], {"x": 5}, {"x": {}}, [[]], 1.5]
KEY = task("u", "1")
STATEMENT = {"Statement": "SELECT * FROM tasks WHERE \"user\" = ? AND task = '1'", "Parameters": [{"S": "u"}]}
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tasks"
CREATE = {"IndexName": "added", "KeySchema": TASKS["KeySchema"][:1], "Projection": {"ProjectionType": "ALL"}}
WRITE = {
    "TableName": "tasks",
    "ConditionExpression": "#a = :b",
    "ExpressionAttributeNames": {"#a": "n"},
    "ExpressionAttributeValues": {":b": {"N": "1"}},
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}
RULE = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "u"}]}
CALLS: list[tuple[str, Json]] = [
    ("GetItem", {"TableName": "tasks", "Key": KEY, "ProjectionExpression": "n", "ConsistentRead": True}),
    ("GetItem", {"TableName": "tasks", "Key": KEY, "AttributesToGet": ["n"], "ReturnConsumedCapacity": "INDEXES"}),
    ("PutItem", {**WRITE, "Item": {**KEY, "all": {"L": [{"M": {"x": {"NS": ["1"]}}}, {"B": "AA=="}]}}}),
    ("PutItem", {"TableName": "tasks", "Item": KEY, "Expected": {"n": {"Value": {"S": "x"}, "Exists": True}}}),
    (
        "UpdateItem",
        {"TableName": "tasks", "Key": KEY, "AttributeUpdates": {"n": {"Action": "ADD", "Value": {"N": "1"}}}},
    ),
    ("DeleteItem", {**WRITE, "Key": KEY, "ReturnItemCollectionMetrics": "SIZE", "ReturnValues": "ALL_OLD"}),
    ("Query", {"TableName": "tasks", "KeyConditions": {"user": RULE}, "QueryFilter": {"n": RULE}, "Limit": 1}),
    ("Query", {"TableName": "tasks", "KeyConditions": {"user": RULE}, "ExclusiveStartKey": KEY, "Select": "COUNT"}),
    (
        "Scan",
        {"TableName": "tasks", "IndexName": "by_status", "Segment": 0, "TotalSegments": 2, "ScanFilter": {"n": RULE}},
    ),
    ("BatchGetItem", {"RequestItems": {"tasks": {"Keys": [KEY], "ProjectionExpression": "n"}}}),
    ("BatchWriteItem", {"RequestItems": {"tasks": [{"PutRequest": {"Item": KEY}}]}}),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "tasks", "Key": KEY}}]}),
    ("TransactWriteItems", {"TransactItems": [{"Put": {**WRITE, "Item": KEY}}], "ClientRequestToken": "t"}),
    ("TransactWriteItems", {"TransactItems": [{"ConditionCheck": {**WRITE, "Key": KEY}}]}),
    ("ExecuteStatement", STATEMENT),
    ("BatchExecuteStatement", {"Statements": [STATEMENT]}),
    ("ExecuteTransaction", {"TransactStatements": [STATEMENT]}),
    ("CreateTable", {**TASKS, "TableName": "other", "Tags": [{"Key": "a", "Value": "b"}]}),
    ("CreateTable", {**TASKS, "TableName": "other", "BillingMode": "PROVISIONED"}),
    ("UpdateTable", {"TableName": "tasks", "GlobalSecondaryIndexUpdates": [{"Create": CREATE}]}),
    ("UpdateTable", {"TableName": "tasks", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "no-such"}}]}),
    (
        "UpdateTable",
        {"TableName": "tasks", "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}},
    ),
    ("UpdateTimeToLive", {"TableName": "tasks", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}),
    ("ListTables", {"Limit": 1, "ExclusiveStartTableName": "a"}),
    ("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": "a", "Value": "b"}]}),
    ("UntagResource", {"ResourceArn": ARN, "TagKeys": ["a"]}),
    ("ListTagsOfResource", {"ResourceArn": ARN}),
    ("ListStreams", {"TableName": "tasks", "Limit": 1, "ExclusiveStartStreamArn": "a"}),
    ("DescribeStream", {"StreamArn": f"{ARN}/stream/x-1", "Limit": 1}),
    ("GetShardIterator", {"StreamArn": f"{ARN}/stream/x-1", "ShardId": "x", "ShardIteratorType": "LATEST"}),
    ("GetRecords", {"ShardIterator": "AAAA", "Limit": 1}),
]


def mutations(value: Any) -> Iterator[Any]:
    """Yield the value with one part at a time replaced by each wrong value, or omitted."""
    yield from WRONG
    if isinstance(value, dict):
        for name, part in value.items():
            yield {other: kept for other, kept in value.items() if other != name}
            for wrong in mutations(part):
                yield {**value, name: wrong}
    elif isinstance(value, list):
        for place, part in enumerate(value):
            for wrong in mutations(part):
                yield [*value[:place], wrong, *value[place + 1 :]]


@pytest.mark.parametrize(("operation", "parameters"), CALLS, ids=[f"{name}-{n}" for n, (name, _) in enumerate(CALLS)])
def test_a_malformed_request_is_refused_or_executed(call: Caller, operation: str, parameters: Json) -> None:
    for wrong in mutations(parameters):
        if isinstance(wrong, dict):
            with suppress(RequestError):
                call(operation, **wrong)
            with suppress(RequestError):
                call("DeleteTable", TableName="other")


WHOLE: list[tuple[str, Json, str]] = [
    ("Query", {"TableName": "tasks", "KeyConditions": {"user": RULE}}, "Limit"),
    ("Scan", {"TableName": "tasks"}, "Limit"),
    ("Scan", {"TableName": "tasks", "TotalSegments": 2}, "Segment"),
    ("Scan", {"TableName": "tasks", "Segment": 0}, "TotalSegments"),
    ("ExecuteStatement", {"Statement": "SELECT * FROM tasks"}, "Limit"),
    ("ListTables", {}, "Limit"),
    ("ListStreams", {}, "Limit"),
    ("GetRecords", {"ShardIterator": "AAAA"}, "Limit"),
]


@pytest.mark.parametrize("number", [1e308, -1e308, 1.5, 2**31, 2**63, pytest.param(10**400, id="10**400")])
@pytest.mark.parametrize(("operation", "parameters", "name"), WHOLE, ids=[f"{each[0]}-{each[2]}" for each in WHOLE])
def test_a_number_that_is_not_whole_or_has_no_end_is_refused(
    call: Caller, operation: str, parameters: Json, name: str, number: float
) -> None:
    with pytest.raises(ValidationFailed, match=f"at '{name[0].lower()}{name[1:]}' failed to satisfy constraint"):
        call(operation, **parameters, **{name: number})


@pytest.mark.parametrize("number", [1e308, 1.5, 2**63])
def test_units_are_whole_numbers_too(call: Caller, number: float) -> None:
    units = {"ReadCapacityUnits": number, "WriteCapacityUnits": 1}
    with pytest.raises(ValidationFailed, match="at 'readCapacityUnits' failed to satisfy constraint"):
        call("UpdateTable", TableName="tasks", BillingMode="PROVISIONED", ProvisionedThroughput=units)


def stream_of(call: Caller) -> tuple[str, str]:
    """Return the ARN of the stream, and the id of its shard."""
    arn = call("ListStreams")["Streams"][0]["StreamArn"]
    return arn, call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]


@pytest.mark.parametrize("digits", [30, 5_000])
def test_a_number_in_a_text_has_a_bound(call: Caller, digits: int) -> None:
    arn, shard = stream_of(call)
    many = "9" * digits
    place = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "AFTER_SEQUENCE_NUMBER"}
    with pytest.raises(ValidationFailed, match="Invalid SequenceNumber"):
        call("GetShardIterator", **place, SequenceNumber=many)
    with pytest.raises(RequestError, match="not found"):
        call("DescribeStream", StreamArn=f"{arn.rpartition('-')[0]}-{many}")


@pytest.mark.req("X04")
@pytest.mark.parametrize("text", ["{}x", "{}.x", "1.{}x", ".{}x", "1e{}x", "-{0}.{0}e{0}x"])
def test_a_text_that_is_almost_a_number_is_refused_in_linear_time(call: Caller, text: str) -> None:
    many = text.format("1" * 1_000_000)  # if the work grew with the square of this, it would take days
    with pytest.raises(ValidationFailed, match="cannot be converted to a numeric value"):
        call("PutItem", TableName="tasks", Item={**KEY, "n": {"N": many}})


def test_an_index_of_a_path_has_a_bound(call: Caller) -> None:
    statement = "SELECT a[0] FROM tasks".replace("0", "9" * 5_000)
    with pytest.raises(ValidationFailed, match="Unexpected path component at 1:10:5000"):
        call("ExecuteStatement", Statement=statement)


@pytest.mark.parametrize("changes", [{"after": 2**64 - 1}, {"after": -1}, {"shard": f"shardId-{'9' * 30}"}], ids=str)
def test_a_forged_iterator_is_refused(call: Caller, changes: dict[str, Any]) -> None:
    _, shard = stream_of(call)
    forged = {"table": "tasks", "stream": "s", "view": "KEYS_ONLY", "shard": shard, "after": 0, "at": call.now}
    token = base64.urlsafe_b64encode(msgspec.msgpack.encode(list({**forged, **changes}.values()))).decode()
    with pytest.raises(RequestError):
        call("GetRecords", ShardIterator=token)


@pytest.mark.req("X04")
def test_a_hundred_thousand_attributes_take_linear_time(call: Caller) -> None:
    names = [f"a{number}" for number in range(100_000)]  # a time that grew with their square would be minutes
    call("PutItem", TableName="tasks", Item={**KEY, "a1": {"S": "x"}})
    found = call("GetItem", TableName="tasks", Key=KEY, AttributesToGet=names)
    assert found["Item"] == {"a1": {"S": "x"}}
    with pytest.raises(ValidationFailed, match="Item size to update has exceeded"):
        call("UpdateItem", TableName="tasks", Key=KEY, AttributeUpdates={key: {"Value": {"S": ""}} for key in names})


@pytest.mark.req("X04")
def test_numbers_with_the_same_hash_take_linear_time(call: Caller) -> None:
    alike = [str(number * sys.hash_info.modulus) for number in range(1, 200_001)]  # their square would take minutes
    with pytest.raises(ValidationFailed, match="have the same hash"):
        call("PutItem", TableName="tasks", Item={**KEY, "n": {"NS": alike}})
    call("PutItem", TableName="tasks", Item={**KEY, "n": {"NS": alike[:1_000]}})
    add = {"UpdateExpression": "ADD n :more", "ExpressionAttributeValues": {":more": {"NS": alike[1_000:2_000]}}}
    with pytest.raises(ValidationFailed, match="have the same hash"):
        call("UpdateItem", TableName="tasks", Key=KEY, **add)
    call("PutItem", TableName="tasks", Item={**KEY, "n": {"NS": [str(number) for number in range(30_000)]}})
    with pytest.raises(ValidationFailed, match="duplicates"):
        call("PutItem", TableName="tasks", Item={**KEY, "n": {"NS": ["1", "1.0"] * 1_000}})


@pytest.mark.req("X04")
def test_a_policy_or_a_token_that_is_nested_too_deeply_is_refused(call: Caller) -> None:
    policy = {"ResourceArn": ARN, "Policy": "[" * 20_000}
    with pytest.raises(ValidationFailed, match="invalid Json"):
        call("PutResourcePolicy", **policy)
    token = base64.b64encode(b'["", 0, ' + b"[" * 20_000).decode()
    with pytest.raises(ValidationFailed, match="Invalid NextToken"):
        call("ExecuteStatement", Statement='SELECT * FROM "tasks"', NextToken=token)


@pytest.mark.parametrize(
    ("given", "kind"),
    [(True, "TRUE_VALUE"), (False, "FALSE_VALUE"), (1, "NUMBER_VALUE"), (1.5, "DECIMAL_VALUE")],
)
def test_a_wrong_json_type_is_named(call: Caller, given: Any, kind: str) -> None:
    with pytest.raises(SerializationFailed, match=f"^{kind} cannot be converted to String$"):
        call("GetItem", TableName=given)
    with pytest.raises(SerializationFailed, match=f"^{kind} cannot be converted to String$"):
        call("PutItem", TableName="tasks", Item={"user": {"S": given}})


ENDS = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"
ENUM, NULL = "Member must satisfy enum value set", "Member must not be null"
SHORT = "Member must have length greater than or equal to"
READ: Json = {"Statement": "SELECT * FROM tasks"}
BARE: Json = {**READ, "Parameters": []}
PLACES: list[tuple[str, Json, str, str]] = [
    ("Scan", {"ScanFilter": {"n": {"ComparisonOperator": "LIKE"}}}, "scanFilter.n.member.comparisonOperator", ENUM),
    ("Query", {"KeyConditions": {"user": {}}}, "keyConditions.user.member.comparisonOperator", NULL),
    (
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "tasks", "Item": {}, "ReturnValuesOnConditionCheckFailure": "NEW"}}]},
        "transactItems.1.member.put.returnValuesOnConditionCheckFailure",
        ENUM,
    ),
    (
        "TransactGetItems",
        {"TransactItems": [{"Get": {"TableName": "tasks"}}]},
        "transactItems.1.member.get.key",
        NULL,
    ),
    (
        "UpdateKinesisStreamingDestination",
        {
            "StreamArn": ENDS,
            "UpdateKinesisStreamingConfiguration": {"ApproximateCreationDateTimePrecision": "SECOND"},
        },
        "updateKinesisStreamingConfiguration.approximateCreationDateTimePrecision",
        ENUM,
    ),
    ("ExecuteStatement", BARE, "parameters", f"{SHORT} 1"),
    (
        "BatchExecuteStatement",
        {"Statements": [READ, BARE]},
        "statements.2.member.parameters",
        SHORT,
    ),
    (
        "ExecuteTransaction",
        {"TransactStatements": [BARE]},
        "transactStatements.1.member.parameters",
        f"{SHORT} 1",
    ),
    (
        "ExecuteTransaction",
        {"TransactStatements": [READ], "ClientRequestToken": ""},
        "clientRequestToken",
        f"{SHORT} 1",
    ),
    ("UpdateContributorInsights", {"ContributorInsightsAction": "ENABLE", "IndexName": ""}, "indexName", f"{SHORT} 3"),
]


@pytest.mark.rule(45)
@pytest.mark.parametrize(("operation", "parameters", "place", "rule"), PLACES, ids=[place for _, _, place, _ in PLACES])
def test_a_violated_constraint_is_named_with_its_place(
    call: Caller, operation: str, parameters: Json, place: str, rule: str
) -> None:
    message = f"^1 validation error detected: Value .* ?at '{place}' failed to satisfy constraint: {rule}"
    with pytest.raises(ValidationFailed, match=message):
        call(operation, TableName="tasks", **parameters)
