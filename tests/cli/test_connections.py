"""Connections: slow clients have deadlines, and many of them do not lock others out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvicorn
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from partita.cli._connections import ConnectionLimits, LimitedConnection, WaitingConnections

pytestmark = pytest.mark.req("X04")

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"GET / HTTP/1.1\r\nX-Slow: "
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
LIMITS = ConnectionLimits(connections=3)


class Timer(Struct, eq=False):
    """A callback that the loop is to call later."""

    seconds: float
    callback: Callable[..., None]
    arguments: tuple[Any, ...]
    is_cancelled: bool = False

    def cancel(self) -> None:
        self.is_cancelled = True


class FakeLoop:
    """An event loop whose time advances only when a test says so."""

    def __init__(self) -> None:
        self.timers: list[Timer] = []
        self.now = 0.0
        self.handled: list[dict[str, Any]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, callback: Callable[..., None], *arguments: Any) -> Timer:
        self.timers.append(Timer(self.now + seconds, callback, arguments))
        return self.timers[-1]

    def call_soon(self, callback: Callable[..., None], *arguments: Any) -> asyncio.Handle:
        return asyncio.get_running_loop().call_soon(callback, *arguments)

    def create_task(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(coroutine)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.handled.append(context)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        due = [timer for timer in self.timers if timer.seconds <= self.now]
        self.timers = [timer for timer in self.timers if timer.seconds > self.now]
        for timer in due:
            if not timer.is_cancelled:
                timer.callback(*timer.arguments)


class FakeTransport(asyncio.Transport):
    """The server's end of a connection; the client reads only when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.unsent = 0
        self.state = "open"

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ARG002 - it has no address
        return default

    def write(self, data: Any) -> None:
        self.sent += data

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def is_closing(self) -> bool:
        return self.state != "open"

    def close(self) -> None:
        self.state = "closing" if self.state == "open" else self.state

    def abort(self) -> None:
        self.state = "aborted"

    def pause_reading(self) -> None:
        """Do nothing: the test decides what the client sends."""

    def resume_reading(self) -> None:
        """Do nothing: the test decides what the client sends."""


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond with the length of the body, but to `/early` with 413 before the body arrives."""
    if scope["path"] == "/early":
        await PlainTextResponse("too large", 413)(scope, receive, send)
        return
    body = await Request(scope, receive).body()
    await PlainTextResponse(str(len(body)))(scope, receive, send)


class Clients:
    """The connections of one server."""

    def __init__(self, limits: ConnectionLimits = LIMITS, served: Any = app) -> None:
        self.loop, self.limits = FakeLoop(), limits
        self.config = uvicorn.Config(served, log_config=None, lifespan="off")
        self.config.load()
        self.state, self.waiting = ServerState(), WaitingConnections()

    def connect(self, data: bytes = b"") -> Client:
        connection = LimitedConnection(
            limits=self.limits,
            waiting=self.waiting,
            config=self.config,
            server_state=self.state,
            app_state={},
            _loop=self.loop,
        )
        return Client(connection, data)

    async def responses(self) -> None:
        """Wait until the app has processed all requests."""
        while self.state.tasks:
            await asyncio.wait(self.state.tasks)


class Client:
    """A client with a connection to the server."""

    def __init__(self, connection: LimitedConnection, data: bytes) -> None:
        self.connection, self.transport = connection, FakeTransport()
        connection.connection_made(self.transport)
        if data:
            self.send(data)

    def send(self, data: bytes) -> None:
        self.connection.data_received(data)

    @property
    def status(self) -> bytes:
        """The status of the last response."""
        return self.transport.sent.rpartition(b"HTTP/1.1 ")[2][:3]

    @property
    def state(self) -> str:
        return self.transport.state


async def test_a_head_has_a_deadline_from_its_first_byte() -> None:
    clients = Clients()
    client = clients.connect(HALF)
    clients.loop.pass_time(5)
    client.send(b"still ")
    clients.loop.pass_time(4.9)
    assert client.state == "open"
    clients.loop.pass_time(0.1)
    assert (client.state, client.status) == ("closing", b"408")
    assert b'"code":"request_timeout"' in client.transport.sent


async def test_a_body_has_a_deadline_and_its_app_hears_of_it() -> None:
    clients = Clients()
    client = clients.connect(POST + b"12345")
    clients.loop.pass_time(29.9)
    client.send(b"6")
    assert client.state == "open"
    clients.loop.pass_time(0.1)
    assert (client.state, client.status) == ("closing", b"408")
    client.connection.connection_lost(None)
    await clients.responses()


async def test_a_body_that_nobody_reads_has_the_same_deadline() -> None:
    clients = Clients()
    client = clients.connect(POST.replace(b"/ ", b"/early "))
    await clients.responses()
    assert (client.state, client.status) == ("open", b"413")
    for _ in range(6):
        client.send(b"1")
        clients.loop.pass_time(5)
    assert (client.state, client.status) == ("closing", b"413")


@pytest.mark.parametrize("first", [b"", GET])
async def test_an_idle_connection_is_closed_without_a_response(first: bytes) -> None:
    clients = Clients()
    client = clients.connect(first)
    await clients.responses()
    sent = client.transport.sent
    clients.loop.pass_time(29.9)
    client.send(b"\r\n")  # an empty line does not begin a request
    assert client.state == "open"
    clients.loop.pass_time(0.1)
    assert (client.state, client.transport.sent) == ("closing", sent)


async def test_each_request_of_a_connection_has_its_own_deadlines() -> None:
    clients = Clients()
    client = clients.connect()
    for _ in range(5):
        clients.loop.pass_time(29)
        client.send(POST[:20])
        clients.loop.pass_time(9)
        client.send(POST[20:])
        clients.loop.pass_time(29)
        client.send(b"1234567890")
        await clients.responses()
    assert (client.state, client.transport.sent.count(b"200 OK")) == ("open", 5)


async def test_a_response_may_take_longer_than_every_deadline() -> None:
    ended = asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await ended.wait()
        await app(scope, receive, send)

    clients = Clients(served=slow)
    client = clients.connect(GET + HALF)  # the second request waits for the first one's response
    clients.loop.pass_time(1_000)
    assert client.state == "open"
    ended.set()
    await clients.responses()
    assert (client.state, client.status) == ("closing", b"200")


async def test_a_head_that_does_not_end_is_not_kept() -> None:
    clients = Clients()
    client = clients.connect(HALF)
    for _ in range(64):
        client.send(b"x" * 1_024)
    assert client.state == "open"
    client.send(b"x")
    assert (client.state, client.status) == ("closing", b"431")


async def test_the_one_that_waited_longest_makes_room() -> None:
    clients = Clients()
    served = clients.connect(GET)
    half, silent = clients.connect(HALF), clients.connect()
    await clients.responses()  # so the first client now waits last
    uploading = clients.connect(POST)
    assert [each.state for each in (half, silent, served, uploading)] == ["aborted", "open", "open", "open"]
    half.connection.connection_lost(None)
    newest = [clients.connect(GET) for _ in range(3)]
    assert [each.state for each in (silent, served, uploading)] == ["aborted", "aborted", "aborted"]
    uploading.connection.connection_lost(None)
    await clients.responses()
    assert [(each.state, each.status) for each in newest] == [("open", b"200")] * 3


async def test_where_none_waits_the_new_one_is_refused() -> None:
    ended = asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await ended.wait()
        await app(scope, receive, send)

    clients = Clients(served=slow)
    busy = [clients.connect(GET) for _ in range(3)]
    refused = clients.connect()
    assert (refused.state, refused.status) == ("closing", b"503")
    ended.set()
    await clients.responses()
    assert [each.status for each in busy] == [b"200"] * 3


async def test_a_client_must_go_on_reading() -> None:
    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await StreamingResponse(iter([b"x" * 10_000] * 10))(scope, receive, send)

    clients = Clients(served=large)
    client = clients.connect(GET)
    client.transport.unsent = 100_000
    client.connection.pause_writing()
    for _ in range(3):
        client.transport.unsent -= 16_384
        clients.loop.pass_time(30)
    assert client.state == "open"
    client.transport.unsent -= 16_383
    clients.loop.pass_time(30)
    assert client.state == "aborted"
    client.connection.connection_lost(OSError())
    await clients.responses()


async def test_a_closed_connection_does_not_wait_for_its_client_to_read() -> None:
    clients = Clients()
    client = clients.connect(GET.replace(b"Host", b"Connection: close\r\nHost"))
    await clients.responses()
    client.transport.unsent = 5
    assert (client.state, client.status) == ("closing", b"200")
    clients.loop.pass_time(30)
    assert client.state == "aborted"


async def test_a_lost_connection_leaves_nothing_behind() -> None:
    clients = Clients()
    for data in (b"", HALF, POST, GET):
        client = clients.connect(data)
        client.connection.pause_writing()
        client.connection.connection_lost(None)
        await clients.responses()
    assert (clients.waiting.heads, clients.waiting.bodies, clients.state.connections) == ({}, {}, set())
    assert [timer for timer in clients.loop.timers if not timer.is_cancelled] == []


async def test_requests_share_the_timer_of_their_connection() -> None:
    clients = Clients()
    client = clients.connect(GET)
    for _ in range(5):
        await clients.responses()
        clients.loop.pass_time(20)
        client.send(GET)
    assert [timer.is_cancelled for timer in clients.loop.timers] == [False]
    assert client.state == "open"
    await clients.responses()
    clients.loop.pass_time(30)
    assert client.state == "closing"


async def test_a_half_sent_head_on_a_socket_is_closed() -> None:
    clients = Clients(ConnectionLimits(head_seconds=0.01))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: LimitedConnection(
            limits=clients.limits,
            waiting=clients.waiting,
            config=clients.config,
            server_state=clients.state,
            app_state={},
        ),
        "127.0.0.1",
        0,
    )
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(HALF)
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        writer.close()
        await writer.wait_closed()
