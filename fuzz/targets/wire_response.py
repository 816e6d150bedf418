"""The responses that the remote store reads from a connection."""

from __future__ import annotations

from typing import Final

from partita._aws._http import ResponseParser

MAX_BODY: Final = 100
"""So low that an input can exceed it."""


def wire_response(data: bytes) -> None:
    """The first byte says where the rest is split in two; that changes nothing about what is read of it."""
    where, rest = (data[0], data[1:]) if data else (0, b"")
    middle = where % (len(rest) + 1)
    whole = _read(rest)
    assert _read(rest[:middle], rest[middle:]) == whole
    assert whole is None or len(whole[1]) <= MAX_BODY


def _read(*parts: bytes) -> tuple[int, bytes] | None:
    """Status and body of what comes before the connection ends; None where that is not a response."""
    parser = ResponseParser(MAX_BODY)
    try:
        for part in (*filter(None, parts), b""):
            response = parser.feed(part)
            if response is not None:
                response.header("content-type")
                return response.status, bytes(response.body)
    except ValueError:
        return None
    raise AssertionError("the end of the connection is neither a response nor an error")
