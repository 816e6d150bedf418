"""An app that is made for its first request: a server at rest has no memory for what nobody asks."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


class WhenAsked:
    """Stands where the app is mounted. It belongs to one event loop."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        self._app = self._app or self._make()
        await self._app(scope, receive, send)
