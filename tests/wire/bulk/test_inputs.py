"""Inputs of bulk operations: JSON lines and Ion, uncompressed and compressed, complete and damaged."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
import zstandard
from amazon.ion import simpleion
from botocore.session import Session as BotocoreSession
from moto import mock_aws
from tests.wire.bulk.conftest import Bulk, lines, tasks
from tests.wire.support import TASKS, task

from partita import EmbeddedStore
from partita.buckets.s3 import S3Buckets
from partita.store import ScanTable
from partita.store.remote import Credentials

ION = """
{Item: {user: "u", task: "1", n: 1.50, big: 12345678901234567890, blob: {{AAE=}}, yes: true, nothing: null,
        list: ["a", 2, {deep: "x"}], texts: $dynamodb_SS::["a", "b"], numbers: $dynamodb_NS::[1, 2.5],
        blobs: $dynamodb_BS::[{{AAE=}}], word: symbol}}
{Item: {user: "u", task: "1"}, ConditionExpression: "#t = :t",
 ExpressionAttributeNames: {'#t': "task"}, ExpressionAttributeValues: {':t': "other"}}
{Item: {user: "u", task: "2", when: 2026-01-01T}}
{Item: {user: "u", task: "3"}}
"""
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "NONE": bytes,
    "GZIP": gzip.compress,
    "ZSTD": zstandard.ZstdCompressor().compress,
}
STORED = {
    "user": "u",
    "task": "1",
    "n": Decimal("1.5"),
    "big": 12345678901234567890,
    "blob": b"\x00\x01",
    "yes": True,
    "nothing": None,
    "list": ["a", 2, {"deep": "x"}],
    "texts": {"a", "b"},
    "numbers": {1, Decimal("2.5")},
    "blobs": {b"\x00\x01"},
    "word": "symbol",
}


@pytest.mark.rule(54)
@pytest.mark.parametrize("compression", ["NONE", "GZIP", "ZSTD"])
@pytest.mark.parametrize("kind", ["DYNAMODB_JSON", "ION"])
def test_all_formats_and_compressions_are_read(bulk: Bulk, kind: str, compression: str) -> None:
    text = (
        lines(*tasks(40))
        if kind == "DYNAMODB_JSON"
        else b"".join(b'{Item: {user: "u", task: "%05d"}}\n' % number for number in range(40))
    )
    pack = PACKERS[compression]
    bulk.put_bytes("data/a", pack(text) + (b"" if compression == "NONE" else pack(b"\n")))  # two members if compressed
    ended = bulk.ended(source={"InputFormat": kind, "InputCompressionType": compression})
    assert (ended["BulkOperationStatus"], ended["ProcessedItemCount"]) == ("COMPLETED", 40)
    assert ended["ProcessedInputBytes"] == ended["TotalInputBytes"]
    assert bulk.items() == {f"{number:05}": task("u", f"{number:05}") for number in range(40)}


@pytest.mark.rule(54)
@pytest.mark.parametrize("binary", [False, True])
def test_ion_has_values_conditions_and_what_it_cannot_say(bulk: Bulk, *, binary: bool) -> None:
    text = ION.encode()
    if binary:
        values: Any = simpleion.loads(ION, single_value=False)
        text = cast("bytes", simpleion.dumps(values, binary=True, sequence_as_stream=True))
    bulk.put_bytes("a.ion", text)
    ended = bulk.ended(source={"InputFormat": "ION"})
    assert (ended["ProcessedItemCount"], ended["FailedItemCount"]) == (4, 1)
    assert [line["Record"] for line in bulk.report("CONDITION_CHECK_FAILURE")] == [2]
    (error,) = bulk.report("ERROR")
    assert (error["Record"], "timestamp" in error["ErrorMessage"]) == (3, True)
    stored = {item["task"]: item for item in bulk.store.execute(ScanTable("tasks")).items}
    assert stored == {"1": STORED, "3": {"user": "u", "task": "3"}}


@pytest.mark.rule(56)
@pytest.mark.parametrize(
    ("source", "body"),
    [
        ({"InputCompressionType": "GZIP"}, gzip.compress(lines(*tasks(500)))[:-500]),
        ({"InputCompressionType": "GZIP"}, b"this was never packed"),
        ({"InputCompressionType": "ZSTD"}, b"this was never packed"),
        ({"InputFormat": "ION"}, b'{Item: {user: "u", task: "1"}} ]]]'),
        ({"InputFormat": "ION"}, b'{Item: {user: "u", task: "1"}} {Item: [' + b"1," * 3_000_000 + b"1]}"),
        ({"InputFormat": "ION"}, b'{Item: {user: "u", task: ' + b"[" * 900 + b"]" * 900 + b"}}"),
        ({}, b'{"Item": "' + b"x" * 5_000_000),
    ],
)
def test_an_object_that_is_damaged_is_read_as_far_as_it_goes(bulk: Bulk, source: dict[str, str], body: bytes) -> None:
    bulk.put_bytes("a", body)
    packed = PACKERS[source.get("InputCompressionType", "NONE")]
    good = b'{Item: {user: "u", task: "good"}}' if "InputFormat" in source else lines({"Item": task("u", "good")})
    bulk.put_bytes("b", packed(good))
    ended = bulk.ended(source=source)
    assert (ended["BulkOperationStatus"], ended["FailedItemCount"]) == ("COMPLETED_WITH_ERRORS", 1)
    (line,) = bulk.report("ERROR")
    assert line["Object"] == "a"
    assert "good" in bulk.items()


@pytest.mark.rule(54)
def test_objects_of_s3_are_read_and_reported_to(store: EmbeddedStore, root: Path) -> None:
    with mock_aws():
        client: Any = BotocoreSession().create_client(
            "s3", region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
        )
        for bucket in ("in", "out"):
            client.create_bucket(Bucket=f"{bucket}-bucket")
        client.put_object(Bucket="in-bucket", Key="a/1.gz", Body=gzip.compress(lines(*tasks(3_000), {"nothing": 1})))
        buckets = S3Buckets(region="us-east-1", credentials=Credentials("key", "secret"))
        bulk = Bulk(store, root, buckets)
        bulk.call("CreateTable", **TASKS)
        ended = bulk.ended(
            source={"S3Bucket": "in-bucket", "S3KeyPrefix": "a/", "InputCompressionType": "GZIP"},
            output={"S3Bucket": "out-bucket", "S3KeyPrefix": "r", "S3SseAlgorithm": "KMS", "S3SseKmsKeyId": "mine"},
        )
        assert (ended["BulkOperationStatus"], ended["ProcessedItemCount"]) == ("COMPLETED_WITH_ERRORS", 3_001)
        written = client.list_objects_v2(Bucket="out-bucket", Prefix="r/AWSDynamoDB/")["Contents"]
        report = next(each["Key"] for each in written if "/ERROR/" in each["Key"])
        found = client.get_object(Bucket="out-bucket", Key=report)
        assert (found["ServerSideEncryption"], found["SSEKMSKeyId"]) == ("aws:kms", "mine")
        assert json.loads(found["Body"].read())["Record"] == 3_001
        changed = bulk.ended(source={"S3Bucket": "nowhere-at-all"}, output={"S3Bucket": "out-bucket"})
        assert changed["FailureCode"] == "S3NoSuchBucket"
