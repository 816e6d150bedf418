"""The HTTP layer: framing, limits, order of execution, and refusal of invalid requests."""

from __future__ import annotations

import gzip
import json
import zlib
from datetime import UTC
from email.utils import parsedate_to_datetime

import pytest
from tests.wire.support import connected, http, serving

from partita import EmbeddedStore
from partita.wire import Limits

LIST = http("ListTables", b"{}")
SMALL = Limits(head_bytes=1_000, body_bytes=1_000, connections=2)


def response_to(address: tuple[str, int], request: bytes) -> tuple[int, str]:
    """Return the status and error type."""
    with connected(address) as client:
        client.send(request)
        status, _, body = client.receive()
        return status, body.get("__type", "")


def test_every_response_has_an_id_of_its_own(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.send(LIST * 300)
        ids = {client.receive()[1]["x-amzn-requestid"] for _ in range(300)}
    assert len(ids) == 300
    assert {len(each) for each in ids} == {52}


@pytest.mark.rule(44)
def test_a_response_has_a_checksum_and_a_request_id(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.send(LIST)
        status, headers, body = client.receive()
    assert (status, body) == (200, {"TableNames": []})
    assert zlib.crc32(b'{"TableNames":[]}') == int(headers["x-amz-crc32"])
    assert len(headers["x-amzn-requestid"]) == 52
    assert headers["content-type"] == "application/x-amz-json-1.0"
    assert parsedate_to_datetime(headers["date"]).tzinfo == UTC


def test_requests_of_one_connection_are_executed_in_their_order(address: tuple[str, int]) -> None:
    table = {
        "TableName": "abc",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
    }
    with connected(address) as client:
        client.send(LIST + http("CreateTable", json.dumps(table).encode()) + LIST)
        bodies = [client.receive()[2] for _ in range(3)]
    assert [bodies[0], bodies[2]] == [{"TableNames": []}, {"TableNames": ["abc"]}]


def test_a_request_may_come_byte_by_byte(address: tuple[str, int]) -> None:
    with connected(address) as client:
        for position in range(len(LIST)):
            client.send(LIST[position : position + 1])
        assert client.receive()[0] == 200


@pytest.mark.rule(44)
@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b'{"Limit": 1}')),
        ("gzip", gzip.compress(b'{"Limit"') + gzip.compress(b": 1}")),
        ("deflate", zlib.compress(b'{"Limit": 1}')),
    ],
    ids=["gzip", "gzip in parts", "deflate"],
)
def test_a_body_may_be_packed(address: tuple[str, int], encoding: str, packed: bytes) -> None:
    assert response_to(address, http("ListTables", packed, content_encoding=encoding)) == (200, "")


@pytest.mark.rule(44)
@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"{", {}),
        (b"[]", {}),
        (b"\xff", {}),
        (b'{"TableName": 7}', {}),
        (b'{"a":' * 100_000, {}),
        (b"not packed", {"content_encoding": "gzip"}),
        (gzip.compress(b"{}")[:-1], {"content_encoding": "gzip"}),
        (b"{}", {"content_encoding": "br"}),
    ],
    ids=["cut off", "no object", "no text", "wrong type", "too deep", "not packed", "packed and cut off", "unknown"],
)
def test_what_cannot_be_read_is_a_serialization_exception(
    address: tuple[str, int], body: bytes, headers: dict[str, str]
) -> None:
    expected = (400, "com.amazon.coral.service#SerializationException")
    assert expected == response_to(address, http("DescribeTable", body, **headers))


@pytest.mark.rule(44)
@pytest.mark.parametrize("target", ["Nothing", ""])
def test_an_unknown_operation_is_refused(address: tuple[str, int], target: str) -> None:
    assert response_to(address, http(target, b"{}")) == (400, "com.amazon.coral.service#UnknownOperationException")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (http("ListTables", b" " * 2_000), 413),
        (http("ListTables", gzip.compress(b" " * 2_000), content_encoding="gzip"), 413),
        (http("ListTables", b"", filler="x" * 2_000), 400),
        (b"POST /" + b"x" * 3_000, 400),
        (b"POST / HTTP/1.1\r\nx: " + b"x" * 3_000, 400),
        (b"\r\n" * 2_000, 400),
    ],
    ids=["body", "packed body", "headers", "path", "no end", "nothing"],
)
def test_what_is_too_large_is_refused(store: EmbeddedStore, request_: bytes, status: int) -> None:
    with serving(store, limits=SMALL) as address:
        expected = (status, "com.amazonaws.dynamodb.v20120810#RequestEntityTooLargeException")
        assert expected == response_to(address, request_)


