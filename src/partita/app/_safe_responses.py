"""Headers that keep a response private: who may store it, and that a browser must not guess what it is.

A route that sets `Cache-Control` itself has the last word, as pages and public lists do.
"""

from __future__ import annotations

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Scope

RawHeaders = list[tuple[bytes, bytes]]

NOT_STORED: Final = (b"cache-control", b"no-store")
REVALIDATED: Final = (b"cache-control", b"private, no-cache")
"""For a response with an ETag: the caller's own cache may keep it, and asks whether it is current."""
NOT_GUESSED: Final = (b"x-content-type-options", b"nosniff")
ONLY_HTTPS: Final = (b"strict-transport-security", b"max-age=31536000")
WHOSE: Final = "Authorization, Cookie"
"""An ETag is a version. Two users may have the same one of different things at the same address."""
VARIES: Final = (b"vary", WHOSE.encode())


def keep_private(scope: Scope, headers: RawHeaders) -> None:
    """Add what keeps a response private to its headers."""
    names = {name for name, _ in headers}
    if b"cache-control" not in names:
        if b"etag" in names:
            headers.append(REVALIDATED)
            if b"vary" in names:
                MutableHeaders(raw=headers).add_vary_header(WHOSE)
            else:
                headers.append(VARIES)
        else:
            headers.append(NOT_STORED)
    if NOT_GUESSED[0] not in names:
        headers.append(NOT_GUESSED)
    if scope["scheme"] == "https" and ONLY_HTTPS[0] not in names:
        headers.append(ONLY_HTTPS)
