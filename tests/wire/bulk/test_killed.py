"""A server that is killed in the middle of a bulk operation, and started again."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.wire.bulk.conftest import Bulk, asked, tasks
from tests.wire.support import TASKS
from tests.wire.test_boto3 import connect

from partita import EmbeddedStore

ITEMS = 4_500
CONDITION = {"ConditionExpression": "attribute_not_exists(#u)", "ExpressionAttributeNames": {"#u": "user"}}
PROGRAM = """
import os, signal, sys
from partita.store.embedded import EmbeddedStore, LoadItems
from partita.cli import main

execute, left = EmbeddedStore.execute, int(sys.argv.pop(1))

def killing(store, request):
    global left
    response = execute(store, request)
    if isinstance(request, LoadItems):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return response

EmbeddedStore.execute = killing
main()
"""


@contextmanager
def served(folder: Path, buckets: Path, *, after: int) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """Run a server process that kills itself after `after` transactions (0: never); yield the process and a client."""
    options = ["--port", "0", "--processes", "1", "--data", str(folder), "--buckets", str(buckets)]
    command = [sys.executable, "-c", PROGRAM, str(after), "dynamodb", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        found = next(match for line in process.stdout if (match := re.search(r"http://([\d.]+):(\d+)", line)))
        client = connect("dynamodb", (found[1], int(found[2])))
        try:
            yield process, client
        finally:
            client.close()
            process.terminate()
            process.stdout.read()


@pytest.mark.rule(58)
def test_an_operation_goes_on_with_nothing_twice_and_nothing_lost(tmp_path: Path, root: Path) -> None:
    """The condition of each record lets it be put only once, so the report would contain a record that is put again."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    with EmbeddedStore(folder / "partita.db", durable=False) as store:
        bulk = Bulk(store, root)
        bulk.call("CreateTable", **TASKS)
        bulk.put("a.json", *({**each, **CONDITION} for each in tasks(ITEMS)), *({"nothing": n} for n in range(5)))
    with served(folder, root, after=2) as (process, client):
        arn = client.start_bulk_put_items(**asked())["BulkOperationDescription"]["BulkOperationArn"]
        assert process.wait(120) == -9
    with served(folder, root, after=0) as (_, client):
        waiter = client.get_waiter("bulk_operation_completed")
        waiter.wait(BulkOperationArn=arn, WaiterConfig={"Delay": 0.05, "MaxAttempts": 2_000})
        ended = client.describe_bulk_operation(BulkOperationArn=arn)["BulkOperationDescription"]
    assert (ended["BulkOperationStatus"], ended["ProcessedItemCount"]) == ("COMPLETED_WITH_ERRORS", ITEMS + 5)
    with EmbeddedStore(folder / "partita.db", durable=False) as store:
        bulk = Bulk(store, root)
        assert bulk.report("CONDITION_CHECK_FAILURE") == []
        assert [line["Record"] for line in bulk.report("ERROR")] == [*range(ITEMS + 1, ITEMS + 6)]
        assert bulk.call("Scan", TableName="tasks", Select="COUNT")["Count"] == ITEMS
