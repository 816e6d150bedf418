"""Servers that send what a test specifies, and clients for them, blocking or awaited."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from partita._aws._connections import PooledConnection
from partita._aws._http_transport import HttpTransport
from partita._aws._transport import HttpRequest, HttpResponse, Limits

Talk = Callable[[socket.socket], None]

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Amzn-RequestId: 7\r\n\r\n{}"


class TalkingServer:
    """Accepts connections, and calls `talk` with each."""

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
    """Read one request, whose body is `{}`; return nothing if the client has closed the connection."""
    received = b""
    while not received.endswith(b"\r\n\r\n{}"):
        part = peer.recv(65_536)
        if not part:
            return b""
        received += part
    return received


def responding(response: bytes, *, times: int = 1) -> Talk:
    """Return a function that responds to this number of requests with these bytes, and then closes the connection."""

    def talk(peer: socket.socket) -> None:
        for _ in range(times):
            if not read_request(peer):
                return
            peer.sendall(response)

    return talk


def request_to(server: TalkingServer) -> HttpRequest:
    return HttpRequest(server.url, {"X-Amz-Target": "T"}, b"{}")


class Client:
    """A transport on which blocking and awaited requests are sent in the same way."""

    def __init__(self, limits: Limits, *, awaited: bool) -> None:
        self.transport = HttpTransport(limits)
        self.awaited = awaited

    def idle_connection(self, server: TalkingServer) -> PooledConnection:
        """Return the only connection to a server in the pool."""
        transport = self.transport._awaited if self.awaited else self.transport._blocking
        (connection,) = transport._pool._idle[server.url]
        return connection

    async def send(self, request: HttpRequest) -> HttpResponse:
        return await self.transport.send_async(request) if self.awaited else self.transport.send(request)
