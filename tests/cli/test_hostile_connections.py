"""Clients that violate the protocol: no client sees data of another, and the server buffers little for them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from tests.cli.test_connections import GET, HALF, POST, Client, Clients

from partita.cli._connections import MAX_PIPELINED

pytestmark = [pytest.mark.req("X04"), pytest.mark.anyio]

CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
NOT_HTTP = b"\x16\x03\x01\r\n\r\n"


class Held:
    """An app that begins its response, and completes it when the test says so."""

    def __init__(self) -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - nothing is read
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]})
        await send({"type": "http.response.body", "body": b"01234", "more_body": True})
        self.begun.set()
        await self.go_on.wait()
        await send({"type": "http.response.body", "body": b"56789"})


@pytest.mark.parametrize("rest", [NOT_HTTP, HALF + b"x" * 70_000, CHUNKED + b"x"])
async def test_nothing_is_said_in_the_middle_of_another_response(rest: bytes) -> None:
    held = Held()
    clients = Clients(served=held)
    client = clients.connect(GET)
    await held.begun.wait()
    client.send(rest[:40])
    client.send(rest[40:])
    held.go_on.set()
    await clients.responses()
    client.connection.connection_lost(None)
    assert client.transport.sent.count(b"HTTP/1.1") == 1
    assert client.state == "closing"


async def test_what_was_asked_for_before_is_responded_to() -> None:
    clients = Clients()
    client = clients.connect(GET + NOT_HTTP)
    await clients.responses()
    assert (client.state, client.status) == ("closing", b"200")
    assert client.transport.sent.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("first", [b"", GET])
@pytest.mark.parametrize("bad", [NOT_HTTP, CHUNKED + b"x"])
async def test_what_is_not_http_is_a_problem_with_a_code(first: bytes, bad: bytes) -> None:
    clients = Clients()
    client = clients.connect(first)
    await clients.responses()
    client.send(bad)
    assert (client.state, client.status) == ("closing", b"400")
    assert b'"code":"invalid_http"' in client.transport.sent
    client.connection.connection_lost(None)
    await clients.responses()


async def test_what_comes_after_a_body_is_not_a_header() -> None:
    seen: list[Any] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.extend(scope["headers"])
        await PlainTextResponse("")(scope, receive, send)

    clients = Clients(served=app)
    client = clients.connect(CHUNKED + b"2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\nHost: other\r\n\r\n")
    await clients.responses()
    assert client.status == b"200"
    assert seen == [(b"host", b"localhost"), (b"transfer-encoding", b"chunked")]


@pytest.mark.parametrize("request_", [GET, GET * 3, GET + HALF, POST + b"1234567890"])
async def test_who_has_sent_all_and_closes_its_half_gets_every_response(request_: bytes) -> None:
    clients = Clients()
    client = clients.connect(request_)
    assert client.connection.eof_received() is True
    await clients.responses()
    while clients.state.tasks or client.state == "open":
        await clients.responses()
        await asyncio.sleep(0)
    assert (client.state, client.status) == ("closing", b"200")
    assert client.transport.sent.count(b"200 OK") == max(1, request_.count(GET))


@pytest.mark.parametrize("sent", [b"", HALF, POST])
async def test_who_closes_its_half_before_that_is_gone(sent: bytes) -> None:
    clients = Clients()
    client = clients.connect(sent)
    assert not client.connection.eof_received()
    client.connection.connection_lost(None)
    await clients.responses()


async def test_a_response_that_has_begun_is_not_sent_to_who_may_be_gone() -> None:
    held = Held()
    clients = Clients(served=held)
    client = clients.connect(GET)
    await held.begun.wait()
    assert not client.connection.eof_received()
    held.go_on.set()
    await clients.responses()


async def test_a_stream_hears_of_the_end_of_its_client_whatever_waits_behind_it() -> None:
    heard: list[str] = []

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        while (message := await receive())["type"] != "http.disconnect":
            pass  # a part of the body
        heard.append(message["type"])

    clients = Clients(served=stream)
    client: Client = clients.connect(GET + GET)
    await asyncio.sleep(0)
    client.connection.connection_lost(None)
    await clients.responses()
    assert heard == ["http.disconnect"]


async def test_few_requests_wait_behind_a_response_and_no_more_are_read() -> None:
    clients = Clients()
    client = clients.connect(GET * (MAX_PIPELINED + 100))
    assert len(client.connection.pipeline) == MAX_PIPELINED
    while client.state == "open":
        await clients.responses()
        await asyncio.sleep(0)
    assert client.transport.sent.count(b"200 OK") == client.transport.sent.count(b"HTTP/1.1") == MAX_PIPELINED + 1


async def bodies(sent: bytes, size: int) -> list[Any]:
    """The method, the path and the body of each request that an app gets from bytes that arrive in pieces of a size."""
    got: list[Any] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        got.append((scope["method"], scope["path"], body))
        await PlainTextResponse("")(scope, receive, send)

    clients = Clients(served=app)
    client = clients.connect(sent[:size])
    for start in range(size, len(sent), size):
        client.send(sent[start : start + size])
    while clients.state.tasks:
        await clients.responses()
        await asyncio.sleep(0)
    assert client.transport.sent.count(b"HTTP/1.1 200") == len(got)
    assert client.state == "open"
    return got


SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPGRADE = (
    b" / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"
)
LENGTH = b"Content-Length: %d\r\n\r\n%s" % (len(SMUGGLED), SMUGGLED)
CHUNK = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\nX: trailer\r\n\r\n" % (len(SMUGGLED), SMUGGLED)


@pytest.mark.parametrize("size", [1, 120, 100_000])
@pytest.mark.parametrize("body", [LENGTH, CHUNK])
async def test_the_body_of_a_request_for_another_protocol_is_not_the_next_request(body: bytes, size: int) -> None:
    sent = (b"POST" + UPGRADE + body) * 2 + GET
    assert await bodies(sent, size) == [("POST", "/", SMUGGLED)] * 2 + [("GET", "/", b"")]


@pytest.mark.parametrize("size", [1, 120, 100_000])
async def test_what_follows_a_request_for_another_protocol_is_responded_to(size: int) -> None:
    sent = (b"GET" + UPGRADE + b"\r\n") * 2 + b"POST" + UPGRADE + b"Content-Length: 0\r\n\r\n" + GET
    methods = ["GET", "GET", "POST", "GET"]
    assert await bodies(sent, size) == [(method, "/", b"") for method in methods]


async def test_a_request_for_another_protocol_has_one_length() -> None:
    clients = Clients()
    client = clients.connect(b"POST" + UPGRADE + b"Transfer-Encoding: gzip\r\n\r\n" + SMUGGLED)
    assert (client.state, client.status) == ("closing", b"400")
    assert client.transport.sent.count(b"HTTP/1.1") == 1
    client.connection.connection_lost(None)
    await clients.responses()
