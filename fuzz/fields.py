"""One input as several texts: a byte that no UTF-8 has stands between them, so that a seed can be read and written."""

from __future__ import annotations

from typing import Final

BORDER: Final = b"\xff"


def texts(data: bytes, count: int) -> list[str]:
    """That many texts, empty where the input has fewer; bytes that are not UTF-8 become lone surrogates."""
    parts = data.split(BORDER, count - 1)
    return [part.decode(errors="surrogateescape") for part in (*parts, *[b""] * (count - len(parts)))]


def sent_texts(data: bytes, count: int) -> list[str]:
    """The same for texts that come as JSON, in which a lone surrogate is refused before anything reads them."""
    return [text.encode(errors="replace").decode() for text in texts(data, count)]
