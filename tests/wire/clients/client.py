"""The operations that the tests run with every client library, and functions that read a stream."""

from __future__ import annotations

from typing import Any, Final, Protocol

import boto3
from botocore.config import Config

REGION: Final = "us-east-1"
KEY: Final = "local"
SECRET: Final = "secret"
TABLE: Final = "tasks"
USER: Final = "ada"
VIEW: Final = "NEW_AND_OLD_IMAGES"

Task = dict[str, str]


def task(number: str, title: str) -> Task:
    """Return a task of the user."""
    return {**key(number), "title": title}


def key(number: str) -> Task:
    """Return the key of a task."""
    return {"user": USER, "task": number}


class Client(Protocol):
    """A client library, with the operations that the test needs."""

    def create(self) -> None:
        """Create the table, with a stream."""

    def put(self, task: Task) -> None:
        """Write a task."""

    def get(self, number: str) -> Task | None:
        """Read a task."""

    def rename(self, number: str, title: str) -> None:
        """Update a task."""

    def add_together(self, *tasks: Task) -> bool:
        """Write tasks in one transaction; False if one of them is there already."""

    def put_batch(self, *tasks: Task) -> None:
        """Write tasks in one batch."""

    def get_batch(self, *numbers: str) -> list[Task]:
        """Read tasks in one batch."""

    def query(self) -> list[Task]:
        """Read all tasks of the user."""

    def changes(self) -> list[tuple[str, str]]:
        """Return the event name and the task of each stream record."""

    def close(self) -> None:
        """Close the connections."""


def boto3_client(service: str, url: str) -> Any:
    """Return a low-level client of boto3."""
    return boto3.client(
        service,
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        config=Config(retries={"total_max_attempts": 1}),
    )


def streamed(url: str) -> list[tuple[str, str]]:
    """Read the stream with boto3, for clients that cannot read streams."""
    client = boto3_client("dynamodbstreams", url)
    arn = client.list_streams(TableName=TABLE)["Streams"][0]["StreamArn"]
    shard = client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    start = client.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    records = client.get_records(ShardIterator=start["ShardIterator"])["Records"]
    client.close()
    return events(records)


def events(records: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the event name and the task of each record."""
    return [(record["eventName"], record["dynamodb"]["Keys"]["task"]["S"]) for record in records]
