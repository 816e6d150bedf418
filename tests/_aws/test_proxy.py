"""The proxy of the environment: which requests use it, with which credentials, and what it may respond."""

from __future__ import annotations

import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol
from urllib.parse import urlsplit

import pytest
from tests._aws.talking import WHOLE, Client, Talk, request_to, responding, talking

from partita._aws._http import MAX_HEAD
from partita._aws._proxy import Proxy, proxy_for
from partita._aws._transport import HttpRequest, RequestNotSent

FAR = HttpRequest("https://dynamodb.example.org/", {}, b"{}")


class UseProxy(Protocol):
    """Sets the proxy in the environment."""

    def __call__(self, proxy: str) -> None: ...


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> UseProxy:
    def use(proxy: str) -> None:
        for name in ("no_proxy", "NO_PROXY", "HTTPS_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("https_proxy", proxy)

    return use


def saying(response: bytes) -> Talk:
    """Return a function that sends these bytes to every client of a proxy."""

    def talk(peer: socket.socket) -> None:
        peer.recv(65_536)
        peer.sendall(response)

    return talk


async def test_a_host_elsewhere_is_reached_through_the_proxy(
    client: Client, tls: ssl.SSLContext, trusting: None, proxied: UseProxy
) -> None:
    asked: list[bytes] = []

    def talk(peer: socket.socket) -> None:
        asked.append(peer.recv(65_536))
        peer.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with tls.wrap_socket(peer, server_side=True) as secured:
            responding(WHOLE)(secured)

    with talking(talk) as proxy:
        proxied(proxy.url)
        assert (await client.send(FAR)).status == 200
        client.transport.close()
    assert asked == [b"CONNECT dynamodb.example.org:443 HTTP/1.1\r\nHost: dynamodb.example.org:443\r\n\r\n"]


async def test_a_proxy_that_refuses_is_named(client: Client, proxied: UseProxy) -> None:
    with talking(saying(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")) as proxy:
        proxied(proxy.url)
        with pytest.raises(RequestNotSent, match="407 Proxy Authentication Required"):
            await client.send(FAR)


async def test_this_machine_is_reached_without_the_proxy(
    client: Client, tls: ssl.SSLContext, trusting: None, proxied: UseProxy
) -> None:
    with talking(responding(WHOLE)) as proxy, talking(responding(WHOLE), tls) as server:
        proxied(proxy.url)
        assert (await client.send(request_to(server))).status == 200
        client.transport.close()
    assert proxy.accepted == 0


REFUSED = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 999999999999\r\n\r\n<html>"

CREDENTIALS = {
    "ada:secret": b"ada:secret",
    "ada%40example.org:p%40ss%3Aword%2F": b"ada@example.org:p@ss:word/",
    "ada:%C3%A9": "ada:\N{LATIN SMALL LETTER E WITH ACUTE}".encode(),
    "ada:p@ss": b"ada:p@ss",
    "ada": b"ada:",
}


@pytest.mark.parametrize(("written", "meant"), CREDENTIALS.items(), ids=CREDENTIALS.keys())
async def test_credentials_of_the_proxy_are_shown_to_it_and_to_nobody_else(
    client: Client, proxied: UseProxy, written: str, meant: bytes
) -> None:
    asked: list[bytes] = []

    def talk(peer: socket.socket) -> None:
        asked.append(peer.recv(65_536))
        peer.sendall(REFUSED)

    with talking(talk) as proxy:
        proxied(proxy.url.replace("//", f"//{written}@"))
        with pytest.raises(RequestNotSent) as caught:
            await client.send(FAR)
    assert asked[0].splitlines()[2:] == [b"Proxy-Authorization: Basic " + b64encode(meant), b""]
    assert str(caught.value) == "the proxy refused: 407 Proxy Authentication Required"


UNUSABLE = {
    "a password with a sharp": "http://ada:se#cret@127.0.0.1:3128",
    "a password with a slash": "http://ada:12/cret@127.0.0.1:3128",
    "a password with a question": "http://ada:12?cret@127.0.0.1:3128",
    "a port that is not a number": "http://ada:secret@127.0.0.1:cret",
    "a proxy under TLS": "https://ada:secret@127.0.0.1:3128",
    "another protocol": "socks5://ada:secret@127.0.0.1:3128",
    "no host": "http://ada:secret@",
    "brackets": "http://ada:secret@[127.0.0.1",
}


@pytest.mark.parametrize("url", UNUSABLE.values(), ids=UNUSABLE.keys())
async def test_a_proxy_that_cannot_be_used_is_not_passed_by(client: Client, proxied: UseProxy, url: str) -> None:
    proxied(url)
    with pytest.raises(RequestNotSent, match="HTTPS_PROXY cannot be used") as caught:
        await client.send(FAR)
    causes = list(chain_of(caught.value))
    assert len(causes) == 2
    assert not any("cret" in str(each) or "ada" in str(each) for each in causes)


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and all errors that a traceback would show with it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("url", ["ada:secret@proxy.example.org:3128", "http://ada:secret@proxy.example.org:3128/"])
def test_a_proxy_may_be_named_without_http(proxied: UseProxy, url: str) -> None:
    proxied(url)
    proxy = proxy_for(urlsplit(FAR.url))
    assert proxy == Proxy(("proxy.example.org", 3128), "Basic YWRhOnNlY3JldA==")
    assert repr(proxy) == "Proxy(('proxy.example.org', 3128))"


STRANGE = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nX: ",
    "not HTTP": b"220 mail.example.org ESMTP\r\n\r\n",
    "junk before the status": b"\r\nHTTP/1.1 200 OK\r\n\r\n",
    "only 100 Continue": b"HTTP/1.1 100 Continue\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    "space before a colon": b"HTTP/1.1 200 OK\r\nX : y\r\n\r\n",
}


@pytest.mark.parametrize("response", STRANGE.values(), ids=STRANGE.keys())
async def test_a_proxy_that_does_not_speak_http_is_not_trusted(
    client: Client, proxied: UseProxy, response: bytes
) -> None:
    with talking(saying(response)) as proxy:
        proxied(proxy.url)
        with pytest.raises(RequestNotSent, match="the proxy sent an invalid response"):
            await client.send(FAR)


async def test_the_response_of_a_proxy_has_a_bound(client: Client, proxied: UseProxy) -> None:
    refused = threading.Event()

    def talk(peer: socket.socket) -> None:
        peer.recv(65_536)
        peer.sendall(b"HTTP/1.1 200 OK\r\n")
        with suppress(OSError):  # a broken pipe or a reset, depending on timing
            while True:
                peer.sendall(b"X: y\r\n" * (MAX_HEAD // 6))
        refused.set()

    with talking(talk) as proxy:
        proxied(proxy.url)
        with pytest.raises(RequestNotSent, match="the head of the response is too long"):
            await client.send(FAR)
        assert refused.wait(60)


async def test_a_proxy_may_say_100_continue_first(
    client: Client, tls: ssl.SSLContext, trusting: None, proxied: UseProxy
) -> None:
    def talk(peer: socket.socket) -> None:
        peer.recv(65_536)
        peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        with tls.wrap_socket(peer, server_side=True) as secured:
            responding(WHOLE)(secured)

    with talking(talk) as proxy:
        proxied(proxy.url)
        assert (await client.send(FAR)).status == 200
        client.transport.close()
