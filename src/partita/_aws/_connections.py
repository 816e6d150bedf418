"""Connections: made to a host or through its proxy, and pooled between requests."""

from __future__ import annotations

import os
import select
import socket
import ssl
import time
from typing import Final, Generic, TypeVar
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from partita._aws._endpoints import LOCAL_HOSTS
from partita._aws._http import request_prefix
from partita.errors import StoreClosed

_PORTS: Final = {"http": 80, "https": 443}
_HEAD_END: Final = b"\r\n\r\n"


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
        proxy = _proxy_for(parts)
        connected = socket.create_connection(proxy or address, self._seconds)
        try:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if proxy is not None:
                _open_tunnel(connected, address)
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


def _proxy_for(parts: SplitResult) -> tuple[str, int] | None:
    """The proxy for a host elsewhere; plain HTTP, which is for servers nearby, has none."""
    host = parts.hostname or ""
    if parts.scheme != "https" or host in LOCAL_HOSTS or proxy_bypass(host):
        return None
    proxy = urlsplit(getproxies().get("https", ""))
    return (proxy.hostname, proxy.port or _PORTS["http"]) if proxy.hostname else None


def _open_tunnel(connected: socket.socket, address: tuple[str, int]) -> None:
    host = f"{address[0]}:{address[1]}"
    connected.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin-1"))
    response = b""
    while _HEAD_END not in response:
        part = connected.recv(4096)
        if not part:
            raise OSError("the proxy closed the connection")
        response += part
    first = response.split(b"\r\n", 1)[0].decode("latin-1")
    if first.split(" ")[1:2] != ["200"]:
        raise OSError(f"the proxy refused: {first}")


class PooledConnection:
    """A socket, how requests on it begin, and when it was used last; it carries one request at a time."""

    def __init__(self, connected: socket.socket, url: str) -> None:
        self.socket = connected
        self.prefix = request_prefix(url)
        self.last_used = time.monotonic()

    def is_usable(self, idle_seconds: float) -> bool:
        """Whether it was used lately, and the other end has not closed it."""
        if time.monotonic() - self.last_used > idle_seconds:
            return False
        ready = select.poll()
        ready.register(self.socket, select.POLLIN)
        return not ready.poll(0)

    def close(self) -> None:
        """Close it."""
        self.socket.close()


C = TypeVar("C", bound=PooledConnection)


class ConnectionPool(Generic[C]):
    """Idle connections by URL, the one used last first. Safe for threads; those of a parent process are left to it."""

    def __init__(self, idle_seconds: float) -> None:
        self._idle_seconds = idle_seconds
        self._closed = False
        self._process = os.getpid()
        self._idle: dict[str, list[C]] = {}

    def empty_after_fork(self) -> bool:
        """Drop the parent's connections if this process was forked; returns whether it was.

        Raises:
            StoreClosed: the pool was closed.
        """
        if self._closed:
            raise StoreClosed("The store was closed.")
        if self._process == os.getpid():
            return False
        self._process, self._idle = os.getpid(), {}
        return True

    def acquire(self, url: str) -> C | None:
        """The idle connection that was used last; those that cannot be used any more are closed."""
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
        if closes or self._closed:
            connection.close()
        else:
            self._idle[url].append(connection)

    def close(self) -> None:
        """Close the connections; one in use is closed when its response has come."""
        self._closed = True
        for connections in self._idle.values():
            while connections:
                connections.pop().close()
