"""The protocol: headers, compression, types of errors."""

from __future__ import annotations

import gzip
import json
import zlib

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import n, s


@probe(rule=44)
def a_request_may_be_compressed(api: Api) -> None:
    """The encoding is gzip."""
    key = api.new_key()
    body = json.dumps({"TableName": api.table("hash"), "Item": {**key, "a": n(1)}}).encode()
    reply = api.send("PutItem", gzip.compress(body), {"content-encoding": "gzip"})
    same((reply.status, api.get("hash", key)), (200, {**key, "a": n(1)}))


@probe(rule=44)
def a_response_has_a_checksum_and_an_id(api: Api) -> None:
    """The checksum is that of the body as sent."""
    reply = api.send("ListTables", b"{}")
    same(reply.headers.get("x-amz-crc32"), str(zlib.crc32(reply.content)))
    holds(reply.headers.get("x-amzn-requestid"), "there is no x-amzn-requestid")
    same(reply.headers.get("content-type"), "application/x-amz-json-1.0")


@probe(rule=44)
def a_response_is_compressed_where_asked(api: Api) -> None:
    """A large response is compressed with gzip; the checksum is that of the compressed body."""
    key = api.new_key()
    api.put("hash", {**key, "a": s("x" * 20_000)})
    body = json.dumps({"TableName": api.table("hash"), "Key": key}).encode()
    reply = api.send("GetItem", body, {"accept-encoding": "gzip"})
    same(reply.headers.get("content-encoding"), "gzip")
    same(json.loads(gzip.decompress(reply.content))["Item"]["a"]["S"], "x" * 20_000)
    same(reply.headers.get("x-amz-crc32"), str(zlib.crc32(reply.content)))


@probe(rule=44)
def the_type_of_an_error_has_a_namespace(api: Api) -> None:
    """The namespace precedes a `#`."""
    reply = api.send("GetItem", json.dumps({"TableName": "nowhere-at-all", "Key": {"pk": s("x")}}).encode())
    kind = reply.body()["__type"]
    same((reply.status, kind), (400, "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"))
    reply = api.send("GetItem", json.dumps({"TableName": "x"}).encode())
    same((reply.status, reply.body()["__type"]), (400, "com.amazon.coral.validate#ValidationException"))


@probe(rule=44)
def an_operation_that_does_not_exist_is_unknown(api: Api) -> None:
    """The error has a separate type."""
    reply = api.send("MakeCoffee", b"{}")
    same((reply.status, reply.body()["__type"]), (400, "com.amazon.coral.service#UnknownOperationException"))


@probe(rule=44, cases={"not JSON": (b"{",), "a list": (b"[]",), "a wrong type": (b'{"TableName": 5}',)})
def a_body_that_cannot_be_read_is_an_error_of_serialization(api: Api, body: bytes) -> None:
    """The error is not a validation error."""
    reply = api.send("DescribeTable", body)
    same((reply.status, reply.body()["__type"].rpartition("#")[2]), (400, "SerializationException"))


@probe(rule=44)
def an_operation_without_a_result_has_an_empty_body(api: Api) -> None:
    """Setting and removing tags returns nothing."""
    arn = api("DescribeTable", TableName=api.table("hash"))["Table"]["TableArn"]
    body = json.dumps({"ResourceArn": arn, "Tags": [{"Key": "a", "Value": "b"}]}).encode()
    reply = api.send("TagResource", body)
    same((reply.status, reply.content), (200, b""))
    body = json.dumps({"ResourceArn": arn, "TagKeys": ["a"]}).encode()
    reply = api.send("UntagResource", body)
    same((reply.status, reply.content), (200, b""))


@probe(rule=45, tier=3)
def a_violated_constraint_is_told_in_one_form(api: Api) -> None:
    """The message has the value, the parameter and the constraint."""
    message = (
        "1 validation error detected: Value 'x!' at 'tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    )
    refused(api, "DescribeTable", message=message, TableName="x!")
