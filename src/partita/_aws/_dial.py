"""Connecting: to the host or through a proxy, with the certificates of the system or of `AWS_CA_BUNDLE`."""

from __future__ import annotations

import os
import socket
import ssl
from typing import Final
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from partita._aws._endpoints import LOCAL_HOSTS

_PORTS: Final = {"http": 80, "https": 443}
_HEAD_END: Final = b"\r\n\r\n"


class Dialer:
    """Connects to the host of a URL, or to the proxy that the environment names for it."""

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
                _tunnel(connected, address)
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


def _tunnel(connected: socket.socket, address: tuple[str, int]) -> None:
    host = f"{address[0]}:{address[1]}"
    connected.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin-1"))
    answer = b""
    while _HEAD_END not in answer:
        part = connected.recv(4096)
        if not part:
            raise OSError("the proxy closed the connection")
        answer += part
    first = answer.split(b"\r\n", 1)[0].decode("latin-1")
    if first.split(" ")[1:2] != ["200"]:
        raise OSError(f"the proxy refused: {first}")
