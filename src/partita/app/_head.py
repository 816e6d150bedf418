"""HEAD: what responds to GET responds to HEAD with the same status and headers, without a body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class _Complete(Exception):
    """Ends a response that would send more of its body, perhaps without end."""


async def respond_to_head(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Have an app respond to a HEAD request as to a GET, and send all of it except the body."""
    asked = {**scope, "method": "GET"}

    async def send_head(message: Message) -> None:
        if message["type"] != "http.response.body":
            scope.update({**asked, "method": "HEAD"})  # outer layers read the route from the scope
            await send(message)
            return
        await send({"type": "http.response.body", "body": b""})
        if message.get("more_body", False):
            raise _Complete

    try:
        await app(asked, receive, send_head)
    except _Complete:
        return
