"""The command `partita dynamodb` in its own process: durability, shutdown, keys, regions and event loop."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner
from tests.wire.support import TASKS, Client, connected, http, task

from partita.cli import main

COMMAND = 'from partita.cli import main; main(prog_name="partita")'


@contextmanager
def command(data: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    """Run `partita dynamodb` on a free port; yield the process and its address; kill the process at the end."""
    arguments = [sys.executable, "-c", COMMAND, "dynamodb", "--data", str(data), "--port", "0", *options]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        base = process.stdout.readline().split()[3]
        yield process, ("127.0.0.1", int(base.rpartition(":")[2]))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def ask(client: Client, operation: str, parameters: object) -> dict[str, object]:
    client.send(http(operation, json.dumps(parameters).encode()))
    status, _, body = client.receive()
    assert status == 200, body
    return body


def test_what_was_confirmed_survives_a_kill(tmp_path: Path) -> None:
    with command(tmp_path) as (process, address), connected(address) as client:
        ask(client, "CreateTable", {**TASKS, "Tags": [{"Key": "team", "Value": "a"}]})
        for number in range(50):
            ask(client, "PutItem", {"TableName": "tasks", "Item": task("u", f"{number:02}")})
        process.kill()
    with command(tmp_path) as (_, address), connected(address) as client:
        assert ask(client, "Scan", {"TableName": "tasks", "Select": "COUNT"})["Count"] == 50
        arn = "arn:aws:dynamodb:us-east-1:000000000000:table/tasks"
        assert ask(client, "ListTagsOfResource", {"ResourceArn": arn})["Tags"] == [{"Key": "team", "Value": "a"}]


def test_a_signal_ends_it_in_order(tmp_path: Path) -> None:
    with command(tmp_path) as (process, address), connected(address) as client:
        ask(client, "ListTables", {})
        process.send_signal(signal.SIGTERM)
        assert client.is_closed()
        assert process.wait(timeout=60) == 0


def test_a_key_has_two_parts(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["dynamodb", "--data", str(tmp_path), "--key", "local"])
    assert (result.exit_code, "ID:SECRET" in result.output) == (2, True)


def test_regions_are_files_of_their_own(tmp_path: Path) -> None:
    with command(tmp_path, "--regions", "--sweep-every", "5") as (_, address), connected(address) as client:
        scope = "AWS4-HMAC-SHA256 Credential=a/20260101/eu-west-1/dynamodb/aws4_request"
        client.send(http("CreateTable", json.dumps(TASKS).encode(), authorization=scope))
        assert client.receive()[0] == 200
        assert ask(client, "ListTables", {})["TableNames"] == []
        client.send(http("ListTables", b"{}", authorization=scope))
        assert client.receive()[2]["TableNames"] == ["tasks"]
    assert sorted(path.name for path in tmp_path.glob("*.db")) == ["partita-eu-west-1.db", "partita.db"]


def test_it_runs_on_pythons_own_event_loop_where_there_is_no_faster_one(tmp_path: Path) -> None:
    without = f"import sys; sys.modules['uvloop'] = None\n{COMMAND}"
    arguments = [sys.executable, "-c", without, "dynamodb", "--data", str(tmp_path), "--port", "0"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().split()[3].rpartition(":")[2])
        with connected(("127.0.0.1", port)) as client:
            client.send(http("ListTables", b"{}"))
            assert client.receive()[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
