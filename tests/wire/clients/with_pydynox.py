"""pydynox; boto3 enables and reads the stream, because pydynox cannot."""

from __future__ import annotations

from typing import Any

from pydynox import DynamoDBClient
from pydynox.exceptions import TransactionCanceledException
from tests.wire.clients.client import KEY, REGION, SECRET, TABLE, USER, VIEW, Task, boto3_client, key, streamed


class Pydynox:
    def __init__(self, url: str) -> None:
        self._url = url
        self._client = DynamoDBClient(region=REGION, access_key=KEY, secret_key=SECRET, endpoint_url=url)

    def create(self) -> None:
        self._client.sync_create_table(TABLE, ("user", "S"), ("task", "S"), wait=True)
        client = boto3_client("dynamodb", self._url)
        client.update_table(TableName=TABLE, StreamSpecification={"StreamEnabled": True, "StreamViewType": VIEW})
        client.close()

    def put(self, task: Task) -> None:
        self._client.sync_put_item(TABLE, task)

    def get(self, number: str) -> Task | None:
        return self._client.sync_get_item(TABLE, key(number), consistent_read=True)

    def rename(self, number: str, title: str) -> None:
        self._client.sync_update_item(TABLE, key(number), {"title": title})

    def add_together(self, *tasks: Task) -> bool:
        condition = {"condition_expression": "attribute_not_exists(#t)", "expression_attribute_names": {"#t": "task"}}
        puts: list[dict[str, Any]] = [{"type": "put", "table": TABLE, "item": task, **condition} for task in tasks]
        try:
            self._client.sync_transact_write(puts)
        except TransactionCanceledException:
            return False
        return True

    def put_batch(self, *tasks: Task) -> None:
        self._client.sync_batch_write(TABLE, list(tasks))

    def get_batch(self, *numbers: str) -> list[Task]:
        return self._client.sync_batch_get(TABLE, [key(number) for number in numbers])

    def query(self) -> list[Task]:
        names, values = {"#user": "user"}, {":user": USER}
        found = self._client.sync_query(
            TABLE, "#user = :user", expression_attribute_names=names, expression_attribute_values=values
        )
        return list(found)

    def changes(self) -> list[tuple[str, str]]:
        return streamed(self._url)

    def close(self) -> None:
        """Do nothing: pydynox manages its connections itself."""
