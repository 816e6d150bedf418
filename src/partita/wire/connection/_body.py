"""Bodies: those of requests are held within a shared budget and unpacked within bounds, those of responses packed."""

from __future__ import annotations

import gzip
import zlib
from typing import Final

from msgspec import Struct

from partita.errors import SerializationFailed
from partita.wire._faults import Fault

_WINDOWS: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_MAX_MEMBERS: Final = 100
_PIECE: Final = 64 * 1024
MIN_PACKED: Final = 1024
"""A smaller response gains nothing by being packed."""
_FASTEST: Final = 1


class ByteBudget:
    """How many bytes the bodies of all connections may have together."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0


class Body(Struct):
    """The body of one request, from its first byte until the request is responded to."""

    limit: int
    budget: ByteBudget
    content: bytes | bytearray = b""
    held: int = 0
    """How much of the budget it has."""

    def add(self, part: bytes) -> None:
        """Hold more of the body.

        Raises:
            Fault: it is too large, or the bodies of all connections are.
        """
        if len(self.content) + len(part) > self.limit:
            raise Fault("RequestEntityTooLargeException", f"The body may have {self.limit} bytes.", status=413)
        self._hold(len(part))
        if not self.content:
            self.content = part  # most bodies come in one part, which need not be copied
            return
        if isinstance(self.content, bytes):
            self.content = bytearray(self.content)
        self.content += part

    def unpack(self, encoding: str) -> None:
        """Replace a packed body by what it holds.

        Raises:
            Fault: that is too large, or what all connections hold.
            SerializationFailed: it cannot be unpacked.
        """
        unpacked = unpack(self.content, encoding, self.limit)
        self._hold(len(unpacked))
        self.content = unpacked

    def release(self) -> None:
        """Give the part of the budget back."""
        self.budget.used -= self.held
        self.held = 0

    def _hold(self, size: int) -> None:
        if self.budget.used + size > self.budget.limit:
            raise Fault("ServiceUnavailable", "The server holds too many requests. Try again later.", status=503)
        self.budget.used += size
        self.held += size


def unpack(packed: bytes | bytearray, encoding: str, limit: int) -> bytearray:
    """What was packed; gzip may have several members.

    Members are read in pieces. Each leaves what follows it behind as a copy, so a long rest and many members would be
    work that grows with the square of the body.

    Raises:
        Fault: it is too large.
        SerializationFailed: it is cut off, has too many members, or is not packed as it says.
    """
    if encoding not in _WINDOWS:
        raise SerializationFailed("The body may be packed with gzip or deflate.")
    view, unpacked, start = memoryview(packed), bytearray(), 0
    try:
        for _ in range(_MAX_MEMBERS):
            if start == len(view):
                return unpacked
            start = _unpack_member(view, start, unpacked, _WINDOWS[encoding], limit)
    except zlib.error:
        raise SerializationFailed(f"The body is not valid {encoding}.") from None
    if start < len(view):
        raise SerializationFailed(f"The packed body has more than {_MAX_MEMBERS} members.")
    return unpacked


def _unpack_member(view: memoryview, start: int, unpacked: bytearray, window: int, limit: int) -> int:
    """Append what the member that starts here holds; gives where it ends."""
    member = zlib.decompressobj(wbits=window)
    while not member.eof:
        piece = view[start : start + _PIECE]
        if not piece:
            raise SerializationFailed("The packed body is cut off.")
        unpacked += member.decompress(piece, limit - len(unpacked) + 1)
        if len(unpacked) > limit:
            raise Fault("RequestEntityTooLargeException", "The body is too large when unpacked.", status=413)
        start += len(piece) - len(member.unused_data)
    return start


def accepts_gzip(encodings: str) -> bool:
    """Whether a client that accepts these encodings can read gzip."""
    if "gzip" not in encodings:
        return False
    offers = [offer.strip().replace(" ", "") for offer in encodings.split(",")]
    return any(offer.partition(";")[0] == "gzip" and not offer.endswith(("q=0", "q=0.0")) for offer in offers)


def pack(body: bytes) -> bytes:
    """The body, packed with gzip."""
    return gzip.compress(body, _FASTEST, mtime=0)
