"""The transport over real connections: blocking and async requests, each with their own connection pool.

The thread of a blocking request sends it and reads its response itself, so no other thread has to be woken. An async
request uses a non-blocking socket that is not bound to an event loop, so tasks of any loop may use it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import threading
import time
import weakref
from asyncio import AbstractEventLoop

from partita._aws._connections import ConnectionPool, Connector, PendingConnection, PooledConnection
from partita._aws._http import CHUNK, ResponseParser, Tls, encode_request
from partita._aws._pace import Pace
from partita._aws._transport import HttpRequest, HttpResponse, Limits, RequestNotSent, ResponseLost


class HttpTransport:
    """HTTP/1.1 over pooled connections. Redirects are not followed, because that would repeat a write."""

    def __init__(self, limits: Limits) -> None:
        self._blocking = BlockingTransport(limits)
        self._awaited = AsyncTransport(limits)

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and wait for the complete response."""
        return self._blocking.send(request)

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Do the same without blocking the event loop."""
        return await self._awaited.send_async(request)

    def close(self) -> None:
        """Close the connections. Closing twice does nothing."""
        self._blocking.close()
        self._awaited.close()


class BlockingTransport:
    """Sends blocking requests, as many at once as `limits.connections` allows; thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._connector = Connector(limits.connect)
        self._pool: ConnectionPool[BlockingConnection] = ConnectionPool(limits.idle)
        self._slots = threading.BoundedSemaphore(limits.connections)

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and wait for the complete response.

        Raises:
            RequestNotSent: the request was certainly not executed. ResponseLost: it may have been executed.
        """
        if self._pool.empty_after_fork():
            self._slots = threading.BoundedSemaphore(self._limits.connections)
        data = _encoded(request)
        slots = self._slots
        if not slots.acquire(timeout=self._limits.wait):
            raise RequestNotSent("all connections are in use")
        try:
            connection = self._pool.acquire(request.url) or self._connect(request.url)
            response = connection.exchange(data, self._limits)
            self._pool.release(request.url, connection, closes=response.closes)
            return response
        finally:
            slots.release()

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _connect(self, url: str) -> BlockingConnection:
        try:
            connected = self._connector.connect(url)
            try:
                if secured := self._connector.tls_of(url):
                    connected = _wrapped(connected, *secured)
                    connected.do_handshake()
                connected.settimeout(self._limits.read)
            except BaseException:
                connected.close()
                raise
        except OSError as error:
            raise RequestNotSent(*_reason_and_hint(error)) from error
        return BlockingConnection(connected)


def _wrapped(connected: socket.socket, context: ssl.SSLContext, host: str) -> ssl.SSLSocket:
    """Return the connection with TLS, before the handshake. Without a close_notify, its end is an error."""
    return context.wrap_socket(
        connected, server_hostname=host, do_handshake_on_connect=False, suppress_ragged_eofs=False
    )


class BlockingConnection(PooledConnection):
    """A blocking connection."""

    def exchange(self, data: bytes, limits: Limits) -> HttpResponse:
        """Send a request and read its response.

        Raises:
            ResponseLost: the exchange failed; the connection is closed.
        """
        try:
            parser, pace = ResponseParser(limits.response_bytes), Pace(limits.read)
            self.socket.sendall(data)
            while (response := parser.feed(received := self.socket.recv(CHUNK))) is None:
                pace.check(len(received))
        except (OSError, ValueError) as error:
            self.close()
            raise _lost(error) from error
        except BaseException:
            self.close()
            raise
        self.last_used = time.monotonic()
        return response


class AsyncTransport:
    """Sends async requests, as many at once on each event loop as `limits.connections`; the loops share the pool."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._connector = Connector(limits.connect)
        self._pool: ConnectionPool[AsyncConnection] = ConnectionPool(limits.idle)
        self._slots: weakref.WeakKeyDictionary[AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Send a request and wait for the complete response.

        Raises:
            RequestNotSent: the request was certainly not executed. ResponseLost: it may have been executed.
        """
        if self._pool.empty_after_fork():
            self._slots.clear()
        data = _encoded(request)
        loop = asyncio.get_running_loop()
        slots = await self._acquire_slot(loop)
        try:
            connection = self._pool.acquire(request.url) or await self._connect(loop, request.url)
            response = await connection.exchange(loop, data, self._limits)
            self._pool.release(request.url, connection, closes=response.closes)
            return response
        finally:
            slots.release()

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    async def _acquire_slot(self, loop: AbstractEventLoop) -> asyncio.Semaphore:
        slots = self._slots.get(loop)
        if slots is None:
            slots = self._slots[loop] = asyncio.Semaphore(self._limits.connections)
        if not slots.locked():
            await slots.acquire()
            return slots
        try:
            async with asyncio.timeout(self._limits.wait):
                await slots.acquire()
        except TimeoutError as error:
            raise RequestNotSent("all connections are in use") from error
        return slots

    async def _connect(self, loop: AbstractEventLoop, url: str) -> AsyncConnection:
        """Connect in a thread, which also resolves the host and opens the proxy tunnel; do the TLS handshake here."""
        pending = PendingConnection(self._connector)
        try:
            connected = await asyncio.to_thread(pending.connect, url)
            connected.setblocking(False)
            connection = AsyncConnection(connected)
            if secured := self._connector.tls_of(url):
                await connection.secure(loop, *secured, self._limits.connect)
        except OSError as error:
            pending.abandon()
            raise RequestNotSent(*_reason_and_hint(error)) from error
        except BaseException:
            pending.abandon()
            raise
        return connection


class AsyncConnection(PooledConnection):
    """A non-blocking connection."""

    def __init__(self, connected: socket.socket) -> None:
        super().__init__(connected)
        self._tls: Tls | None = None

    async def secure(self, loop: AbstractEventLoop, context: ssl.SSLContext, host: str, seconds: float) -> None:
        """Do the TLS handshake within `seconds`.

        Raises:
            OSError: the handshake failed.
        """
        self._tls = Tls(context, host)
        async with asyncio.timeout(seconds):
            while not self._tls.do_handshake():
                await loop.sock_sendall(self.socket, self._tls.outgoing.read())
                self._tls.receive(await loop.sock_recv(self.socket, CHUNK))
            await loop.sock_sendall(self.socket, self._tls.outgoing.read())

    def is_usable(self, idle_seconds: float) -> bool:
        """The same as in `PooledConnection`, and the other end has not sent a TLS close_notify."""
        return not (self._tls is not None and self._tls.is_ended) and super().is_usable(idle_seconds)

    async def exchange(self, loop: AbstractEventLoop, data: bytes, limits: Limits) -> HttpResponse:
        """Send a request and read its response; each silence may last for up to `limits.read`.

        Raises:
            ResponseLost: the exchange failed; the connection is closed.
        """
        try:
            parser, pace = ResponseParser(limits.response_bytes), Pace(limits.read)
            async with asyncio.timeout(limits.read) as silence:
                await loop.sock_sendall(self.socket, data if self._tls is None else self._tls.encrypt(data))
                while (response := self._feed(parser, received := await loop.sock_recv(self.socket, CHUNK))) is None:
                    pace.check(len(received))
                    silence.reschedule(loop.time() + limits.read)
        except (OSError, ValueError) as error:  # TimeoutError is an OSError
            self.close()
            raise _lost(error) from error
        except BaseException:
            self.close()
            raise
        self.last_used = time.monotonic()
        return response

    def _feed(self, parser: ResponseParser, received: bytes) -> HttpResponse | None:
        if self._tls is None:
            return parser.feed(received)
        part = self._tls.decrypt(received)
        response = parser.feed(part) if part else None
        return parser.feed(b"") if response is None and self._tls.is_ended else response


def _encoded(request: HttpRequest) -> bytes:
    """Return the bytes of the request. Called before connecting, so that an error leaves no connection open."""
    try:
        return encode_request(request)
    except ValueError:
        reason = "a header has characters that HTTP cannot carry"  # not which header: its value may be a secret
    raise RequestNotSent(reason)


def _lost(error: Exception) -> ResponseLost:
    return ResponseLost(_reason_and_hint(error)[0])


def _reason_and_hint(error: Exception) -> tuple[str, str]:
    """Return what failed, in words instead of with the number of the error, and what may help."""
    if isinstance(error, socket.gaierror):
        return "its host name is unknown", "Correct the name, or check the network."
    if isinstance(error, ConnectionRefusedError):
        return "the connection was refused", "Start the server, or correct the address."
    if isinstance(error, TimeoutError):
        return "it did not respond in time", "Check the address, the network and the firewall."
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno).lower(), ""
    return str(error) or type(error).__name__, ""
