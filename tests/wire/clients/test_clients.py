"""Each client library runs the same operations, those of an application, against a wire server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.wire.clients.client import KEY, REGION, SECRET, Client, task
from tests.wire.clients.with_aiodynamo import Aiodynamo
from tests.wire.clients.with_aws_cli import AwsCli
from tests.wire.clients.with_boto3 import Boto3
from tests.wire.clients.with_pydynox import Pydynox
from tests.wire.clients.with_pynamodb import PynamoDB

CLIENTS: tuple[Callable[[str], Client], ...] = (Aiodynamo, AwsCli, Boto3, Pydynox, PynamoDB)


@pytest.fixture(params=CLIENTS)
def client(
    request: pytest.FixtureRequest, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    client: Client = request.param(f"http://{address[0]}:{address[1]}")
    yield client
    client.close()


def test_a_client_creates_writes_reads_and_follows_the_stream(client: Client) -> None:
    client.create()

    client.put(task("1", "milk"))
    assert client.get("1") == task("1", "milk")
    assert client.get("9") is None

    client.rename("1", "bread")
    assert client.get("1") == task("1", "bread")

    assert client.add_together(task("2", "tea"), task("3", "salt"))
    assert not client.add_together(task("4", "rice"), task("2", "coffee"))

    client.put_batch(task("5", "oil"), task("6", "soap"))
    found = client.get_batch("5", "6", "9")
    assert sorted(each["title"] for each in found) == ["oil", "soap"]

    everything = [
        task("1", "bread"),
        task("2", "tea"),
        task("3", "salt"),
        task("5", "oil"),
        task("6", "soap"),
    ]
    assert everything == client.query()

    events = client.changes()
    assert events[:2] == [("INSERT", "1"), ("MODIFY", "1")]
    assert [("INSERT", number) for number in ("2", "3", "5", "6")] == sorted(events[2:])


def test_the_command_line_of_aws_runs_by_itself(address: tuple[str, int], tmp_path: Path) -> None:
    keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": REGION}
    endpoint = f"http://{address[0]}:{address[1]}"
    listed = subprocess.run(
        [sys.executable, "-m", "awscli", "dynamodb", "list-tables", "--endpoint-url", endpoint],
        env={**keys, "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert json.loads(listed.stdout) == {"TableNames": []}
