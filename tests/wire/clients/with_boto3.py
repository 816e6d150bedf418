"""The low-level clients of boto3."""

from __future__ import annotations

from typing import Any

from tests.wire.clients.client import TABLE, USER, VIEW, Task, boto3_client, key, streamed


def tagged(task: Task) -> dict[str, Any]:
    """Return the task with the type tags of the protocol."""
    return {name: {"S": text} for name, text in task.items()}


def plain(item: dict[str, Any]) -> Task:
    """Return the task without the type tags of the protocol."""
    return {name: value["S"] for name, value in item.items()}


class Boto3:
    def __init__(self, url: str) -> None:
        self._url = url
        self._client = boto3_client("dynamodb", url)

    def create(self) -> None:
        self._client.create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("user", "task")],
            KeySchema=[{"AttributeName": "user", "KeyType": "HASH"}, {"AttributeName": "task", "KeyType": "RANGE"}],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": VIEW},
        )
        self._client.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 0})

    def put(self, task: Task) -> None:
        self._client.put_item(TableName=TABLE, Item=tagged(task))

    def get(self, number: str) -> Task | None:
        item = self._client.get_item(TableName=TABLE, Key=tagged(key(number)), ConsistentRead=True).get("Item")
        return None if item is None else plain(item)

    def rename(self, number: str, title: str) -> None:
        self._client.update_item(
            TableName=TABLE,
            Key=tagged(key(number)),
            UpdateExpression="SET title = :title",
            ExpressionAttributeValues={":title": {"S": title}},
        )

    def add_together(self, *tasks: Task) -> bool:
        condition = "attribute_not_exists(task)"
        puts = [{"TableName": TABLE, "Item": tagged(task), "ConditionExpression": condition} for task in tasks]
        try:
            self._client.transact_write_items(TransactItems=[{"Put": put} for put in puts])
        except self._client.exceptions.TransactionCanceledException:
            return False
        return True

    def put_batch(self, *tasks: Task) -> None:
        puts = [{"PutRequest": {"Item": tagged(task)}} for task in tasks]
        self._client.batch_write_item(RequestItems={TABLE: puts})

    def get_batch(self, *numbers: str) -> list[Task]:
        keys = [tagged(key(number)) for number in numbers]
        response = self._client.batch_get_item(RequestItems={TABLE: {"Keys": keys}})
        return [plain(item) for item in response["Responses"][TABLE]]

    def query(self) -> list[Task]:
        page = self._client.query(
            TableName=TABLE,
            KeyConditionExpression="#user = :user",
            ExpressionAttributeNames={"#user": "user"},
            ExpressionAttributeValues={":user": {"S": USER}},
        )
        return [plain(item) for item in page["Items"]]

    def changes(self) -> list[tuple[str, str]]:
        return streamed(self._url)

    def close(self) -> None:
        self._client.close()
