"""Which names a server answers to.

A page of another site can have its own name point at this machine, and then its scripts may read what a server here
answers: DNS rebinding. Such a request carries the name of that site as its `Host`, so a server that answers to its own
names alone cannot be read that way. An address is not a name, so nobody can point it elsewhere.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

_ANY: Final = "*"


class AllowedHosts(Struct, frozen=True):
    """The names that a server answers to, besides `localhost` and the address that a request came to."""

    names: frozenset[str] = frozenset()
    """In lower case, without a port. `*` allows every name."""

    def allows(self, host: str, address: str) -> bool:
        """Whether to answer a request with this `Host` header, which came to this address of the machine."""
        return _allows(self.names, host, address)

    def allows_origin(self, origin: str, address: str) -> bool:
        """Whether a page with this `Origin` may send a request to this address."""
        scheme, _, host = origin.partition("://")
        return scheme in ("http", "https") and self.allows(host, address)


def is_loopback(host: str) -> bool:
    """Whether an address, or `localhost`, is of this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@lru_cache(maxsize=256)  # a server sees few names again and again, and anybody may invent more
def _allows(names: frozenset[str], host: str, address: str) -> bool:
    name = _name_of(f"//{host}")
    if name is None:
        return False
    return _ANY in names or name in names or name == "localhost" or _is_own(name, address)


def _is_own(name: str, address: str) -> bool:
    """Whether the name is an address: a loopback one, or the one that the request came to."""
    try:
        named = ipaddress.ip_address(name)
    except ValueError:
        return False
    return named.is_loopback or str(named) == address.partition("%")[0]


def _name_of(url: str) -> str | None:
    """The host in lower case, without its port; None where there is none, or more than a host and a port."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reads it, and raises where it is not a number
    except ValueError:
        return None
    if parts.username is not None or parts.path or parts.query or parts.fragment or parts.hostname is None:
        return None
    return parts.hostname.rstrip(".")
