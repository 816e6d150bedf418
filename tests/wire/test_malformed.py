"""Whatever stands in a request where something else belongs, the response is an error of the client's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.wire.support import TASKS, Caller, Json, task

from partita.errors import RequestError

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
    """The value with each part of it, in turn, replaced by each wrong thing, or left out."""
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
