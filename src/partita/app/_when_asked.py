"""An app that is built at its first request, so that a server needs no memory for an app that nobody uses."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


class WhenAsked:
    """The placeholder that is mounted instead of the app. It must be used in one event loop."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        self._app = self._app or self._make()
        await self._app(scope, receive, send)
