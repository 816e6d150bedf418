"""The host names for which a server accepts requests.

Another site can make its own name resolve to this machine, and then the scripts on its pages can read the responses of
a local server: DNS rebinding. Such a request has the name of that site as its `Host`, so a server that accepts only its
own names is protected. An IP address is not resolved, so it cannot be redirected.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

_ANY: Final = "*"


class AllowedHosts(Struct, frozen=True):
    """The accepted host names, in addition to `localhost` and the address that received the request."""

    names: frozenset[str] = frozenset()
    """In lower case, without a port. `*` allows every name."""

    def allows(self, host: str, address: str) -> bool:
        """Whether to accept a request with this `Host` header, received at this address of the machine."""
        return _allows(self.names, host, address)

    def allows_origin(self, origin: str, address: str) -> bool:
        """Whether a page with this `Origin` may send a request to this address."""
        scheme, _, host = origin.partition("://")
        return scheme in ("http", "https") and self.allows(host, address)


def is_loopback(host: str) -> bool:
    """Whether the host is a loopback address or `localhost`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@lru_cache(maxsize=256)  # a server mostly sees the same few names, but a client may send any
def _allows(names: frozenset[str], host: str, address: str) -> bool:
    name = _name_of(f"//{host}")
    if name is None:
        return False
    return _ANY in names or name in names or name == "localhost" or _is_own(name, address)


def _is_own(name: str, address: str) -> bool:
    """Whether the name is an IP address: a loopback address, or the one that received the request."""
    try:
        named = ipaddress.ip_address(name)
    except ValueError:
        return False
    return named.is_loopback or str(named) == address.partition("%")[0]


def _name_of(url: str) -> str | None:
    """The host in lower case, without its port; None if there is none, or if there is more than a host and a port."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError if the port is not a number
    except ValueError:
        return None
    if parts.username is not None or parts.path or parts.query or parts.fragment or parts.hostname is None:
        return None
    return parts.hostname.rstrip(".")
