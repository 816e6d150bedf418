"""The AWS CLI; its commands run in this process, which saves the time to start one for each."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

from awscli.clidriver import create_clidriver
from tests.wire.clients.client import REGION, TABLE, USER, VIEW, Task, events, key
from tests.wire.clients.with_boto3 import plain, tagged


class AwsCli:
    def __init__(self, url: str) -> None:
        self._fixed = ["--endpoint-url", url, "--region", REGION, "--output", "json"]
        self._driver = create_clidriver()

    def create(self) -> None:
        self._dynamodb(
            "create-table",
            "--table-name", TABLE,
            "--billing-mode", "PAY_PER_REQUEST",
            "--attribute-definitions", "AttributeName=user,AttributeType=S", "AttributeName=task,AttributeType=S",
            "--key-schema", "AttributeName=user,KeyType=HASH", "AttributeName=task,KeyType=RANGE",
            "--stream-specification", f"StreamEnabled=true,StreamViewType={VIEW}",
        )  # fmt: skip
        self._dynamodb("wait", "table-exists", "--table-name", TABLE)

    def put(self, task: Task) -> None:
        self._dynamodb("put-item", "--table-name", TABLE, "--item", json.dumps(tagged(task)))

    def get(self, number: str) -> Task | None:
        response = self._dynamodb("get-item", "--table-name", TABLE, "--key", json.dumps(tagged(key(number))))
        return plain(response["Item"]) if "Item" in response else None

    def rename(self, number: str, title: str) -> None:
        self._dynamodb(
            "update-item",
            "--table-name", TABLE,
            "--key", json.dumps(tagged(key(number))),
            "--update-expression", "SET title = :title",
            "--expression-attribute-values", json.dumps({":title": {"S": title}}),
        )  # fmt: skip

    def add_together(self, *tasks: Task) -> bool:
        condition = "attribute_not_exists(task)"
        puts = [{"TableName": TABLE, "Item": tagged(task), "ConditionExpression": condition} for task in tasks]
        actions = json.dumps([{"Put": put} for put in puts])
        try:
            self._dynamodb("transact-write-items", "--transact-items", actions)
        except CommandFailed as failure:
            assert "(TransactionCanceledException)" in str(failure)  # noqa: PT017 - the failure is an expected outcome
            return False
        return True

    def put_batch(self, *tasks: Task) -> None:
        puts = [{"PutRequest": {"Item": tagged(task)}} for task in tasks]
        self._dynamodb("batch-write-item", "--request-items", json.dumps({TABLE: puts}))

    def get_batch(self, *numbers: str) -> list[Task]:
        keys = [tagged(key(number)) for number in numbers]
        response = self._dynamodb("batch-get-item", "--request-items", json.dumps({TABLE: {"Keys": keys}}))
        return [plain(item) for item in response["Responses"][TABLE]]

    def query(self) -> list[Task]:
        response = self._dynamodb(
            "query",
            "--table-name", TABLE,
            "--key-condition-expression", "#user = :user",
            "--expression-attribute-names", json.dumps({"#user": "user"}),
            "--expression-attribute-values", json.dumps({":user": {"S": USER}}),
        )  # fmt: skip
        return [plain(item) for item in response["Items"]]

    def changes(self) -> list[tuple[str, str]]:
        arn = self._streams("list-streams", "--table-name", TABLE)["Streams"][0]["StreamArn"]
        shards = self._streams("describe-stream", "--stream-arn", arn)["StreamDescription"]["Shards"]
        place = ("--stream-arn", arn, "--shard-id", shards[0]["ShardId"], "--shard-iterator-type", "TRIM_HORIZON")
        start = self._streams("get-shard-iterator", *place)["ShardIterator"]
        return events(self._streams("get-records", "--shard-iterator", start)["Records"])

    def close(self) -> None:
        """Do nothing: each command closes its own connections."""

    def _dynamodb(self, *arguments: str) -> Any:
        return self._run("dynamodb", *arguments)

    def _streams(self, *arguments: str) -> Any:
        return self._run("dynamodbstreams", *arguments)

    def _run(self, *arguments: str) -> Any:
        out, errors = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(errors):
            status = self._driver.main([*arguments, *self._fixed])
        if status != 0:
            raise CommandFailed(errors.getvalue())
        return json.loads(out.getvalue() or "{}")


class CommandFailed(Exception):
    """A command ended with a status other than 0."""
