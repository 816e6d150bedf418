"""The transport over real connections: blocking requests and awaited ones, each with a pool of its own.

A blocking request is sent and read by its own thread, so no thread has to be woken in between. An awaited one uses a
socket that does not block, and belongs to no event loop, so that tasks of any loop may use it.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
import weakref
from asyncio import AbstractEventLoop

from partita._aws._connections import ConnectionPool, Connector, PooledConnection
from partita._aws._http import CHUNK, ResponseParser, Tls, encode_request
from partita._aws._transport import HttpRequest, HttpResponse, Limits, RequestNotSent, ResponseLost


class HttpTransport:
    """HTTP/1.1 over pooled connections. No redirects are followed, since that would repeat a write."""

    def __init__(self, limits: Limits) -> None:
        self._blocking = BlockingTransport(limits)
        self._awaited = AsyncTransport(limits)

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send and wait for the complete response."""
        return self._blocking.send(request)

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """The same, without blocking the event loop."""
        return await self._awaited.send_async(request)

    def close(self) -> None:
        """Close the connections. Closing twice does nothing."""
        self._blocking.close()
        self._awaited.close()


class BlockingTransport:
    """As many requests at once as there are connections; safe for threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._connector = Connector(limits.connect)
        self._pool: ConnectionPool[BlockingConnection] = ConnectionPool(limits.idle)
        self._slots = threading.BoundedSemaphore(limits.connections)

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send and wait for the complete response.

        Raises:
            RequestNotSent: it certainly did not happen. ResponseLost: it may have happened.
        """
        if self._pool.empty_after_fork():
            self._slots = threading.BoundedSemaphore(self._limits.connections)
        slots = self._slots
        if not slots.acquire(timeout=self._limits.wait):
            raise RequestNotSent("all connections are in use")
        try:
            connection = self._pool.acquire(request.url) or self._connect(request.url)
            response = connection.exchange(request)
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
                    connected = secured[0].wrap_socket(connected, server_hostname=secured[1])
            except BaseException:
                connected.close()
                raise
        except OSError as error:
            raise RequestNotSent(str(error)) from error
        connected.settimeout(self._limits.read)
        return BlockingConnection(connected, url)


class BlockingConnection(PooledConnection):
    """A connection that blocks."""

    def exchange(self, request: HttpRequest) -> HttpResponse:
        """Send the request and read its response.

        Raises:
            ResponseLost: it broke on the way; the connection is closed.
        """
        parser = ResponseParser()
        data = encode_request(self.prefix, request)
        try:
            self.socket.sendall(data)
            while (response := parser.feed(self.socket.recv(CHUNK))) is None:
                pass
        except (OSError, ValueError) as error:
            self.close()
            raise _lost(error) from error
        except BaseException:
            self.close()
            raise
        self.last_used = time.monotonic()
        return response


class AsyncTransport:
    """As many requests at once on each event loop as there are connections; the loops share the connections."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._connector = Connector(limits.connect)
        self._pool: ConnectionPool[AsyncConnection] = ConnectionPool(limits.idle)
        self._slots: weakref.WeakKeyDictionary[AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Send and wait for the complete response.

        Raises:
            RequestNotSent: it certainly did not happen. ResponseLost: it may have happened.
        """
        if self._pool.empty_after_fork():
            self._slots.clear()
        loop = asyncio.get_running_loop()
        slots = await self._acquire_slot(loop)
        try:
            connection = self._pool.acquire(request.url) or await self._connect(loop, request.url)
            response = await connection.exchange(loop, request, self._limits.read)
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
        """Connect in a thread, which resolves the host and speaks to proxies; the handshake of TLS is done here."""
        connecting = asyncio.ensure_future(asyncio.to_thread(self._connector.connect, url))
        try:
            connected = await asyncio.shield(connecting)
            connected.setblocking(False)
            connection = AsyncConnection(connected, url)
            if secured := self._connector.tls_of(url):
                await connection.secure(loop, *secured, self._limits.connect)
        except OSError as error:
            raise RequestNotSent(str(error) or type(error).__name__) from error
        except asyncio.CancelledError:
            connecting.add_done_callback(_close)
            raise
        return connection


def _close(connecting: asyncio.Future[socket.socket]) -> None:
    """Nobody waits any more for this connection."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


class AsyncConnection(PooledConnection):
    """A connection that does not block."""

    def __init__(self, connected: socket.socket, url: str) -> None:
        super().__init__(connected, url)
        self._tls: Tls | None = None

    async def secure(self, loop: AbstractEventLoop, context: ssl.SSLContext, host: str, seconds: float) -> None:
        """Do the handshake of TLS, in time; where that fails, the connection is closed."""
        self._tls = Tls(context, host)
        try:
            async with asyncio.timeout(seconds):
                while not self._tls.do_handshake():
                    await loop.sock_sendall(self.socket, self._tls.outgoing.read())
                    self._tls.receive(await loop.sock_recv(self.socket, CHUNK))
                await loop.sock_sendall(self.socket, self._tls.outgoing.read())
        except BaseException:
            self.close()
            raise

    async def exchange(self, loop: AbstractEventLoop, request: HttpRequest, seconds: float) -> HttpResponse:
        """Send the request and read its response; the silence in between may last for so many seconds.

        Raises:
            ResponseLost: it broke on the way; the connection is closed.
        """
        parser = ResponseParser()
        data = encode_request(self.prefix, request)
        response: HttpResponse | None = None
        try:
            async with asyncio.timeout(seconds) as silence:
                await loop.sock_sendall(self.socket, data if self._tls is None else self._tls.encrypt(data))
                while response is None:
                    received = await loop.sock_recv(self.socket, CHUNK)
                    silence.reschedule(loop.time() + seconds)
                    if self._tls is not None and received:
                        received = self._tls.decrypt(received)
                        if not received:
                            continue
                    response = parser.feed(received)
        except (OSError, ValueError) as error:  # a time-out is an OSError
            self.close()
            raise _lost(error) from error
        except BaseException:
            self.close()
            raise
        self.last_used = time.monotonic()
        return response


def _lost(error: Exception) -> ResponseLost:
    return ResponseLost(str(error) or type(error).__name__)
