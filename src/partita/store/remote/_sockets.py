"""Blocking HTTP/1.1 over plain sockets: one thread sends, waits and reads, so nothing has to be woken in between."""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
import time
from typing import Final
from urllib.parse import SplitResult, urlsplit

from partita.errors import StoreClosed
from partita.store.remote._transport import USER_AGENT, AnswerLost, HttpAnswer, HttpCall, Limits, NotSent

_CHUNK: Final = 65_536
_MAX_HEAD: Final = 65_536
_HEAD_END: Final = b"\r\n\r\n"


class SocketTransport:
    """Keeps connections for calls to come, the one used last first. Safe for threads; a forked process starts anew."""

    def __init__(self, limits: Limits, ca_bundle: str | None = None) -> None:
        self._limits = limits
        self._ca_bundle = ca_bundle
        self._tls: ssl.SSLContext | None = None
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._slots = threading.BoundedSemaphore(self._limits.connections)
        self._idle: dict[str, list[Connection]] = {}

    def send(self, call: HttpCall) -> HttpAnswer:
        """Send and wait for the whole answer.

        Raises:
            NotSent: it certainly did not happen. AnswerLost: it may have happened.
        """
        if self._closed:
            raise StoreClosed("The store was closed.")
        if self._process != os.getpid():
            self._start()
        slots = self._slots
        if not slots.acquire(timeout=self._limits.wait):
            raise NotSent("all connections are in use")
        try:
            connection = self._kept(call.url) or self._connect(call.url)
            answer = connection.exchange(call)
            self._keep(call.url, connection)
            return answer
        finally:
            slots.release()

    def close(self) -> None:
        """Close the connections; one in use is closed when its answer has come."""
        self._closed = True
        for connections in self._idle.values():
            while connections:
                connections.pop().close()

    def _kept(self, url: str) -> Connection | None:
        connections = self._idle.setdefault(url, [])
        while True:
            try:
                connection = connections.pop()
            except IndexError:
                return None
            if connection.is_usable(self._limits.idle):
                return connection
            connection.close()

    def _keep(self, url: str, connection: Connection) -> None:
        if connection.is_open and not self._closed:
            self._idle[url].append(connection)
        else:
            connection.close()

    def _connect(self, url: str) -> Connection:
        parts = urlsplit(url)
        host = parts.hostname or ""
        try:
            plain = socket.create_connection(
                (host, parts.port or (443 if parts.scheme == "https" else 80)), self._limits.connect
            )
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connected = self._secured(plain, host) if parts.scheme == "https" else plain
        except OSError as error:
            raise NotSent(str(error)) from error
        connected.settimeout(self._limits.read)
        return Connection(connected, parts)

    def _secured(self, plain: socket.socket, host: str) -> socket.socket:
        if self._tls is None:
            self._tls = ssl.create_default_context(cafile=self._ca_bundle)
        try:
            return self._tls.wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise


class Connection:
    """One connection, which carries one exchange at a time."""

    def __init__(self, connected: socket.socket, url: SplitResult) -> None:
        self._socket = connected
        self._start = f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nUser-Agent: {USER_AGENT}\r\n"
        self._used = time.monotonic()
        self.is_open = True

    def is_usable(self, idle_seconds: float) -> bool:
        """Whether it was used lately, and the other end has not closed it."""
        if time.monotonic() - self._used > idle_seconds:
            return False
        ready = select.poll()
        ready.register(self._socket, select.POLLIN)
        return not ready.poll(0)

    def close(self) -> None:
        """Close it; whoever waits for an answer loses it."""
        self.is_open = False
        self._socket.close()

    def exchange(self, call: HttpCall) -> HttpAnswer:
        """Send the call and read its answer.

        Raises:
            AnswerLost: it broke on the way; the connection is closed.
        """
        headers = "".join(f"{name}: {value}\r\n" for name, value in call.headers.items())
        head = f"{self._start}{headers}Content-Length: {len(call.body)}\r\n\r\n"
        try:
            self._socket.sendall(head.encode("latin-1") + call.body)
            return self._answer()
        except (OSError, ValueError) as error:
            self.close()
            raise AnswerLost(str(error) or type(error).__name__) from error
        except BaseException:
            self.close()
            raise
        finally:
            self._used = time.monotonic()

    def _answer(self) -> HttpAnswer:
        received = bytearray()
        while (end := received.find(_HEAD_END)) < 0:
            if len(received) > _MAX_HEAD:
                raise ValueError("the head of the answer has no end")
            received += self._receive()
        status, headers = _parsed(received[:end].decode("latin-1"))
        del received[: end + len(_HEAD_END)]
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = self._chunks(received)
        else:
            body = self._fill(received, int(headers["content-length"]))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return HttpAnswer(status, body, lambda name: headers.get(name.lower()))

    def _receive(self) -> bytes:
        part = self._socket.recv(_CHUNK)
        if not part:
            raise ValueError("the connection was closed before the answer was complete")
        return part

    def _fill(self, received: bytearray, size: int) -> bytes:
        while len(received) < size:
            received += self._receive()
        return bytes(received[:size])

    def _chunks(self, received: bytearray) -> bytes:
        body = bytearray()
        while True:
            while (end := received.find(b"\r\n")) < 0:
                received += self._receive()
            size = int(received[:end].partition(b";")[0], 16)
            del received[: end + 2]
            body += self._fill(received, size + 2)[:size]
            del received[: size + 2]
            if size == 0:
                return bytes(body)


def _parsed(head: str) -> tuple[int, dict[str, str]]:
    first, *lines = head.split("\r\n")
    version, status, *_ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if version != "HTTP/1.1":
        headers["connection"] = "close"
    return int(status), headers
