"""Awaited calls: tasks send and read on sockets that block nobody, whichever event loop runs them."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
import weakref
from asyncio import AbstractEventLoop

from partita._aws._dial import Dialer
from partita._aws._http import AnswerReader, encoded, start_of
from partita._aws._kept import CHUNK, Kept, KeptConnection, lost
from partita._aws._transport import HttpAnswer, HttpCall, Limits, NotSent


class LoopTransport:
    """As many calls at once on each event loop; connections are bound to none, so that one of any may take them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._dialer = Dialer(limits.connect)
        self._kept: Kept[LoopConnection] = Kept(limits.idle)
        self._slots: weakref.WeakKeyDictionary[AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()

    async def send_async(self, call: HttpCall) -> HttpAnswer:
        """Send and wait for the whole answer.

        Raises:
            NotSent: it certainly did not happen. AnswerLost: it may have happened.
        """
        if not self._kept.is_from_here():
            self._slots.clear()
        loop = asyncio.get_running_loop()
        slots = await self._slot(loop)
        try:
            connection = self._kept.take(call.url) or await self._connect(loop, call.url)
            answer = await connection.exchange(loop, call, self._limits.read)
            self._kept.put_back(call.url, connection, ended=answer.closes)
            return answer
        finally:
            slots.release()

    def close(self) -> None:
        """Close the connections."""
        self._kept.close()

    async def _slot(self, loop: AbstractEventLoop) -> asyncio.Semaphore:
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
            raise NotSent("all connections are in use") from error
        return slots

    async def _connect(self, loop: AbstractEventLoop, url: str) -> LoopConnection:
        """Connect in a thread, which finds the host and speaks to proxies, and shake hands here."""
        connecting = asyncio.ensure_future(asyncio.to_thread(self._dialer.connect, url))
        try:
            connected = await asyncio.shield(connecting)
            connected.setblocking(False)
            connection = LoopConnection(connected, start_of(url))
            if secured := self._dialer.tls_of(url):
                await connection.secure(loop, *secured, self._limits.connect)
        except OSError as error:
            raise NotSent(str(error) or type(error).__name__) from error
        except asyncio.CancelledError:
            connecting.add_done_callback(_close)
            raise
        return connection


def _close(connecting: asyncio.Future[socket.socket]) -> None:
    """Nobody waits any more for this connection."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


class LoopConnection(KeptConnection):
    """A connection that does not block."""

    def __init__(self, connected: socket.socket, start: str) -> None:
        super().__init__(connected, start)
        self._tls: Tls | None = None

    async def secure(self, loop: AbstractEventLoop, context: ssl.SSLContext, host: str, seconds: float) -> None:
        """Shake hands, in time; where that fails, the connection is closed."""
        self._tls = Tls(context, host)
        try:
            async with asyncio.timeout(seconds):
                while not self._tls.shake():
                    await loop.sock_sendall(self.socket, self._tls.outgoing.read())
                    self._tls.receive(await loop.sock_recv(self.socket, CHUNK))
                await loop.sock_sendall(self.socket, self._tls.outgoing.read())
        except BaseException:
            self.close()
            raise

    async def exchange(self, loop: AbstractEventLoop, call: HttpCall, seconds: float) -> HttpAnswer:
        """Send the call and read its answer; the silence in between may last for so many seconds.

        Raises:
            AnswerLost: it broke on the way; the connection is closed.
        """
        reader = AnswerReader()
        data = encoded(self.start, call)
        answer: HttpAnswer | None = None
        try:
            async with asyncio.timeout(seconds) as silence:
                await loop.sock_sendall(self.socket, data if self._tls is None else self._tls.encrypted(data))
                while answer is None:
                    received = await loop.sock_recv(self.socket, CHUNK)
                    silence.reschedule(loop.time() + seconds)
                    if self._tls is not None and received:
                        received = self._tls.decrypted(received)
                        if not received:
                            continue
                    answer = reader.feed(received)
        except (OSError, ValueError) as error:  # a time-out is an OSError
            self.close()
            raise lost(error) from error
        except BaseException:
            self.close()
            raise
        self.used = time.monotonic()
        return answer


class Tls:
    """TLS without input and output: bytes of the network to bytes of HTTP, and back."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self.outgoing, server_hostname=host)

    def shake(self) -> bool:
        """Go on with the handshake; True when it is done. What is to be sent is in `outgoing`.

        Raises:
            ssl.SSLError: the other end is not who it should be.
        """
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def receive(self, data: bytes) -> None:
        """Take what came from the network."""
        if not data:
            raise ConnectionError("the connection was closed during the handshake")
        self._incoming.write(data)

    def encrypted(self, data: bytes) -> bytes:
        """What to send for these bytes."""
        self._object.write(data)
        return self.outgoing.read()

    def decrypted(self, data: bytes) -> bytes:
        """What these bytes of the network bring; empty where a record is not complete yet."""
        self._incoming.write(data)
        parts = []
        try:
            while part := self._object.read(CHUNK):
                parts.append(part)
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass
        return b"".join(parts)
