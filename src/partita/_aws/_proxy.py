"""The proxy that the environment names, and the tunnel through it."""

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
    """Where the proxy is, and the credentials that it is shown, which are in no `repr`, error or log."""

    address: tuple[str, int]
    authorization: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.address!r})"


def proxy_for(parts: SplitResult) -> Proxy | None:
    """The proxy for a host elsewhere; plain HTTP, which is for servers nearby, has none.

    Raises:
        OSError: the environment names one that cannot be used.
    """
    host = parts.hostname or ""
    if parts.scheme != "https" or host in LOCAL_HOSTS or proxy_bypass(host):
        return None
    named = getproxies().get("https")
    if not named:
        return None
    proxy = _parse(named if "://" in named else f"http://{named}")
    if proxy is None:  # what was named is not repeated: it may hold a password
        raise OSError("the proxy in HTTPS_PROXY cannot be used: it must be http://host:port or http://user:password@…")
    return proxy


def _parse(url: str) -> Proxy | None:
    """The proxy at a URL; None where a part of it is missing, or a password was written without its percent signs."""
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
    """Have the proxy, to which there is a connection, connect it with an address.

    Raises:
        OSError: it does not.
    """
    host = f"{address[0]}:{address[1]}"
    shown = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    connected.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n{shown}\r\n".encode("latin-1"))
    status = _status_of_response(connected)
    if status != http.client.OK:
        raise OSError(f"the proxy refused: {status} {http.client.responses.get(status, '')}".rstrip())


def _status_of_response(connected: socket.socket) -> int:
    parser = ResponseParser(max_body=sys.maxsize)  # of which nothing is read
    try:
        while not parser.status:
            parser.feed(connected.recv(CHUNK))
    except ValueError as error:
        raise OSError(f"the proxy does not respond as it should: {error}") from error
    return parser.status
