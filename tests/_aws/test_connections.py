"""Connections: checked before they are reused, and closed whatever happens to the request."""

from __future__ import annotations

import asyncio
import fcntl
import resource
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests._aws.talking import WHOLE, Client, read_request, request_to, responding, talking
from tests.store.remote.scripted import KEYS

from partita._aws._connections import ConnectionPool, PooledConnection
from partita._aws._transport import HttpRequest, Limits, RequestNotSent
from partita.errors import StoreClosed
from partita.queue import Send
from partita.queue.sqs import SqsQueue
from partita.store import GetItem
from partita.store.remote import RemoteStore

URL = "http://127.0.0.1:8000/"


class Made:
    """Replaces `socket.create_connection`: connects once `may_connect` is set, and records the sockets."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []
        self.asked, self.may_connect = threading.Event(), threading.Event()
        self.may_connect.set()
        self._connect = socket.create_connection

    def __call__(self, *args: Any) -> socket.socket:
        self.asked.set()
        self.may_connect.wait()
        self.sockets.append(self._connect(*args))
        return self.sockets[-1]

    def are_closed(self) -> bool:
        """Whether there were any sockets, and all of them are closed."""
        return bool(self.sockets) and all(each.fileno() == -1 for each in self.sockets)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    made = Made()
    monkeypatch.setattr(socket, "create_connection", made)
    return made


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a server that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


@pytest.fixture
def connection() -> Iterator[PooledConnection]:
    here, there = socket.socketpair()
    yield PooledConnection(here)
    here.close()
    there.close()


def is_closed(connection: PooledConnection) -> bool:
    return connection.socket.fileno() == -1


class TestWithoutPoll:
    """Platforms without `select.poll`, such as Windows."""

    @pytest.fixture(autouse=True)
    def _no_poll(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(select, "poll")

    async def test_a_connection_is_used_again(self, client: Client) -> None:
        with talking(responding(WHOLE, times=2)) as server:
            for _ in range(2):
                await client.send(request_to(server))
        assert server.accepted == 1

    async def test_a_connection_that_the_server_closed_is_not_used_again(self, client: Client) -> None:
        with talking(responding(WHOLE)) as server:
            await client.send(request_to(server))
            while client.idle_connection(server).is_usable(60):
                pass  # until the end of the connection has arrived
            await client.send(request_to(server))
        assert server.accepted == 2


def test_a_connection_is_checked_however_many_files_are_open(connection: PooledConnection) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2_048), hard))
    try:
        number = fcntl.fcntl(connection.socket, fcntl.F_DUPFD_CLOEXEC, 1_024)  # more than `select.select` supports
        with socket.socket(fileno=number) as high:
            assert PooledConnection(high).is_usable(60)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class AppendedLate(list[PooledConnection]):
    """The idle connections of a pool that another thread closes while one is added."""

    def __init__(self, pool: ConnectionPool[PooledConnection]) -> None:
        self._pool = pool

    def append(self, connection: PooledConnection) -> None:
        self._pool.close()
        super().append(connection)


def test_a_connection_that_is_released_while_the_pool_is_closed_is_closed(connection: PooledConnection) -> None:
    pool: ConnectionPool[PooledConnection] = ConnectionPool(60)
    pool._idle[URL] = AppendedLate(pool)
    pool.release(URL, connection, closes=False)
    assert is_closed(connection)


def test_closing_a_pool_closes_what_comes_meanwhile(connection: PooledConnection) -> None:
    class ReleasesAnother(PooledConnection):
        def close(self) -> None:
            pool.release("http://127.0.0.1:9000/", connection, closes=False)
            super().close()

    pool: ConnectionPool[PooledConnection] = ConnectionPool(60)
    first = ReleasesAnother(socket.socket())
    pool.release(URL, first, closes=False)
    pool.close()
    assert is_closed(first)
    assert is_closed(connection)


async def test_who_waits_for_a_connection_when_the_store_is_closed_learns_it() -> None:
    asked, may_respond = threading.Event(), threading.Event()

    def talk(peer: socket.socket) -> None:
        if read_request(peer):
            asked.set()
            may_respond.wait()
            peer.sendall(WHOLE)

    client = Client(Limits(connections=1), awaited=True)
    with talking(talk) as server:
        first = asyncio.create_task(client.send(request_to(server)))
        await asyncio.to_thread(asked.wait)
        second = asyncio.create_task(client.send(request_to(server)))
        await asyncio.sleep(0)  # it waits for a connection now
        client.transport.close()
        may_respond.set()
        assert (await first).status == 200
        with pytest.raises(StoreClosed):
            await second
    assert server.accepted == 1


async def test_a_request_that_cannot_be_sent_leaves_no_connection_behind(client: Client, made: Made) -> None:
    secret = "s\N{EURO SIGN}cret"
    with pytest.raises(RequestNotSent, match="characters that HTTP cannot carry") as caught:
        await client.send(HttpRequest(URL, {"X-Amz-Security-Token": secret}, b"{}"))
    assert made.sockets == []
    assert caught.value.__cause__ is caught.value.__context__ is None  # these would show the secret


async def test_certificates_that_cannot_be_read_leave_no_connection_behind(
    client: Client, made: Made, silent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "missing.pem"))
    with pytest.raises(RequestNotSent):
        await client.send(HttpRequest(silent.replace("http", "https"), {}, b"{}"))
    assert made.are_closed()


async def test_a_failed_handshake_leaves_no_connection_behind(
    client: Client, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def talk(peer: socket.socket) -> None:
        peer.recv(65_536)
        peer.sendall(WHOLE)  # not TLS

    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    with talking(talk) as server, pytest.raises(RequestNotSent):
        await client.send(HttpRequest(server.url.replace("http", "https"), {}, b"{}"))
    assert made.are_closed()


def test_a_handshake_that_is_interrupted_leaves_no_connection_behind(
    silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted: list[ssl.SSLSocket] = []

    def interrupt(secured: ssl.SSLSocket) -> None:
        interrupted.append(secured)
        raise KeyboardInterrupt

    monkeypatch.setattr(ssl.SSLSocket, "do_handshake", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Client(Limits(), awaited=False).transport.send(HttpRequest(silent.replace("http", "https"), {}, b"{}"))
    assert [each.fileno() for each in interrupted] == [-1]


async def test_a_task_that_is_cancelled_while_it_connects_leaves_no_connection_behind(made: Made, silent: str) -> None:
    made.may_connect.clear()
    task = asyncio.create_task(Client(Limits(), awaited=True).send(HttpRequest(silent, {}, b"{}")))
    await asyncio.to_thread(made.asked.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    made.may_connect.set()
    await asyncio.get_running_loop().shutdown_default_executor()  # waits until the thread has ended
    assert made.are_closed()


def the_store(url: str) -> tuple[RemoteStore, Callable[[int], Any]]:
    store = RemoteStore(url, credentials=KEYS, limits=Limits(connections=4))
    return store, lambda number: store.execute_async(GetItem("table", {"pk": str(number)}))


def the_queue(url: str) -> tuple[SqsQueue, Callable[[int], Any]]:
    queue = SqsQueue("queue", url, region="eu-west-1", credentials=KEYS)
    return queue, lambda number: queue.execute_async(Send("body", "group", str(number)))


@pytest.mark.parametrize("at", [the_store, the_queue])
def test_an_event_loop_that_ends_with_many_requests_leaves_no_connection_behind(
    at: Callable[[str], tuple[RemoteStore | SqsQueue, Callable[[int], Any]]], made: Made, silent: str
) -> None:
    made.may_connect.clear()
    opened, send = at(silent)

    async def send_one(number: int) -> None:
        try:
            await send(number)
        finally:
            made.may_connect.set()  # after the cancellation, the connections are made although nobody waits for them

    async def end_while_they_connect() -> None:
        tasks = [asyncio.create_task(send_one(number)) for number in range(40)]
        await asyncio.to_thread(made.asked.wait)
        assert not any(task.done() for task in tasks)

    with opened, suppress(asyncio.CancelledError):
        asyncio.run(end_while_they_connect())
    assert made.are_closed()
