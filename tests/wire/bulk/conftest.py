"""A store with a table, buckets in a folder, and bulk operations on them without a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.wire.support import TASKS, Caller, Json, task

from partita import EmbeddedStore
from partita.buckets import Buckets, FolderBuckets
from partita.wire.bulk import BulkRunner


class Bulk:
    """Starts bulk operations, and waits for them to end."""

    def __init__(self, store: EmbeddedStore, root: Path, buckets: Buckets | None = None) -> None:
        self.store = store
        self.root = root
        self.runner = BulkRunner(lambda _: store, buckets or FolderBuckets(root))
        self.call = Caller(store, bulk=self.runner)

    def put(self, key: str, *records: Any, bucket: str = "in") -> Path:
        """Write an object of JSON lines."""
        return self.put_bytes(key, lines(*records), bucket=bucket)

    def put_bytes(self, key: str, body: bytes, bucket: str = "in") -> Path:
        path = self.root / bucket / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        return path

    def start(self, **others: Any) -> Json:
        """Start an operation, and return its description."""
        started: Json = self.call("StartBulkPutItems", **asked(**others))["BulkOperationDescription"]
        return started

    def ended(self, **others: Any) -> Json:
        """Start an operation, wait until it has ended, and return its description."""
        arn = self.start(**others)["BulkOperationArn"]
        self.runner.wait()
        return self.described(arn)

    def described(self, arn: str) -> Json:
        described: Json = self.call("DescribeBulkOperation", BulkOperationArn=arn)["BulkOperationDescription"]
        return described

    def report(self, kind: str) -> list[Json]:
        """Return the lines of all reports of a kind."""
        parts = sorted((self.root / "out").rglob(f"{kind}/part-*.json"))
        return [json.loads(line) for part in parts for line in part.read_bytes().splitlines()]

    def items(self) -> dict[str, Json]:
        """Return the items of the table by task."""
        found: list[Json] = self.call("Scan", TableName="tasks")["Items"]
        return {item["task"]["S"]: item for item in found}


def asked(source: Json | None = None, output: Json | None = None, **others: Any) -> Json:
    """Return the parameters of StartBulkPutItems."""
    return {
        "TableName": "tasks",
        "InputS3Configuration": {"S3Bucket": "in", "InputFormat": "DYNAMODB_JSON", **(source or {})},
        "OutputS3Configuration": {
            "S3Bucket": "out",
            "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
            **(output or {}),
        },
        **others,
    }


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def tasks(count: int, **texts: str) -> list[Json]:
    return [{"Item": task("u", f"{number:05}", **texts)} for number in range(count)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for bucket in ("in", "out"):
        (tmp_path / "buckets" / bucket).mkdir(parents=True)
    return tmp_path / "buckets"


@pytest.fixture
def bulk(store: EmbeddedStore, root: Path) -> Iterator[Bulk]:
    bulk = Bulk(store, root)
    bulk.call("CreateTable", **{name: value for name, value in TASKS.items() if name != "StreamSpecification"})
    yield bulk
    bulk.runner.stop()
