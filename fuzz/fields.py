"""Split one input into several texts, separated by a byte that is invalid in UTF-8, so that seeds stay readable."""

from __future__ import annotations

from typing import Final

BORDER: Final = b"\xff"


def texts(data: bytes, count: int) -> list[str]:
    """Return `count` texts, padded with empty ones; bytes that are not UTF-8 become lone surrogates."""
    parts = data.split(BORDER, count - 1)
    return [part.decode(errors="surrogateescape") for part in (*parts, *[b""] * (count - len(parts)))]


def sent_texts(data: bytes, count: int) -> list[str]:
    """Like `texts`, for texts that arrive as JSON, in which lone surrogates are refused: these are replaced here."""
    return [text.encode(errors="replace").decode() for text in texts(data, count)]
