"""Blocking and awaited requests on real connections: pooling and TLS."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
import threading

import pytest
from tests._aws.talking import WHOLE, Client, read_request, request_to, responding, talking

from partita._aws._transport import HttpRequest, Limits, RequestNotSent, ResponseLost
from partita.errors import StoreClosed


async def test_a_connection_is_used_again(client: Client) -> None:
    with talking(responding(WHOLE, times=3)) as server:
        for _ in range(3):
            await client.send(request_to(server))
    assert server.accepted == 1


async def test_a_connection_that_the_server_closed_is_not_used_again(client: Client) -> None:
    with talking(responding(WHOLE)) as server:
        await client.send(request_to(server))
        while client.idle_connection(server).is_usable(60):
            pass  # until the end of the connection has arrived
        await client.send(request_to(server))
    assert server.accepted == 2


@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "awaited"])
async def test_a_connection_idle_for_too_long_is_not_used_again(*, awaited: bool) -> None:
    client = Client(Limits(idle=-1), awaited=awaited)
    with talking(responding(WHOLE, times=2)) as server:
        await client.send(request_to(server))
        await client.send(request_to(server))
        client.transport.close()
    assert server.accepted == 2


async def test_without_a_connection_nothing_was_sent(client: Client) -> None:
    with talking(responding(WHOLE)) as server:
        pass
    with pytest.raises(RequestNotSent, match=r"^the connection was refused$") as refused:
        await client.send(request_to(server))
    assert refused.value.hint == "Start the server, or correct the address."


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(-2, "Name or service not known"), "its host name is unknown"),
        (TimeoutError("timed out"), "it did not respond in time"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "no route to host"),
        (OSError("the proxy refuses"), "the proxy refuses"),
    ],
)
async def test_what_prevents_a_connection_is_said_in_words(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: OSError, reason: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(socket, "create_connection", fail)
    with pytest.raises(RequestNotSent, match=f"^{reason}$"):
        await client.send(HttpRequest("http://127.0.0.1:1/", {}, b""))


async def test_when_all_connections_are_in_use_nothing_was_sent(client: Client) -> None:
    asked, may_respond = threading.Event(), threading.Event()

    def talk(peer: socket.socket) -> None:
        if read_request(peer):
            asked.set()
            may_respond.wait()
            peer.sendall(WHOLE)

    with talking(talk) as server:
        sending = (
            client.send(request_to(server))
            if client.awaited
            else asyncio.to_thread(client.transport.send, request_to(server))
        )
        first = asyncio.create_task(sending)
        await asyncio.to_thread(asked.wait)
        with pytest.raises(RequestNotSent):
            await client.send(request_to(server))
        may_respond.set()
        assert (await first).status == 200


async def test_a_task_that_is_cancelled_leaves_no_connection_behind() -> None:
    client = Client(Limits(), awaited=True)
    asked = threading.Event()

    def talk(peer: socket.socket) -> None:
        if read_request(peer):
            asked.set()
            peer.recv(1)  # until the client has closed the connection

    with talking(talk) as server:
        task = asyncio.create_task(client.send(request_to(server)))
        await asyncio.to_thread(asked.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert client.transport._awaited._pool._idle == {server.url: []}


def test_event_loops_share_connections() -> None:
    client = Client(Limits(), awaited=True)
    with talking(responding(WHOLE, times=2)) as server:
        asyncio.run(client.send(request_to(server)))
        asyncio.run(client.send(request_to(server)))
        client.transport.close()
    assert server.accepted == 1


async def test_a_closed_transport_says_so(client: Client) -> None:
    with talking(responding(WHOLE)) as server:
        await client.send(request_to(server))
        client.transport.close()
        with pytest.raises(StoreClosed):
            await client.send(request_to(server))


async def test_a_forked_process_has_connections_of_its_own(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with talking(responding(WHOLE, times=2)) as server:
        await client.send(request_to(server))
        parents = client.idle_connection(server)
        monkeypatch.setattr(os, "getpid", lambda: -1)
        await client.send(request_to(server))
    assert server.accepted == 2
    assert parents.socket.fileno() == -1  # closed here; the parent keeps its own copy open


async def test_the_bundle_of_the_environment_is_trusted(client: Client, tls: ssl.SSLContext, trusting: None) -> None:
    body = b"{" + b" " * 100_000 + b"}"  # several TLS records
    response = b"HTTP/1.1 200 OK\r\nContent-Length: 100002\r\n\r\n" + body
    with talking(responding(response, times=2), tls) as server:
        for _ in range(2):
            assert bytes((await client.send(request_to(server))).body) == body
        client.transport.close()
    assert server.accepted == 1


async def test_a_stranger_is_not_trusted(client: Client, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    with talking(responding(WHOLE), tls) as server, pytest.raises(RequestNotSent, match="certificate"):
        await client.send(request_to(server))


async def test_a_response_under_tls_that_is_not_complete_is_lost(
    client: Client, tls: ssl.SSLContext, trusting: None
) -> None:
    with (
        talking(responding(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"), tls) as server,
        pytest.raises(ResponseLost),
    ):
        await client.send(request_to(server))


@pytest.mark.parametrize("is_cut", [False, True], ids=["whole", "cut"])
async def test_under_tls_the_end_of_a_body_is_the_servers_and_not_the_networks(
    client: Client, tls: ssl.SSLContext, trusting: None, *, is_cut: bool
) -> None:
    def talk(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n{}")
        if not is_cut:
            assert isinstance(peer, ssl.SSLSocket)
            peer.unwrap()  # signals the end of the body

    with talking(talk, tls) as server:
        if is_cut:
            with pytest.raises(ResponseLost):
                await client.send(request_to(server))
        else:
            assert bytes((await client.send(request_to(server))).body) == b"{}"
