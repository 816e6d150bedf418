"""Connections to a host, direct or through a proxy, and the pools that keep them between requests."""

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
    """Connects to the host of a URL, or to the proxy that the environment specifies for it.

    It trusts the certificates of the system, or those in `AWS_CA_BUNDLE`.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._tls: ssl.SSLContext | None = None

    def connect(self, url: str) -> socket.socket:
        """Return a connection without TLS, made before the timeout.

        Raises:
            OSError: the connection failed.
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
        """Return the TLS context for a connection and the name its certificate must have; None for plain HTTP."""
        parts = urlsplit(url)
        if parts.scheme != "https":
            return None
        if self._tls is None:
            self._tls = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE") or None)
        return self._tls, parts.hostname or ""


class PendingConnection:
    """A connection that a thread makes for a task, which may be cancelled before the connection exists."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self._connected: socket.socket | None = None
        self._is_abandoned = False

    def connect(self, url: str) -> socket.socket:
        """Connect, in a thread.

        Raises:
            OSError: the connection failed.
        """
        # `connect` and `abandon` each set their own field before they read the other's, so at least one of them sees
        # that the connection must be closed.
        self._connected = self._connector.connect(url)
        if self._is_abandoned:
            self._connected.close()
        return self._connected

    def abandon(self) -> None:
        """Close the connection, now or as soon as it is made, because no task waits for it any more."""
        self._is_abandoned = True
        if self._connected is not None:
            self._connected.close()


class PooledConnection:
    """A socket and the time of its last use; it carries one request at a time."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.last_used = time.monotonic()
        self._is_readable = _readable(connected)

    def is_usable(self, idle_seconds: float) -> bool:
        """Whether the connection was used recently, and has received neither its end nor unrequested data since."""
        return time.monotonic() - self.last_used <= idle_seconds and not self._is_readable()

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()


def _readable(connected: socket.socket) -> Callable[[], bool]:
    """Return a function that checks whether data has arrived; it is built once and called before each request."""
    if not hasattr(select, "poll"):  # on Windows
        return lambda: bool(select.select([connected], [], [], 0)[0])
    ready = select.poll()  # unlike select, it has no limit for the number of a file descriptor
    ready.register(connected, select.POLLIN)
    return lambda: bool(ready.poll(0))


C = TypeVar("C", bound=PooledConnection)


class ConnectionPool(Generic[C]):
    """Idle connections by URL, the most recently used first. Thread-safe; a forked child drops those of its parent."""

    def __init__(self, idle_seconds: float) -> None:
        self._idle_seconds = idle_seconds
        self._closed = False
        self._process = os.getpid()
        self._forked = threading.Lock()
        self._idle: dict[str, list[C]] = {}

    def empty_after_fork(self) -> bool:
        """Drop the parent's connections if this process was forked; return whether it was.

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
            self._process = os.getpid()  # last, because other threads continue once this is set
        _close_all(parents)  # the server does not notice: the parent still has them open
        return True

    def acquire(self, url: str) -> C | None:
        """Return the most recently used idle connection; close those that cannot be used any more.

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
        if self._closed:  # checked after the append: a concurrent `close` either finds the connection or is seen here
            _close_all(self._idle)

    def close(self) -> None:
        """Close the connections; a connection in use is closed once its response is complete."""
        self._closed = True
        _close_all(self._idle)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed("The store was closed.")


def _close_all(idle: dict[str, list[C]]) -> None:
    for connections in list(idle.values()):
        with suppress(IndexError):  # other threads may remove connections at the same time
            while True:
                connections.pop().close()
