"""Headers that keep a response private: which caches may store it, and that a browser must not guess its type.

A `Cache-Control` that a route sets itself is kept; pages and public lists set one.
"""

from __future__ import annotations

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Scope

RawHeaders = list[tuple[bytes, bytes]]

NOT_STORED: Final = (b"cache-control", b"no-store")
REVALIDATED: Final = (b"cache-control", b"private, no-cache")
"""For a response with an ETag: the caller's own cache may store it, and must revalidate it."""
NOT_GUESSED: Final = (b"x-content-type-options", b"nosniff")
ONLY_HTTPS: Final = (b"strict-transport-security", b"max-age=31536000")
WHOSE: Final = "Authorization, Cookie"
"""Responses vary by user. An ETag is a version number, so different data of two users at one address may share it."""
VARIES: Final = (b"vary", WHOSE.encode())


def keep_private(scope: Scope, headers: RawHeaders) -> None:
    """Add the headers that keep a response private."""
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
