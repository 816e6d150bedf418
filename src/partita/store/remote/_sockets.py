"""Blocking calls: a thread sends, waits and reads on its own socket, so nothing has to be woken in between."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from typing import Final, TypeVar

from partita.errors import StoreClosed
from partita.store.remote._dial import Dialer
from partita.store.remote._http import AnswerReader, encoded, start_of
from partita.store.remote._transport import AnswerLost, HttpAnswer, HttpCall, Limits, NotSent

CHUNK: Final = 65_536


class SocketTransport:
    """Keeps connections for calls to come, the one used last first. Safe for threads; a forked process starts anew."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._dialer = Dialer(limits.connect)
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
        slots, idle = self._slots, self._idle.setdefault(call.url, [])
        if not slots.acquire(timeout=self._limits.wait):
            raise NotSent("all connections are in use")
        try:
            connection = last_usable(idle, self._limits.idle) or self._connect(call.url)
            answer = connection.exchange(call)
            if answer.closes or self._closed:
                connection.close()
            else:
                idle.append(connection)
            return answer
        finally:
            slots.release()

    def close(self) -> None:
        """Close the connections; one in use is closed when its answer has come."""
        self._closed = True
        for connections in self._idle.values():
            while connections:
                connections.pop().close()

    def _connect(self, url: str) -> Connection:
        try:
            connected = self._dialer.connect(url)
            try:
                if secured := self._dialer.tls_of(url):
                    connected = secured[0].wrap_socket(connected, server_hostname=secured[1])
            except BaseException:
                connected.close()
                raise
        except OSError as error:
            raise NotSent(str(error)) from error
        connected.settimeout(self._limits.read)
        return Connection(connected, start_of(url))


class KeptConnection:
    """What both kinds of connection have: a socket, and when it was used last."""

    def __init__(self, connected: socket.socket, start: str) -> None:
        self.socket = connected
        self.start = start
        self.used = time.monotonic()

    def is_usable(self, idle_seconds: float) -> bool:
        """Whether it was used lately, and the other end has not closed it."""
        if time.monotonic() - self.used > idle_seconds:
            return False
        ready = select.poll()
        ready.register(self.socket, select.POLLIN)
        return not ready.poll(0)

    def close(self) -> None:
        """Close it."""
        self.socket.close()


C = TypeVar("C", bound=KeptConnection)


class Connection(KeptConnection):
    """A connection that blocks; it carries one exchange at a time."""

    def exchange(self, call: HttpCall) -> HttpAnswer:
        """Send the call and read its answer.

        Raises:
            AnswerLost: it broke on the way; the connection is closed.
        """
        reader = AnswerReader()
        data = encoded(self.start, call)
        try:
            self.socket.sendall(data)
            while (answer := reader.feed(self.socket.recv(CHUNK))) is None:
                pass
        except (OSError, ValueError) as error:
            self.close()
            raise lost(error) from error
        except BaseException:
            self.close()
            raise
        self.used = time.monotonic()
        return answer


def last_usable(idle: list[C], idle_seconds: float) -> C | None:
    """Take the connection that was used last, and close those that can be used no more."""
    while idle:
        try:
            connection = idle.pop()
        except IndexError:  # another thread was faster
            break
        if connection.is_usable(idle_seconds):
            return connection
        connection.close()
    return None


def lost(error: Exception) -> AnswerLost:
    """An answer that does not come, and why."""
    return AnswerLost(str(error) or type(error).__name__)
