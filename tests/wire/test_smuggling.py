"""A request that two parsers could read differently is refused, and nothing after it is executed.

Otherwise an attacker could hide a second request in it, if a proxy in front of the server parses it differently.
"""

from __future__ import annotations

import json
import logging

import pytest
from tests.wire.support import TASKS, connected, http, serving
from tests.wire.unplugged import without_sockets

from partita import EmbeddedStore
from partita.store import ListTables

SMUGGLED = http("CreateTable", json.dumps(TASKS).encode())
LENGTH = b"content-length: 2"
CHUNKED = b"transfer-encoding: chunked"


def request(*lines: bytes, start: bytes = b"POST / HTTP/1.1", end: bytes = b"\r\n", body: bytes = b"{}") -> bytes:
    """Return a ListTables request with these lines in its head."""
    usual = (start, b"host: localhost", b"x-amz-target: DynamoDB_20120810.ListTables")
    return end.join([*usual, *lines, b"", b""]) + body


FORMS = {
    "space before the colon": request(b"content-length : 2"),
    "tab before the colon": request(b"content-length\t: 2"),
    "the same length twice": request(LENGTH, LENGTH),
    "two lengths": request(LENGTH, b"content-length: 3"),
    "two lengths in one line": request(b"content-length: 2, 2"),
    "length and chunks": request(LENGTH, CHUNKED, body=b"0\r\n\r\n"),
    "chunks and length": request(CHUNKED, LENGTH, body=b"0\r\n\r\n"),
    "bare LF everywhere": request(LENGTH, end=b"\n"),
    "bare CR everywhere": request(LENGTH, end=b"\r"),
    "bare LF after the start": request(LENGTH, start=b"POST / HTTP/1.1\nx: y"),
    "bare CR after the start": request(LENGTH, start=b"POST / HTTP/1.1\rx: y"),
    "bare LF after a header": request(b"x: y\nz: a", LENGTH),
    "bare CR after a header": request(b"x: y\rz: a", LENGTH),
    "bare LF at the end": request(LENGTH)[:-4] + b"\n{}",
    "folded header": request(b"x: y", b" z", LENGTH),
    "header folded with a tab": request(b"x: y", b"\tz", LENGTH),
    "folded length": request(b"content-length:", b" 2"),
    "NUL in a name": request(b"x\0y: z", LENGTH),
    "NUL in a value": request(b"x: y\0", LENGTH),
    "line without a colon": request(b"nothing", LENGTH),
    "no name": request(b": x", LENGTH),
    "made-up version": request(LENGTH, start=b"POST / HTTP/1.evil"),
    "version to come": request(LENGTH, start=b"POST / HTTP/2.0"),
    "version of old": request(LENGTH, start=b"POST / HTTP/0.9"),
    "no version": request(LENGTH, start=b"POST /"),
    "made-up method": request(LENGTH, start=b"STEAL / HTTP/1.1"),
    "VT before chunked": request(b"transfer-encoding: \x0bchunked", body=b"0\r\n\r\n"),
    "NBSP before chunked": request(b"transfer-encoding: \xa0chunked", body=b"0\r\n\r\n"),
    "chunked twice": request(CHUNKED, CHUNKED, body=b"0\r\n\r\n"),
    "other coding": request(b"transfer-encoding: gzip, chunked", body=b"0\r\n\r\n"),
    "chunks in HTTP/1.0": request(CHUNKED, start=b"POST / HTTP/1.0", body=b"0\r\n\r\n"),
    "signed length": request(b"content-length: +2"),
    "length of many digits": request(b"content-length: " + b"9" * 4_300),
    "two hosts": request(b"host: localhost", LENGTH),
    "two targets": request(b"x-amz-target: DynamoDB_20120810.DeleteTable", LENGTH),
    "no host": request(LENGTH).replace(b"host: localhost\r\n", b""),
    "upgrade": request(b"connection: upgrade", b"upgrade: h2c", LENGTH),
    "tunnel": request(LENGTH, start=b"CONNECT localhost:80 HTTP/1.1"),
    "chunk with a bare LF": request(CHUNKED, body=b"2\n{}\r\n0\r\n\r\n"),
    "signed chunk": request(CHUNKED, body=b"+2\r\n{}\r\n0\r\n\r\n"),
    "chunk in another notation": request(CHUNKED, body=b"0x2\r\n{}\r\n0\r\n\r\n"),
    "chunk with an underscore": request(CHUNKED, body=b"0_2\r\n{}\r\n0\r\n\r\n"),
    "trailer": request(CHUNKED, body=b"2\r\n{}\r\n0\r\nhost: other\r\n\r\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_smuggled(store: EmbeddedStore, caplog: pytest.LogCaptureFixture, form: str) -> None:
    caplog.set_level(logging.WARNING)
    with serving(store) as address, connected(address) as client:
        client.send(FORMS[form] + SMUGGLED)
        status, headers, body = client.receive()
        assert client.is_closed()
    assert (status, headers["connection"]) == (400, "close")
    assert body["__type"] == "com.amazon.coral.service#SerializationException"
    assert store.execute(ListTables()) == ()
    assert caplog.records == []


@pytest.mark.parametrize("form", FORMS)
def test_it_is_no_matter_in_which_pieces_it_comes(store: EmbeddedStore, form: str) -> None:
    """Send one byte at a time, to a connection without a socket, so that no byte is lost when the server closes."""
    server, (client,) = without_sockets(store, 1)
    for byte in FORMS[form]:
        client.receive(bytes([byte]))
    client.receive(SMUGGLED)
    assert client.statuses() == [400]
    assert client.is_ended
    assert store.execute(ListTables()) == ()
    assert server.connections.budget.used == 0


def test_what_came_before_is_responded_to(store: EmbeddedStore) -> None:
    with serving(store) as address, connected(address) as client:
        client.send(request(LENGTH) + FORMS["two lengths"] + SMUGGLED)
        assert [client.receive()[0] for _ in range(2)] == [200, 400]
        assert client.is_closed()


def test_headers_that_say_nothing_of_the_request_may_be_repeated(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.send(request(b"x:", b"x: y", b"x: z", LENGTH))
        assert client.receive()[0] == 200
