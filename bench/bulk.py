"""Bulk writes: `partita load` and StartBulkPutItems, compared with BatchWriteItem by boto3.

    python -m bench.bulk --items 1000000 --batch-items 100000

Each of them writes into its own durable file, to a table with one index. boto3 sends batches of 25 to
`partita dynamodb`, one after the other, as a script would; fewer items are enough for its rate. The load is also killed
halfway and run again, and its report is compared with the items in the file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

import boto3
import click

from partita import EmbeddedStore
from partita.bulk import JOURNAL
from partita.store import CreateTable, DescribeTable, IndexSchema, KeyAttribute, ListTables, ScanTable, TableSchema

TABLE: Final = TableSchema(
    "orders",
    KeyAttribute("pk"),
    KeyAttribute("sk"),
    indexes=(IndexSchema("by_status", (KeyAttribute("status"),), (KeyAttribute("sk"),)),),
)
PROGRAM: Final = (sys.executable, "-c", "from partita.cli import main; main()")


def item(number: int) -> dict[str, Any]:
    return {
        "pk": {"S": f"CUSTOMER#{number * 7919 % 100_003:06}"},
        "sk": {"S": f"ORDER#{number:08}"},
        "status": {"S": ("open", "paid", "sent")[number % 3]},
        "total": {"N": str(number % 1_000)},
        "note": {"S": f"an order with the number {number}"},
    }


def made(folder: Path) -> Path:
    """Create a data folder with the table."""
    folder.mkdir(mode=0o700)
    with EmbeddedStore(folder / "partita.db") as store:
        store.execute(CreateTable(TABLE))
    return folder


@contextmanager
def served(folder: Path, buckets: Path) -> Iterator[Any]:
    """Run `partita dynamodb` on a folder, and yield a client of it."""
    options = ["--data", str(folder), "--port", "0", "--buckets", str(buckets)]
    with subprocess.Popen([*PROGRAM, "dynamodb", *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = next(found[0] for line in process.stdout if (found := re.search(r"http://[\d.]+:\d+", line)))
        keys = {"aws_access_key_id": "local", "aws_secret_access_key": "secret"}
        try:
            yield boto3.client("dynamodb", endpoint_url=url, region_name="us-east-1", **keys)
        finally:
            process.terminate()
            process.stdout.read()


def batches(client: Any, count: int) -> float:
    """Write batches of 25 items, and return the items per second."""
    puts = ({"PutRequest": {"Item": item(number)}} for number in range(count))
    begun = time.perf_counter()
    while batch := list(islice(puts, 25)):
        left = client.batch_write_item(RequestItems={"orders": batch})["UnprocessedItems"]
        assert not left
    return count / (time.perf_counter() - begun)


def started(client: Any, count: int) -> float:
    """Run StartBulkPutItems, and return the items per second."""
    begun = time.perf_counter()
    arn = client.start_bulk_put_items(
        TableName="orders",
        InputS3Configuration={"S3Bucket": "input", "InputFormat": "DYNAMODB_JSON"},
        OutputS3Configuration={"S3Bucket": "reports", "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]},
    )["BulkOperationDescription"]["BulkOperationArn"]
    waiter = client.get_waiter("bulk_operation_completed")
    waiter.wait(BulkOperationArn=arn, WaiterConfig={"Delay": 0.1, "MaxAttempts": 36_000})
    seconds = time.perf_counter() - begun
    described = client.describe_bulk_operation(BulkOperationArn=arn)["BulkOperationDescription"]
    assert (described["BulkOperationStatus"], described["ProcessedItemCount"]) == ("COMPLETED", count)
    return count / seconds


def load_command(folder: Path, source: Path) -> list[str]:
    return [*PROGRAM, "load", str(source), "--to", str(folder), "--table", "orders", "--yes"]


def loaded(folder: Path, source: Path, count: int) -> float:
    """Run `partita load`, and return the items per second, including the start of the program."""
    begun = time.perf_counter()
    done = subprocess.run(load_command(folder, source), check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - begun
    assert f"{count:,} items written" in done.stdout, done.stdout
    return count / seconds


def killed(folder: Path, source: Path, count: int) -> int:
    """Kill a load halfway, run it again, and return the number of records after which it continued."""
    command, quiet = load_command(folder, source), subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as process:
        with EmbeddedStore(folder / "partita.db") as store:
            while process.poll() is None and progress(store) < count * 0.4:
                time.sleep(0.01)
        process.kill()
    done = subprocess.run(load_command(folder, source), check=True, capture_output=True, text=True)
    assert f"{count:,} items written, 0 conditions were false, 0 records failed" in done.stdout, done.stdout
    with EmbeddedStore(folder / "partita.db") as store:
        start, found = None, 0
        while True:
            page = store.execute(ScanTable("orders", start=start, count_only=True))
            found, start = found + page.count, page.last_key
            if start is None:
                break
        assert store.execute(DescribeTable("orders")).schema == TABLE
    assert found == count
    went_on = re.search(r"Continuing after ([\d,]+) records", done.stderr)
    return int(went_on[1].replace(",", "")) if went_on else 0


def progress(store: EmbeddedStore) -> int:
    """The number of records that the load has written, according to its journal."""
    if JOURNAL.name not in store.execute(ListTables()):
        return 0
    items = store.execute(ScanTable(JOURNAL.name, consistent=True)).items
    return sum(each["progress"]["processed"] for each in items if each["part"] == "progress")


@click.command()
@click.option("--items", default=1_000_000, show_default=True)
@click.option("--batch-items", default=100_000, show_default=True)
def main(items: int, batch_items: int) -> None:
    """Measure all three, and print their rates and ratios."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        source = root / "buckets" / "input" / "orders.json"
        source.parent.mkdir(parents=True)
        (root / "buckets" / "reports").mkdir()
        with source.open("w") as file:
            file.writelines(json.dumps({"Item": item(number)}) + "\n" for number in range(items))
        with served(made(root / "batches"), root / "buckets") as client:
            base = batches(client, batch_items)
        print(f"BatchWriteItem by boto3:  {base:10,.0f} items/s ({batch_items:,} items)")
        direct = loaded(made(root / "load"), source, items)
        print(f"partita load:             {direct:10,.0f} items/s, {direct / base:.1f} times ({items:,} items)")
        with served(made(root / "bulk"), root / "buckets") as client:
            rate = started(client, items)
        print(f"StartBulkPutItems:        {rate:10,.0f} items/s, {rate / base:.1f} times ({items:,} items)")
        at = killed(made(root / "killed"), source, items)
        print(f"killed and run again: it continued after {at:,} of {items:,} records; each item is stored exactly once")


if __name__ == "__main__":
    main()
