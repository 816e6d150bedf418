"""The responses that the remote store reads from a connection."""

from __future__ import annotations

from typing import Final

from partita._aws._http import ResponseParser

MAX_BODY: Final = 100
"""Low enough for inputs to exceed it."""


def wire_response(data: bytes) -> None:
    """Parse the input whole, and split at the position in its first byte; the result must be the same."""
    where, rest = (data[0], data[1:]) if data else (0, b"")
    middle = where % (len(rest) + 1)
    whole = _read(rest)
    assert _read(rest[:middle], rest[middle:]) == whole
    assert whole is None or len(whole[1]) <= MAX_BODY


def _read(*parts: bytes) -> tuple[int, bytes] | None:
    """The status and body of the response; None if the bytes up to the end of the connection are not a response."""
    parser = ResponseParser(MAX_BODY)
    try:
        for part in (*filter(None, parts), b""):
            response = parser.feed(part)
            if response is not None:
                response.header("content-type")
                return response.status, bytes(response.body)
    except ValueError:
        return None
    raise AssertionError("the end of the connection led to neither a response nor an error")