def chunked(*chunks: bytes) -> bytes:
    """Return a request with a chunked body."""
    headers = (b"host: localhost", b"x-amz-target: DynamoDB_20120810.ListTables", b"transfer-encoding: chunked")
    head = b"\r\n".join((b"POST / HTTP/1.1", *headers, b"", b""))
    return head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)


def test_a_body_may_come_in_chunks(address: tuple[str, int]) -> None:
    request = chunked(b'{"Lim', b'it": 1}', b"")
    with connected(address) as client:
        for position in range(len(request)):
            client.send(request[position : position + 1])
        client.send(LIST)
        assert [client.receive()[0] for _ in range(2)] == [200, 200]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (chunked(b"x" * 600, b"x" * 600, b""), 413),
        (chunked() + b"fffffffffffffff\r\n" + b"x" * 2_000, 413),
        (chunked() + b"many\r\n", 400),
        (chunked() + b"-1\r\n", 400),
        (chunked() + b"1\r\n{}\r\n", 400),
        (chunked() + b"1" * 2_000, 400),
        (chunked().replace(b"chunked", b"gzip"), 400),
    ],
    ids=["together", "one", "no number", "negative", "longer", "no end", "no chunks"],
)
def test_chunks_that_are_wrong_or_too_large_are_refused(store: EmbeddedStore, request_: bytes, status: int) -> None:
    with serving(store, limits=SMALL) as address:
        assert response_to(address, request_)[0] == status


def test_chunks_that_never_end_are_given_up(store: EmbeddedStore) -> None:
    with serving(store, limits=Limits(request_seconds=0.0)) as address, connected(address) as client:
        client.send(chunked(b"{"))
        assert client.is_closed()


def test_what_is_not_http_is_refused_and_the_connection_closed(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.send(b"hello\r\n\r\n")
        assert client.receive()[0] == 400
        assert client.is_closed()


def test_a_client_that_asks_to_close_is_left(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.send(http("ListTables", b"{}", connection="close"))
        assert client.receive()[0] == 200
        assert client.is_closed()


def test_a_request_that_never_ends_is_given_up(store: EmbeddedStore) -> None:
    with serving(store, limits=Limits(request_seconds=0.0)) as address, connected(address) as client:
        client.send(LIST[:20])
        assert client.is_closed()


def test_the_root_says_that_the_server_is_well(address: tuple[str, int]) -> None:
    assert response_to(address, b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n") == (200, "")


def test_a_client_that_expects_a_sign_to_go_on_gets_it(address: tuple[str, int]) -> None:
    request = http("ListTables", b"{}", expect="100-continue")
    with connected(address) as client:
        client.send(request[:-2])
        assert client.receive_line() == b"HTTP/1.1 100 Continue"
        assert client.receive_line() == b""
        client.send(request[-2:])
        assert client.receive()[0] == 200


def test_http_1_0_gets_one_response(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.send(b"GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n" * 2)
        assert client.receive()[0] == 200
        assert client.is_closed()


def test_a_response_to_head_has_no_body(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.send(b"HEAD / HTTP/1.1\r\nhost: localhost\r\n\r\n" + LIST)
        assert client.receive_line() == b"HTTP/1.1 404 Not Found"
        while client.receive_line():
            pass
        assert client.receive_line() == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize("start", [b"GET /other", b"POST /other", b"PUT /", b"DELETE /", b"OPTIONS /"])
def test_there_is_nothing_beside_the_root(address: tuple[str, int], start: bytes) -> None:
    expected = (404, "com.amazon.coral.service#UnknownOperationException")
    assert expected == response_to(address, start + b" HTTP/1.1\r\nhost: localhost\r\n\r\n")


def test_the_endpoint_says_where_it_is(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.send(http("DescribeEndpoints", b"{}"))
        endpoints = client.receive()[2]["Endpoints"]
    assert endpoints == [{"Address": f"{address[0]}:{address[1]}", "CachePeriodInMinutes": 1440}]
