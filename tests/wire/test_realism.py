"""A server with realism switched on (conflicts, throttling, delays, stale reads), used by boto3 and our own client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.wire.support import TASKS, serving, task
from tests.wire.test_boto3 import connect

from partita import EmbeddedStore
from partita.store import DescribeTable, GetItem, PutItem, TransactWriteItems
from partita.store.remote import Credentials, RemoteStore
from partita.store.remote._store import Outside
from partita.testing import FakeClock, Realism, RealisticStore, UnitLimits

ITEM = {"user": "u", "task": "1"}


@contextmanager
def served(clock: FakeClock, **switches: Any) -> Iterator[tuple[Any, RealisticStore, str]]:
    """Yield a client of a server on a store with these switches, the store, and the URL."""
    inner = EmbeddedStore(":memory:", clock=clock)
    store = RealisticStore(inner, Realism(**switches), clock=clock, sleep=clock.advance)
    with serving(store) as address:
        client = connect("dynamodb", address)
        client.create_table(**TASKS)
        yield client, store, f"http://{address[0]}:{address[1]}"
        client.close()
    store.close()


def code(failure: pytest.ExceptionInfo[ClientError]) -> str:
    return str(failure.value.response["Error"]["Code"])


@pytest.mark.rule(39)
def test_a_conflict_is_an_exception_and_a_reason(fake_clock: FakeClock) -> None:
    running = TransactWriteItems((PutItem("tasks", ITEM),), token="t")
    put = {"Put": {"TableName": "tasks", "Item": task("u", "1")}}
    with served(fake_clock) as (client, store, _), store.transaction(running):
        with pytest.raises(ClientError) as failure:
            client.put_item(TableName="tasks", Item=task("u", "1"))
        assert code(failure) == "TransactionConflictException"
        with pytest.raises(ClientError) as failure:
            client.transact_write_items(TransactItems=[put])
        assert code(failure) == "TransactionCanceledException"
        assert [each["Code"] for each in failure.value.response["CancellationReasons"]] == ["TransactionConflict"]
        with pytest.raises(ClientError) as failure:
            client.transact_write_items(TransactItems=[put], ClientRequestToken="t")
        assert code(failure) == "TransactionInProgressException"
        left = client.batch_write_item(RequestItems={"tasks": [{"PutRequest": {"Item": task("u", "1")}}]})
        assert left["UnprocessedItems"] == {"tasks": [{"PutRequest": {"Item": task("u", "1")}}]}


@pytest.mark.rule(39)
def test_our_own_client_tries_again(fake_clock: FakeClock) -> None:
    running = TransactWriteItems((PutItem("tasks", ITEM),))
    with served(fake_clock) as (_, store, url):
        for request in (PutItem("tasks", {**ITEM, "n": 1}), TransactWriteItems((PutItem("tasks", {**ITEM, "n": 2}),))):
            with ExitStack() as holding:
                holding.enter_context(store.transaction(running))
                outside = Outside(sleep=lambda _, holding=holding: holding.close())  # type: ignore[misc]
                with RemoteStore(url, credentials=Credentials("a", "b"), outside=outside) as remote:
                    remote.execute(request)
        assert store.execute(GetItem("tasks", ITEM)).item == {**ITEM, "n": 2}


def test_a_table_is_being_created_for_a_while(fake_clock: FakeClock) -> None:
    with served(fake_clock, table_seconds=5) as (client, store, _):
        table = client.describe_table(TableName="tasks")["Table"]
        assert (table["TableStatus"], table["GlobalSecondaryIndexes"][0]["IndexStatus"]) == ("CREATING", "CREATING")
        with pytest.raises(ClientError) as failure:
            client.put_item(TableName="tasks", Item=task("u", "1"))
        assert code(failure) == "ResourceNotFoundException"
        with pytest.raises(ClientError) as failure:
            client.delete_table(TableName="tasks")
        assert code(failure) == "ResourceInUseException"
        fake_clock.advance(5)
        client.put_item(TableName="tasks", Item=task("u", "1"))
        assert client.describe_table(TableName="tasks")["Table"]["TableStatus"] == "ACTIVE"
        assert store.execute(DescribeTable("tasks")).status == "ACTIVE"


def test_what_the_server_keeps_for_itself_is_neither_late_nor_throttled(fake_clock: FakeClock) -> None:
    switches = {"table_seconds": 5, "stale_seconds": 5, "table_limits": UnitLimits(1, 1)}
    with served(fake_clock, **switches) as (client, _, _):
        keys = {name: TASKS[name] for name in ("KeySchema", "AttributeDefinitions")}
        keys["AttributeDefinitions"] = keys["AttributeDefinitions"][:2]
        units = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 3}
        for name in ("one", "two"):
            client.create_table(TableName=name, ProvisionedThroughput=units, **keys)
            found = client.describe_table(TableName=name)["Table"]["ProvisionedThroughput"]
            assert (found["ReadCapacityUnits"], found["WriteCapacityUnits"]) == (3, 3)


def test_a_table_is_throttled(fake_clock: FakeClock) -> None:
    with served(fake_clock, table_limits=UnitLimits(1, 1)) as (client, _, _):
        client.put_item(TableName="tasks", Item=task("u", "1"))
        with pytest.raises(ClientError) as failure:
            client.put_item(TableName="tasks", Item=task("u", "2"))
        assert code(failure) == "ProvisionedThroughputExceededException"


def test_parts_of_batches_are_left_unprocessed(fake_clock: FakeClock) -> None:
    with served(fake_clock, unprocessed=1.0) as (client, _, _):
        puts = [{"PutRequest": {"Item": task("u", str(number))}} for number in range(3)]
        response = client.batch_write_item(RequestItems={"tasks": [*puts, {"DeleteRequest": {"Key": task("v", "1")}}]})
        assert response["UnprocessedItems"] == {"tasks": [*puts, {"DeleteRequest": {"Key": task("v", "1")}}]}
        keys = [task("u", str(number)) for number in range(3)]
        response = client.batch_get_item(RequestItems={"tasks": {"Keys": keys}})
        assert (response["Responses"], response["UnprocessedKeys"]) == ({"tasks": []}, {"tasks": {"Keys": keys}})


def test_an_index_is_behind_and_a_read_is_stale(fake_clock: FakeClock) -> None:
    status = {
        "TableName": "tasks",
        "IndexName": "by_status",
        "KeyConditionExpression": "#s = :s",
        "ExpressionAttributeNames": {"#s": "status"},
        "ExpressionAttributeValues": {":s": {"S": "open"}},
    }
    with served(fake_clock, index_seconds=5, stale_seconds=2) as (client, _, _):
        client.put_item(TableName="tasks", Item=task("u", "1", status="open"))
        assert client.query(**status)["Count"] == 0
        assert "Item" not in client.get_item(TableName="tasks", Key=task("u", "1"))
        assert "Item" in client.get_item(TableName="tasks", Key=task("u", "1"), ConsistentRead=True)
        fake_clock.advance(5)
        assert client.query(**status)["Count"] == 1
