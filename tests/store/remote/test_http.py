"""Both transports on real connections: framing, connections kept and given up, TLS, proxies."""

from __future__ import annotations

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

from partita.errors import StoreClosed
from partita.store.remote._http import HttpTransport
from partita.store.remote._reqwest import ReqwestTransport
from partita.store.remote._sockets import SocketTransport
from partita.store.remote._transport import AnswerLost, HttpCall, Limits, NotSent

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
            try:
                with plain if self._context is None else self._context.wrap_socket(plain, server_side=True) as peer:
                    self._talk(peer)
            except OSError:
                plain.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.thread.join()


@contextmanager
def talking(talk: Talk, context: ssl.SSLContext | None = None) -> Iterator[TalkingServer]:
    server = TalkingServer(talk, context)
    try:
        yield server
    finally:
        server.close()


def read_call(peer: socket.socket) -> bytes:
    """One request, whose body is `{}`; empty where the client has gone."""
    received = b""
    while not received.endswith(b"\r\n\r\n{}"):
        part = peer.recv(65_536)
        if not part:
            return b""
        received += part
    return received


def saying(answer: bytes, *, times: int = 1) -> Talk:
    """Answer so many requests with these bytes, then close."""

    def talk(peer: socket.socket) -> None:
        for _ in range(times):
            if not read_call(peer):
                return
            peer.sendall(answer)

    return talk


def call_to(server: TalkingServer) -> HttpCall:
    return HttpCall(server.url, {"X-Amz-Target": "T"}, b"{}")


@pytest.fixture(params=["sockets", "reqwest"])
def transport(request: pytest.FixtureRequest) -> Iterator[SocketTransport | ReqwestTransport]:
    limits = Limits(connect=5, read=5, wait=0.05, connections=1)
    kept = SocketTransport(limits) if request.param == "sockets" else ReqwestTransport(limits, is_local=True)
    yield kept
    kept.close()


Either = SocketTransport | ReqwestTransport

FRAMES = {
    "by length": WHOLE,
    "in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    "and closed": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    "old": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_an_answer_is_read_however_it_is_framed(transport: Either, frame: bytes) -> None:
    with talking(saying(frame)) as server:
        answer = transport.send(call_to(server))
    assert (answer.status, bytes(answer.body)) == (200, b"{}")


def test_headers_are_found_in_any_case(transport: Either) -> None:
    with talking(saying(WHOLE)) as server:
        assert transport.send(call_to(server)).header("x-amzn-requestid") == "7"


BROKEN = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "half a body": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
    "half the chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
    "no HTTP": b"220 mail.example.org ESMTP\r\n\r\n",
    "a length that is none": b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}",
}


@pytest.mark.parametrize("frame", BROKEN.values(), ids=BROKEN.keys())
def test_an_answer_that_is_not_whole_is_lost(transport: Either, frame: bytes) -> None:
    with talking(saying(frame)) as server, pytest.raises(AnswerLost):
        transport.send(call_to(server))


def test_a_connection_is_used_again(transport: Either) -> None:
    with talking(saying(WHOLE, times=3)) as server:
        for _ in range(3):
            transport.send(call_to(server))
    assert server.accepted == 1


def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    transport = SocketTransport(Limits())
    with talking(saying(WHOLE)) as server:
        transport.send(call_to(server))
        (kept,) = transport._idle[server.url]
        while kept.is_usable(60):
            pass  # until the end of the connection has arrived
        transport.send(call_to(server))
        transport.close()
    assert server.accepted == 2


def test_a_connection_idle_for_too_long_is_not_used_again() -> None:
    transport = SocketTransport(Limits(idle=-1))
    with talking(saying(WHOLE, times=2)) as server:
        transport.send(call_to(server))
        transport.send(call_to(server))
        transport.close()
    assert server.accepted == 2


def test_without_a_connection_nothing_was_sent(transport: Either) -> None:
    with talking(saying(WHOLE)) as server:
        pass
    with pytest.raises(NotSent):
        transport.send(call_to(server))


def test_when_all_connections_are_in_use_nothing_was_sent(transport: Either) -> None:
    asked, answer = threading.Event(), threading.Event()

    def talk(peer: socket.socket) -> None:
        if read_call(peer):
            asked.set()
            answer.wait()
            peer.sendall(WHOLE)

    with talking(talk) as server:
        first = threading.Thread(target=transport.send, args=(call_to(server),))
        first.start()
        asked.wait()
        with pytest.raises(NotSent):
            transport.send(call_to(server))
        answer.set()
        first.join()


def test_a_closed_transport_says_so(transport: Either) -> None:
    with talking(saying(WHOLE)) as server:
        transport.send(call_to(server))
        transport.close()
        with pytest.raises(StoreClosed):
            transport.send(call_to(server))


def test_a_forked_process_has_connections_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = SocketTransport(Limits())
    with talking(saying(WHOLE, times=2)) as server:
        transport.send(call_to(server))
        kept = transport._idle[server.url]
        monkeypatch.setattr(os, "getpid", lambda: -1)
        kept[0].close()
        transport.send(call_to(server))
        transport.close()
    assert server.accepted == 2


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 with its key, and the one of who signed it, for clients to trust."""
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = signed("root", root_key, "root", root_key, x509.BasicConstraints(ca=True, path_length=None))
    server = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
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


async def test_both_trust_the_bundle_of_the_environment(
    certificate: Path, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate.with_suffix(".root")))
    with talking(saying(WHOLE), tls) as server:
        transport = HttpTransport(Limits(), server.url)
        assert transport.send(call_to(server)).status == 200
        assert (await transport.send_async(call_to(server))).status == 200
        transport.close()


async def test_neither_trusts_a_stranger(tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    with talking(saying(WHOLE), tls) as server:
        transport = HttpTransport(Limits(), server.url)
        with pytest.raises(NotSent):
            transport.send(call_to(server))
        with pytest.raises(NotSent):
            await transport.send_async(call_to(server))
        transport.close()


def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def proxied(peer: socket.socket) -> None:
        read_call(peer).index(b"POST http://dynamodb.example.org/ HTTP/1.1")
        peer.sendall(WHOLE)

    with talking(proxied) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        through = HttpTransport(Limits(), "http://dynamodb.example.org/")
        assert through.send(HttpCall("http://dynamodb.example.org/", {}, b"{}")).status == 200
        through.close()
        with talking(saying(WHOLE)) as server:
            direct = HttpTransport(Limits(), server.url)
            assert direct.send(call_to(server)).status == 200
            direct.close()
    assert proxy.accepted == 1
