"""The proxy that the environment specifies, and the tunnel through it."""

from __future__ import annotations

import http.client
import socket
import sys
from base64 import b64encode
from typing import Final
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct

from partita._aws._endpoints import LOCAL_HOSTS
from partita._aws._http import CHUNK, ResponseParser

_PORT: Final = 80


class Proxy(Struct, frozen=True):
    """The address of a proxy, and the credentials for it, which never appear in a `repr`, error or log."""

    address: tuple[str, int]
    authorization: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.address!r})"


def proxy_for(parts: SplitResult) -> Proxy | None:
    """Return the proxy for a remote host; plain HTTP, which is meant for servers nearby, uses none.

    Raises:
        OSError: the environment specifies a proxy that cannot be used.
    """
    host = parts.hostname or ""
    if parts.scheme != "https" or host in LOCAL_HOSTS or proxy_bypass(host):
        return None
    named = getproxies().get("https")
    if not named:
        return None
    proxy = _parse(named if "://" in named else f"http://{named}")
    if proxy is None:  # the message does not repeat the address, which may contain a password
        raise OSError("the proxy in HTTPS_PROXY cannot be used: it must be http://host:port or http://user:password@…")
    return proxy


def _parse(url: str) -> Proxy | None:
    """Return the proxy at a URL; None if the URL is incomplete, or if its password is not percent-encoded."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORT
    except ValueError:
        return None
    if parts.scheme != "http" or not parts.hostname or parts.path not in ("", "/") or parts.query or parts.fragment:
        return None
    if parts.username is None:
        return Proxy((parts.hostname, port))
    secret = unquote_to_bytes(parts.username) + b":" + unquote_to_bytes(parts.password or "")
    return Proxy((parts.hostname, port), f"Basic {b64encode(secret).decode()}")


def open_tunnel(connected: socket.socket, proxy: Proxy, address: tuple[str, int]) -> None:
    """Request a tunnel to an address from the proxy, to which there is a connection.

    Raises:
        OSError: the proxy refused.
    """
    host = f"{address[0]}:{address[1]}"
    shown = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    connected.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n{shown}\r\n".encode("latin-1"))
    status = _status_of_response(connected)
    if status != http.client.OK:
        raise OSError(f"the proxy refused: {status} {http.client.responses.get(status, '')}".rstrip())


def _status_of_response(connected: socket.socket) -> int:
    parser = ResponseParser(max_body=sys.maxsize)  # the body is not read
    try:
        while not parser.status:
            parser.feed(connected.recv(CHUNK))
    except ValueError as error:
        raise OSError(f"the proxy sent an invalid response: {error}") from error
    return parser.status
