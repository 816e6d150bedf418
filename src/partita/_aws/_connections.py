"""Connections: made to a host or through its proxy, and pooled between requests."""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Generic, TypeVar
from urllib.parse import urlsplit

from partita._aws._proxy import open_tunnel, proxy_for
from partita.errors import StoreClosed

_PORTS: Final = {"http": 80, "https": 443}


class Connector:
    """Connects to the host of a URL, or to the proxy that the environment names for it.

    Trusts the certificates of the system, or those in `AWS_CA_BUNDLE`.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._tls: ssl.SSLContext | None = None

    def connect(self, url: str) -> socket.socket:
        """A connection without TLS, made in time.

        Raises:
            OSError: there is none.
        """
        parts = urlsplit(url)
        address = (parts.hostname or "", parts.port or _PORTS[parts.scheme])
        proxy = proxy_for(parts)
        connected = socket.create_connection(proxy.address if proxy else address, self._seconds)
        try:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if proxy is not None:
                open_tunnel(connected, proxy, address)
        except BaseException:
            connected.close()
            raise
        return connected

    def tls_of(self, url: str) -> tuple[ssl.SSLContext, str] | None:
        """With what to secure a connection, and the name that its certificate must have; None for plain HTTP."""
        parts = urlsplit(url)
        if parts.scheme != "https":
            return None
        if self._tls is None:
            self._tls = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE") or None)
        return self._tls, parts.hostname or ""


class PendingConnection:
    """A connection that a thread makes for a task, which may be gone before it is made."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self._connected: socket.socket | None = None
        self._is_abandoned = False

    def connect(self, url: str) -> socket.socket:
        """Connect, in a thread.

        Raises:
            OSError: there is no connection.
        """
        # Each side first says what it did and then looks at the other, so one of them sees that both were there.
        self._connected = self._connector.connect(url)
        if self._is_abandoned:
            self._connected.close()
        return self._connected

    def abandon(self) -> None:
        """Nobody waits any more: close the connection, now or when it is made."""
        self._is_abandoned = True
        if self._connected is not None:
            self._connected.close()


class PooledConnection:
    """A socket, and when it was used last; it carries one request at a time."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.last_used = time.monotonic()
        self._is_readable = _readable(connected)

    def is_usable(self, idle_seconds: float) -> bool:
        """Whether it was used lately, and nothing has come since: neither its end, nor what nobody asked for."""
        return time.monotonic() - self.last_used <= idle_seconds and not self._is_readable()

    def close(self) -> None:
        """Close it."""
        self.socket.close()


def _readable(connected: socket.socket) -> Callable[[], bool]:
    """A question that is asked before each request, so it is made once: has something come?"""
    if not hasattr(select, "poll"):  # on Windows
        return lambda: bool(select.select([connected], [], [], 0)[0])
    ready = select.poll()  # which takes any number of open files
    ready.register(connected, select.POLLIN)
    return lambda: bool(ready.poll(0))


C = TypeVar("C", bound=PooledConnection)


class ConnectionPool(Generic[C]):
    """Idle connections by URL, the one used last first. Safe for threads; those of a parent process are left to it."""

    def __init__(self, idle_seconds: float) -> None:
        self._idle_seconds = idle_seconds
        self._closed = False
        self._process = os.getpid()
        self._forked = threading.Lock()
        self._idle: dict[str, list[C]] = {}

    def empty_after_fork(self) -> bool:
        """Drop the parent's connections if this process was forked; returns whether it was.

        Raises:
            StoreClosed: the pool was closed.
        """
        self._check_open()
        if self._process == os.getpid():
            return False
        with self._forked:
            if self._process == os.getpid():  # another thread was faster
                return False
            parents, self._idle = self._idle, {}
            self._process = os.getpid()  # last, since other threads go on from here
        _close_all(parents)  # which closes nothing at the other end: the parent has them open
        return True

    def acquire(self, url: str) -> C | None:
        """The idle connection that was used last; those that cannot be used any more are closed.

        Raises:
            StoreClosed: the pool was closed.
        """
        self._check_open()
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

    def release(self, url: str, connection: C, *, closes: bool) -> None:
        """Keep a connection for the next request, unless the other end closes it."""
        if closes:
            connection.close()
            return
        self._idle.setdefault(url, []).append(connection)
        if self._closed:  # looked at last: whoever closes the pool either finds this connection, or is seen here
            _close_all(self._idle)

    def close(self) -> None:
        """Close the connections; one in use is closed when its response has come."""
        self._closed = True
        _close_all(self._idle)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed("The store was closed.")


def _close_all(idle: dict[str, list[C]]) -> None:
    for connections in list(idle.values()):
        with suppress(IndexError):  # other threads take from it, too
            while True:
                connections.pop().close()
