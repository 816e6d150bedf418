"""Headers that keep a response private: who may store it, and that a browser must not guess what it is.

A route that sets `Cache-Control` itself has the last word, as pages and public lists do.
"""

from __future__ import annotations

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NOT_STORED: Final = "no-store"
REVALIDATED: Final = "private, no-cache"
"""For a response with an ETag: the caller's own cache may keep it, and asks whether it is current."""
ONLY_HTTPS: Final = "max-age=31536000"


class SafeResponses:
    """Middleware that gives every response the headers which keep it private."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                _keep_private(headers)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                if scope["scheme"] == "https":
                    headers.setdefault("Strict-Transport-Security", ONLY_HTTPS)
            await send(message)

        await self.app(scope, receive, send_safely)


def _keep_private(headers: MutableHeaders) -> None:
    if "Cache-Control" in headers:
        return
    if "ETag" in headers:
        headers["Cache-Control"] = REVALIDATED
        # An ETag is a version. Two users may have the same one of different things at the same address.
        headers.add_vary_header("Authorization, Cookie")
    else:
        headers["Cache-Control"] = NOT_STORED
