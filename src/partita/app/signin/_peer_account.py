"""The account of the program at the other end of a connection on this machine, as Linux reports it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

Address: TypeAlias = tuple[str, int]

_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOCAL, _REMOTE, _ACCOUNT = 1, 2, 7
"""The columns of these tables."""


def can_know_accounts() -> bool:
    """Whether this machine can report to which account a connection belongs."""
    return _TABLES[0].exists()


def account_of(client: Address, server: Address) -> int | None:
    """The user id of the program that opened a connection to this machine; None if the connection is not listed."""
    wanted = set(_written(client)), set(_written(server))
    for table in _TABLES:
        for columns in _rows(table):
            if columns[_LOCAL] in wanted[0] and columns[_REMOTE] in wanted[1]:
                return int(columns[_ACCOUNT])
    return None


def _rows(table: Path) -> Iterator[list[str]]:
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return
    yield from (line.split() for line in lines)


def _written(address: Address) -> Iterator[str]:
    """Yield an address as the tables write it, as IPv4 and as IPv6: words of four bytes in little-endian order."""
    host = ipaddress.ip_address(address[0])
    forms = [host.packed]
    if isinstance(host, ipaddress.IPv4Address):
        forms.append(b"\0" * 10 + b"\xff\xff" + host.packed)
    elif host.ipv4_mapped is not None:
        forms.append(host.ipv4_mapped.packed)
    for packed in forms:
        words = (packed[place : place + 4][::-1].hex().upper() for place in range(0, len(packed), 4))
        yield f"{''.join(words)}:{address[1]:04X}"
