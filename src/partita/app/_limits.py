"""Limits on the size of a request."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partita.http import HttpProblem, problem_response

MAX_BODY_BYTES: Final = 1_000_000


class BodyLimit:
    """Middleware that refuses bodies of more than `max_bytes` with 413, declared or not."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.detail = f"The body has more than {max_bytes:,} bytes."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless its declared length is too large; count what arrives of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("Content-Length", "0")
        if declared.isdecimal() and int(declared) > self.max_bytes:
            await problem_response(413, "body_too_large", self.detail)(scope, receive, send)
            return
        received = 0

        async def receive_counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.max_bytes:
                raise HttpProblem(413, "body_too_large", self.detail)
            return message

        await self.app(scope, receive_counting, send)
