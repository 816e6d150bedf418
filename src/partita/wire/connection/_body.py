"""Bodies: request bodies are buffered within a shared budget and decompressed within limits, responses compressed."""

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
"""Smaller responses gain nothing from compression."""
_FASTEST: Final = 1


class ByteBudget:
    """The number of bytes that the bodies of all connections may use together."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0


class Body(Struct):
    """The body of one request, from its first byte until the response is sent."""

    limit: int
    budget: ByteBudget
    content: bytes | bytearray = b""
    held: int = 0
    """How many bytes of the budget it uses."""

    def add(self, part: bytes) -> None:
        """Append a part of the body.

        Raises:
            Fault: the body is too large, or the bodies of all connections exceed the budget.
        """
        if len(self.content) + len(part) > self.limit:
            raise Fault("RequestEntityTooLargeException", f"The body may have at most {self.limit} bytes.", status=413)
        self._hold(len(part))
        if not self.content:
            self.content = part  # most bodies arrive in one part, which need not be copied
            return
        if isinstance(self.content, bytes):
            self.content = bytearray(self.content)
        self.content += part

    def unpack(self, encoding: str) -> None:
        """Replace a compressed body by its decompressed content.

        Raises:
            Fault: the content is too large, or the bodies of all connections exceed the budget.
            SerializationFailed: the body cannot be decompressed.
        """
        unpacked = unpack(self.content, encoding, self.limit)
        self._hold(len(unpacked))
        self.content = unpacked

    def release(self) -> None:
        """Return its bytes to the budget."""
        self.budget.used -= self.held
        self.held = 0

    def _hold(self, size: int) -> None:
        if self.budget.used + size > self.budget.limit:
            raise Fault("ServiceUnavailable", "The server holds too many requests. Try again later.", status=503)
        self.budget.used += size
        self.held += size


def unpack(packed: bytes | bytearray, encoding: str, limit: int) -> bytearray:
    """Decompress a body; gzip may have several members.

    Members are read in pieces. zlib copies the data that follows a member, so with whole bodies and many members the
    work would grow with the square of the size of the body.

    Raises:
        Fault: the content is too large.
        SerializationFailed: the body is truncated, has too many members, or does not have the given encoding.
    """
    if encoding not in _WINDOWS:
        raise SerializationFailed("The body may only be compressed with gzip or deflate.")
    view, unpacked, start = memoryview(packed), bytearray(), 0
    try:
        for _ in range(_MAX_MEMBERS):
            if start == len(view):
                return unpacked
            start = _unpack_member(view, start, unpacked, _WINDOWS[encoding], limit)
    except zlib.error:
        raise SerializationFailed(f"The body is not valid {encoding}.") from None
    if start < len(view):
        raise SerializationFailed(f"The compressed body has more than {_MAX_MEMBERS} members.")
    return unpacked


def _unpack_member(view: memoryview, start: int, unpacked: bytearray, window: int, limit: int) -> int:
    """Append the content of the member that starts here; return where it ends."""
    member = zlib.decompressobj(wbits=window)
    while not member.eof:
        piece = view[start : start + _PIECE]
        if not piece:
            raise SerializationFailed("The compressed body is truncated.")
        unpacked += member.decompress(piece, limit - len(unpacked) + 1)
        if len(unpacked) > limit:
            raise Fault("RequestEntityTooLargeException", "The body is too large when decompressed.", status=413)
        start += len(piece) - len(member.unused_data)
    return start


def pack(body: bytes) -> bytes:
    """Compress a body with gzip."""
    return gzip.compress(body, _FASTEST, mtime=0)
