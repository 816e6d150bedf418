"""Through the proxy of the environment: who is sent there, with which credentials, and what it may respond."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable

import pytest
from tests.aws.talking import WHOLE, Client, TalkingServer, request_to, responding, talking

from partita._aws._transport import HttpRequest, RequestNotSent

FAR = HttpRequest("https://dynamodb.example.org/", {}, b"{}")


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Callable[[TalkingServer], None]:
    """Makes a server the proxy of the environment."""

    def use(proxy: TalkingServer) -> None:
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("https_proxy", proxy.url)

    return use


async def test_a_host_elsewhere_is_reached_through_the_proxy(
    client: Client, tls: ssl.SSLContext, trusting: None, proxied: Callable[[TalkingServer], None]
) -> None:
    asked: list[bytes] = []

    def talk(peer: socket.socket) -> None:
        asked.append(peer.recv(65_536))
        peer.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with tls.wrap_socket(peer, server_side=True) as secured:
            responding(WHOLE)(secured)

    with talking(talk) as proxy:
        proxied(proxy)
        assert (await client.send(FAR)).status == 200
        client.transport.close()
    assert asked == [b"CONNECT dynamodb.example.org:443 HTTP/1.1\r\nHost: dynamodb.example.org:443\r\n\r\n"]


async def test_a_proxy_that_refuses_is_named(client: Client, proxied: Callable[[TalkingServer], None]) -> None:
    def talk(peer: socket.socket) -> None:
        peer.recv(65_536)
        peer.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    with talking(talk) as proxy:
        proxied(proxy)
        with pytest.raises(RequestNotSent, match="407 Proxy Authentication Required"):
            await client.send(FAR)


async def test_this_machine_is_reached_without_the_proxy(
    client: Client, tls: ssl.SSLContext, trusting: None, proxied: Callable[[TalkingServer], None]
) -> None:
    with talking(responding(WHOLE)) as proxy, talking(responding(WHOLE), tls) as server:
        proxied(proxy)
        assert (await client.send(request_to(server))).status == 200
        client.transport.close()
    assert proxy.accepted == 0
