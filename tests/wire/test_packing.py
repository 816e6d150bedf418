"""Responses are compressed for clients that accept it."""

from __future__ import annotations

import gzip
import json
import urllib.request
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from tests.wire.support import TASKS, Caller, serving, task

from partita import EmbeddedStore

BODY = json.dumps({"TableName": "tasks"}).encode()


@pytest.fixture
def scanned(store: EmbeddedStore) -> Iterator[str]:
    """The URL of a server whose table of tasks has one large item."""
    call = Caller(store)
    call("CreateTable", **TASKS)
    call("PutItem", TableName="tasks", Item=task("u", "1", text="x" * 20_000))
    with serving(store) as (host, port):
        yield f"http://{host}:{port}"


def asked(url: str, operation: str, body: bytes, **headers: str) -> Any:
    target = {"x-amz-target": f"DynamoDB_20120810.{operation}", **headers}
    return urllib.request.urlopen(urllib.request.Request(url, body, target), timeout=60)  # noqa: S310 - our own server


@pytest.mark.rule(44)
def test_a_large_response_is_packed_and_its_checksum_is_of_what_is_sent(scanned: str) -> None:
    with asked(scanned, "Scan", BODY, **{"Accept-Encoding": "deflate, gzip;q=0.5"}) as response:
        content = response.read()
        assert (response.headers["content-encoding"], len(content) < 2_000) == ("gzip", True)
        assert response.headers["x-amz-crc32"] == str(zlib.crc32(content))
        assert json.loads(gzip.decompress(content))["Count"] == 1


@pytest.mark.rule(44)
def test_a_response_that_is_small_or_not_to_be_packed_is_sent_as_it_is(scanned: str) -> None:
    for operation, body, encoding in (("ListTables", b"{}", "gzip"), ("Scan", BODY, "identity")):
        with asked(scanned, operation, body, **{"Accept-Encoding": encoding}) as response:
            assert response.headers["content-encoding"] is None
            json.loads(response.read())


@pytest.mark.rule(44)
def test_an_operation_without_a_result_has_an_empty_body(scanned: str) -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/tasks"
    body = json.dumps({"ResourceArn": arn, "Tags": [{"Key": "a", "Value": "b"}]}).encode()
    with asked(scanned, "TagResource", body) as response:
        assert (response.status, response.headers["content-length"], response.read()) == (200, "0", b"")
