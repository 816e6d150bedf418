"""Limits on the size of a request: its target, its head and its body. What is beyond them is refused unread."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partita.http import HttpProblem, problem_response

MAX_BODY_BYTES: Final = 1_000_000

_LINE_BYTES: Final = 4
"""What stands between the name and the value of a header, and behind it: `: ` and the end of the line."""


class HeadLimits(Struct, frozen=True):
    """How large the head of a request may be.

    The work for a query model grows with the square of the number of parameters, so that few bytes can keep a server
    busy for seconds. Every part of a head has a bound of its own.
    """

    target_bytes: int = 8_192
    """Path and query together."""
    parameters: int = 100
    """Of the query."""
    headers: int = 100
    header_bytes: int = 32_768
    """All headers together."""


class HeadLimit:
    """Middleware that refuses a target that is too long with 414, and headers that are too large with 431."""

    def __init__(self, app: ASGIApp, limits: HeadLimits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless its head is too large."""
        problem = _head_problem(scope, self.limits) if scope["type"] == "http" else None
        if problem is None:
            await self.app(scope, receive, send)
        else:
            status, code, detail = problem
            await problem_response(status, code, detail)(scope, receive, send)


def _head_problem(scope: Scope, limits: HeadLimits) -> tuple[int, str, str] | None:
    query: bytes = scope["query_string"]
    # The decoded path counts where a server does not give the raw one; it is never longer than that.
    target = len(scope.get("raw_path") or scope["path"]) + len(query)
    if target > limits.target_bytes:
        detail = f"Path and query have more than {limits.target_bytes:,} bytes."
        return 414, "target_too_long", detail
    if query.count(b"&") >= limits.parameters:
        detail = f"The query has more than {limits.parameters} parameters."
        return 414, "too_many_parameters", detail
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    if len(headers) > limits.headers:
        detail = f"The request has more than {limits.headers} headers."
        return 431, "head_too_large", detail
    if sum(len(name) + len(value) + _LINE_BYTES for name, value in headers) > limits.header_bytes:
        detail = f"The headers have more than {limits.header_bytes:,} bytes."
        return 431, "head_too_large", detail
    return None


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
        if self._is_too_large(Headers(scope=scope).get("Content-Length", "0")):
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

    def _is_too_large(self, declared: str) -> bool:
        # Python reads no number of thousands of digits, so one with more digits than the limit is not read.
        digits = declared.lstrip("0")
        return digits.isdecimal() and (len(digits) > len(str(self.max_bytes)) or int(digits) > self.max_bytes)
