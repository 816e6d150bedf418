"""boto3 runs all operations of an application against a wire server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from tests.wire.support import TASKS, task


def connect(service: str, address: tuple[str, int], key: str = "local", secret: str = "secret") -> Any:
    return boto3.client(
        service,
        endpoint_url=f"http://{address[0]}:{address[1]}",
        region_name="us-east-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": 1}),
    )


@pytest.fixture
def client(address: tuple[str, int]) -> Iterator[Any]:
    client = connect("dynamodb", address)
    client.create_table(**TASKS)
    client.get_waiter("table_exists").wait(TableName="tasks", WaiterConfig={"Delay": 0})
    yield client
    client.close()


@pytest.mark.rule(2)
def test_an_item_comes_back_as_it_was_put(client: Any) -> None:
    item = {
        **task("u", "1", title="milk"),
        "n": {"N": "1.50"},
        "blob": {"B": b"\x00\xff"},
        "yes": {"BOOL": True},
        "nothing": {"NULL": True},
        "list": {"L": [{"S": "a"}, {"N": "1"}]},
        "map": {"M": {"x": {"S": "y"}}},
        "words": {"SS": ["a", "b"]},
    }
    client.put_item(TableName="tasks", Item=item)
    found = client.get_item(TableName="tasks", Key=task("u", "1"), ConsistentRead=True)
    assert {**item, "n": {"N": "1.5"}} == found["Item"]


@pytest.mark.rule(25)
def test_a_query_pages_through_an_index(client: Any) -> None:
    for number in range(5):
        client.put_item(TableName="tasks", Item=task("u", str(number), status="open"))
    pages = client.get_paginator("query").paginate(
        TableName="tasks",
        IndexName="by_status",
        KeyConditionExpression="#s = :open",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":open": {"S": "open"}},
        PaginationConfig={"PageSize": 2},
    )
    assert [[item["task"]["S"] for item in page["Items"]] for page in pages] == [["0", "1"], ["2", "3"], ["4"]]


@pytest.mark.rule(22)
def test_an_update_with_a_condition_that_fails_carries_the_item(client: Any) -> None:
    client.put_item(TableName="tasks", Item=task("u", "1", status="done"))
    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as failure:
        client.update_item(
            TableName="tasks",
            Key=task("u", "1"),
            UpdateExpression="SET #s = :new",
            ConditionExpression="#s = :old",
            ExpressionAttributeNames={"#s": "status"},
            ExpressionAttributeValues={":new": {"S": "open"}, ":old": {"S": "open"}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert task("u", "1", status="done") == failure.value.response["Item"]


@pytest.mark.rule(34)
def test_a_failed_condition_reports_no_capacity(client: Any) -> None:
    write = {"TableName": "tasks", "Item": task("u", "1"), "ReturnConsumedCapacity": "TOTAL"}
    assert "ConsumedCapacity" in client.put_item(**write)
    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as failure:
        client.put_item(**write, ConditionExpression="attribute_not_exists(task)")
    assert "ConsumedCapacity" not in failure.value.response


@pytest.mark.rule(36)
def test_a_transaction_is_all_or_nothing_and_says_which_action_failed(client: Any) -> None:
    put = {"TableName": "tasks", "Item": task("u", "1")}
    check = {"TableName": "tasks", "Key": task("u", "2"), "ConditionExpression": "attribute_exists(task)"}
    with pytest.raises(client.exceptions.TransactionCanceledException) as failure:
        client.transact_write_items(TransactItems=[{"Put": put}, {"ConditionCheck": check}])
    codes = [reason["Code"] for reason in failure.value.response["CancellationReasons"]]
    assert codes == ["None", "ConditionalCheckFailed"]
    assert "Item" not in client.get_item(TableName="tasks", Key=task("u", "1"))


def test_batches_write_and_read(client: Any) -> None:
    writes = [{"PutRequest": {"Item": task("u", str(number))}} for number in range(3)]
    assert client.batch_write_item(RequestItems={"tasks": writes})["UnprocessedItems"] == {}
    keys = [task("u", "0"), task("u", "2"), task("u", "9")]
    found = client.batch_get_item(RequestItems={"tasks": {"Keys": keys}})
    assert [task("u", "0"), task("u", "2")] == found["Responses"]["tasks"]


@pytest.mark.rule(41)
def test_the_stream_has_every_change(client: Any, address: tuple[str, int]) -> None:
    client.put_item(TableName="tasks", Item=task("u", "1", status="open"))
    client.put_item(TableName="tasks", Item=task("u", "1", status="done"))
    client.delete_item(TableName="tasks", Key=task("u", "1"))
    streams = connect("dynamodbstreams", address)
    arn = streams.list_streams(TableName="tasks")["Streams"][0]["StreamArn"]
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    place = {"StreamArn": arn, "ShardId": shard}
    start = streams.get_shard_iterator(**place, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    records = streams.get_records(ShardIterator=start)["Records"]
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
    assert task("u", "1", status="open") == records[1]["dynamodb"]["OldImage"]
    second = records[1]["dynamodb"]["SequenceNumber"]
    after = streams.get_shard_iterator(**place, ShardIteratorType="AFTER_SEQUENCE_NUMBER", SequenceNumber=second)
    rest = streams.get_records(ShardIterator=after["ShardIterator"])["Records"]
    assert [record["eventName"] for record in rest] == ["REMOVE"]
    streams.close()


def test_a_table_that_is_not_there_is_named(client: Any) -> None:
    with pytest.raises(client.exceptions.ResourceNotFoundException) as failure:
        client.describe_table(TableName="nothing")
    assert failure.value.response["Error"]["Message"] == "Requested resource not found: Table: nothing not found"


def test_an_invalid_request_is_a_validation_exception(client: Any) -> None:
    with pytest.raises(ClientError) as failure:
        client.get_item(TableName="tasks", Key={"user": {"S": "u"}})
    expected = {"Code": "ValidationException", "Message": "The provided key element does not match the schema"}
    assert expected == failure.value.response["Error"]
