"""`partita dynamodb` in two processes: every connection sees the same database, whichever process it is with."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run
from tests.cli.processes.servers import Client, Command, one_for_each
from tests.cli.waiting import DEADLINE, soon

pytestmark = [
    pytest.mark.req("X21"),
    pytest.mark.skipif(sys.platform != "linux", reason="/proc says who has which connection"),
    pytest.mark.xdist_group("processes"),
]

TABLE: dict[str, Any] = {
    "TableName": "things",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


class Db:
    """Calls DynamoDB's operations on one connection."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def __call__(self, operation: str, *, streams: bool = False, region: str = "us-east-1", **parameters: Any) -> Any:
        prefix = "DynamoDBStreams_20120810" if streams else "DynamoDB_20120810"
        scope = f"Credential=k/20260101/{region}/dynamodb/aws4_request"
        more = (
            f"X-Amz-Target: {prefix}.{operation}\r\n"
            f"Authorization: AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0\r\n"
        )
        return self.client.json("POST", "/", parameters, more)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    folder = tmp_path_factory.mktemp("wire") / "data"
    with Command(folder, "dynamodb", "--sweep-every", "0.2", "--regions") as command, Client(command.address) as client:
        Db(client)("CreateTable", **TABLE)
        Db(client)("UpdateTimeToLive", **ENDING)
        Db(client)("CreateTable", region="eu-west-1", **TABLE)
        Db(client)("UpdateTimeToLive", region="eu-west-1", **ENDING)
        yield command


ENDING: dict[str, Any] = {"TableName": "things", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ends"}}


@pytest.fixture
def pair(server: Command) -> Iterator[list[Db]]:
    """A connection to each process."""
    with ExitStack() as opened:
        clients = one_for_each(server, lambda: opened.enter_context(Client(server.address))).values()
        yield [Db(client) for client in clients]


def item(name: str, **more: Any) -> dict[str, Any]:
    return {"TableName": "things", "Item": {"id": {"S": name}, **more}}


def key(name: str) -> dict[str, Any]:
    return {"TableName": "things", "Key": {"id": {"S": name}}}


def test_what_one_process_writes_another_reads(pair: list[Db]) -> None:
    first, second = pair
    first("PutItem", **item("shared"))
    assert second("GetItem", **key("shared"))["Item"] == {"id": {"S": "shared"}}


def test_a_table_that_one_process_makes_or_deletes_is_so_in_all(pair: list[Db]) -> None:
    first, second = pair
    first("CreateTable", **{**TABLE, "TableName": "short"})
    second("PutItem", **{**item("a"), "TableName": "short"})
    assert "short" in second("ListTables")["TableNames"]
    first("DeleteTable", TableName="short")
    assert "short" not in second("ListTables")["TableNames"]
    status, body = second.client.send(
        "POST", "/", {**key("a"), "TableName": "short"}, "X-Amz-Target: DynamoDB_20120810.GetItem\r\n"
    )
    assert (status, b"ResourceNotFoundException" in body) == (400, True)


def test_a_shard_iterator_of_one_process_is_good_in_another(pair: list[Db]) -> None:
    first, second = pair
    (arn,) = (stream["StreamArn"] for stream in first("ListStreams", streams=True, TableName="things")["Streams"])
    (shard,) = first("DescribeStream", streams=True, StreamArn=arn)["StreamDescription"]["Shards"]
    place = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "LATEST"}
    iterator = first("GetShardIterator", streams=True, **place)["ShardIterator"]
    second("PutItem", **item("streamed"))
    records = second("GetRecords", streams=True, ShardIterator=iterator)["Records"]
    assert [record["dynamodb"]["Keys"] for record in records] == [{"id": {"S": "streamed"}}]


def test_a_transaction_with_a_token_is_done_once(pair: list[Db]) -> None:
    first, second = pair
    add = {
        **key("counted"),
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    for each in (first, second, first):
        each("TransactWriteItems", TransactItems=[{"Update": add}], ClientRequestToken="the-same")
    assert second("GetItem", **key("counted"), ConsistentRead=True)["Item"]["n"] == {"N": "1"}


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
def test_what_has_expired_is_deleted_in_every_region(region: str, pair: list[Db]) -> None:
    pair[0]("PutItem", region=region, **item("old", ends={"N": str(int(time.time()) - 60)}))
    soon(lambda: "Item" not in pair[1]("GetItem", region=region, **key("old"), ConsistentRead=True))


def test_a_process_that_is_killed_under_load_is_replaced_and_loses_nothing(server: Command) -> None:
    stop, done = threading.Event(), list[str]()

    def write(writer: int) -> None:
        number, client = 0, None
        while not stop.is_set():
            try:
                client = client or Client(server.address)
                Db(client)("PutItem", **item(f"killed-{writer}-{number}"))
            except OSError:
                if client is not None:
                    client.close()
                client = None
                continue
            done.append(f"killed-{writer}-{number}")
            number += 1
        if client is not None:
            client.close()

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    try:
        soon(lambda: len(done) > 50)
        victim = min(server.pids())
        os.kill(victim, signal.SIGKILL)
        soon(lambda: len(server.pids() - {victim}) == 2)
        before = len(done)
        soon(lambda: len(done) > before + 50)
    finally:
        stop.set()
        for thread in threads:
            thread.join(DEADLINE)
    with Client(server.address) as client:
        db = Db(client)
        assert [name for name in done if "Item" not in db("GetItem", **key(name), ConsistentRead=True)] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_as_one(number: signal.Signals, tmp_path: Path) -> None:
    with Command(tmp_path / "data", "dynamodb") as server:
        assert server.banner.count("DynamoDB's protocol at") == 1
        assert server.stop(number) == (0, "Stopped.\n")


def test_what_only_one_process_can_know_needs_one_process(run: Run) -> None:
    refused = run("dynamodb", "--port", "0", "--stale-seconds", "1", "--processes", "2")
    assert (refused.exit_code, "need --processes 1" in refused.output) == (2, True)
