"""Connections that are kept for calls to come, whichever way they are used: the one used last first."""

from __future__ import annotations

import os
import select
import socket
import time
from typing import Final, Generic, TypeVar

from partita._aws._transport import AnswerLost
from partita.errors import StoreClosed

CHUNK: Final = 65_536


class KeptConnection:
    """A socket, how calls on it begin, and when it was used last; it carries one exchange at a time."""

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


class Kept(Generic[C]):
    """Connections that nobody uses, by URL. Safe for threads; those of another process are left to it."""

    def __init__(self, idle_seconds: float) -> None:
        self._idle_seconds = idle_seconds
        self._closed = False
        self._process = os.getpid()
        self._idle: dict[str, list[C]] = {}

    def is_from_here(self) -> bool:
        """Whether this process has begun to keep them; one that was forked begins anew.

        Raises:
            StoreClosed: nothing is kept any more.
        """
        if self._closed:
            raise StoreClosed("The store was closed.")
        if self._process == os.getpid():
            return True
        self._process, self._idle = os.getpid(), {}
        return False

    def take(self, url: str) -> C | None:
        """The connection that was used last; those that can be used no more are closed."""
        idle = self._idle.setdefault(url, [])
        while idle:
            try:
                connection = idle.pop()
            except IndexError:  # another thread was faster
                break
            if connection.is_usable(self._idle_seconds):
                return connection
            connection.close()
        return None

    def put_back(self, url: str, connection: C, *, ended: bool) -> None:
        """Keep a connection for the next call, unless the other end closes it."""
        if ended or self._closed:
            connection.close()
        else:
            self._idle[url].append(connection)

    def close(self) -> None:
        """Close the connections; one in use is closed when its answer has come."""
        self._closed = True
        for connections in self._idle.values():
            while connections:
                connections.pop().close()


def lost(error: Exception) -> AnswerLost:
    """An answer that does not come, and why."""
    return AnswerLost(str(error) or type(error).__name__)
