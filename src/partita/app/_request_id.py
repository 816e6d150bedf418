"""Every response carries an `X-Request-Id`: the caller's own where it is well-formed, else a new one."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER: Final = "X-Request-Id"
_WELL_FORMED: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestId:
    """Middleware that gives each request an identifier, as `request.state.request_id` and in the response."""

    def __init__(self, app: ASGIApp, new_id: Callable[[], str] = lambda: secrets.token_hex(8)) -> None:
        self.app = app
        self.new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if _WELL_FORMED.fullmatch(given) else self.new_id()
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        await self.app(scope, receive, send_with_id)
