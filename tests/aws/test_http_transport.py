"""Blocking and awaited requests on real connections: framing, pooling, TLS, proxies."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import ipaddress
import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from partita._aws._connections import PooledConnection
from partita._aws._http_transport import HttpTransport
from partita._aws._transport import HttpRequest, HttpResponse, Limits, RequestNotSent, ResponseLost
from partita.errors import StoreClosed

Talk = Callable[[socket.socket], None]

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Amzn-RequestId: 7\r\n\r\n{}"


class TalkingServer:
    """Accepts connections and talks to each as it is told."""

    def __init__(self, talk: Talk, context: ssl.SSLContext | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._talk = talk
        self._context = context
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._listener.getsockname()[1]}/"
        self._peers: list[socket.socket] = []
        self.accepted = 0
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            self._peers.append(plain)
            try:
                with plain if self._context is None else self._context.wrap_socket(plain, server_side=True) as peer:
                    self._talk(peer)
            except OSError:
                plain.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for peer in self._peers:
            with contextlib.suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        self.thread.join()


@contextmanager
def talking(talk: Talk, context: ssl.SSLContext | None = None) -> Iterator[TalkingServer]:
    server = TalkingServer(talk, context)
    try:
        yield server
    finally:
        server.close()


def read_request(peer: socket.socket) -> bytes:
    """One request, whose body is `{}`; empty where the client has gone."""
    received = b""
    while not received.endswith(b"\r\n\r\n{}"):
        part = peer.recv(65_536)
        if not part:
            return b""
        received += part
    return received


def responding(response: bytes, *, times: int = 1) -> Talk:
    """Respond to so many requests with these bytes, then close."""

    def talk(peer: socket.socket) -> None:
        for _ in range(times):
            if not read_request(peer):
                return
            peer.sendall(response)

    return talk


def request_to(server: TalkingServer) -> HttpRequest:
    return HttpRequest(server.url, {"X-Amz-Target": "T"}, b"{}")


class Client:
    """A transport through which a test sends, blocking or awaited, in one way."""

    def __init__(self, limits: Limits, *, awaited: bool) -> None:
        self.transport = HttpTransport(limits)
        self.awaited = awaited

    def idle_connection(self, server: TalkingServer) -> PooledConnection:
        """The one connection in the pool for a server."""
        transport = self.transport._awaited if self.awaited else self.transport._blocking
        (connection,) = transport._pool._idle[server.url]
        return connection

    async def send(self, request: HttpRequest) -> HttpResponse:
        return await self.transport.send_async(request) if self.awaited else self.transport.send(request)


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    client = Client(Limits(connect=5, read=5, wait=0.05, connections=1), awaited=request.param)
    yield client
    client.transport.close()


FRAMES = {
    "by length": WHOLE,
    "in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    "and closed": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    "old": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
async def test_a_response_is_read_however_it_is_framed(client: Client, frame: bytes) -> None:
    with talking(responding(frame)) as server:
        response = await client.send(request_to(server))
    assert (response.status, bytes(response.body)) == (200, b"{}")


async def test_headers_are_found_in_any_case(client: Client) -> None:
    with talking(responding(WHOLE)) as server:
        assert (await client.send(request_to(server))).header("x-amzn-requestid") == "7"


BROKEN = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "half a body": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
    "half the chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
    "not HTTP": b"220 mail.example.org ESMTP\r\n\r\n",
    "a length that is not a number": b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}",
}


@pytest.mark.parametrize("frame", BROKEN.values(), ids=BROKEN.keys())
async def test_a_response_that_is_not_complete_is_lost(client: Client, frame: bytes) -> None:
    with talking(responding(frame)) as server, pytest.raises(ResponseLost):
        await client.send(request_to(server))


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
    with pytest.raises(RequestNotSent):
        await client.send(request_to(server))


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
            peer.recv(1)  # until the client has gone

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
        parents.close()
        await client.send(request_to(server))
    assert server.accepted == 2


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 with its key, and the one of who signed it, for clients to trust."""
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = signed("root", root_key, "root", root_key, x509.BasicConstraints(ca=True, path_length=None))
    server = x509.SubjectAlternativeName(
        [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("dynamodb.example.org")]
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(signed("server", key, "root", root_key, server))
    path.with_suffix(".root").write_bytes(root)
    path.with_suffix(".key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


def signed(
    subject: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> bytes:
    """A certificate of today."""
    by, of = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in (issuer, subject))
    day, now = dt.timedelta(days=1), dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(by, of, key.public_key(), x509.random_serial_number(), now - day, now + day)
    certificate = made.add_extension(extension, critical=False).sign(issuer_key, hashes.SHA256())
    return certificate.public_bytes(serialization.Encoding.PEM)


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    return context


@pytest.fixture
def trusting(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate.with_suffix(".root")))


async def test_the_bundle_of_the_environment_is_trusted(client: Client, tls: ssl.SSLContext, trusting: None) -> None:
    body = b"{" + b" " * 100_000 + b"}"  # several records of TLS
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
    with talking(responding(BROKEN["half a body"]), tls) as server, pytest.raises(ResponseLost):
        await client.send(request_to(server))


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
