"""A function that handles HTTP requests: an ASGI app, called with one request at a time, always in one event loop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from partita.functions._http_events import Header, HttpResult, Scope, http_event, http_result

logger: Final = logging.getLogger("partita.functions")

App: TypeAlias = Callable[[Any, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[Any]]
MAX_RESPONSE_BYTES: Final = 4_500_000
"""AWS accepts 6 MB from a function: the headers, and the body, which may be encoded as base64."""
STOP_SECONDS: Final = 3.0
"""How long before the function's timeout a streaming response is asked to end."""
CANCEL_SECONDS: Final = 1.0
"""How long before the function's timeout a running request is cancelled; without a response yet, it gets a 504."""


class FunctionContext(Protocol):
    """The context that AWS Lambda passes to a function, besides the event."""

    def get_remaining_time_in_millis(self) -> int:
        """Return how long the function may still run."""
        ...


class HttpHandler:
    """Handles the requests of API Gateway and of function URLs with an ASGI app.

    handler = HttpHandler(app)     # AWS Lambda calls handler(event, context)
    """

    def __init__(
        self, app: App, *, stopping: threading.Event | None = None, after: Callable[[], object] | None = None
    ) -> None:
        """Handle requests with an app.

        Args:
            app: any ASGI app, such as the result of `build_app`.
            stopping: set when time runs out, and cleared before each request: `AppState.stopping`.
            after: called after each request, even if it failed.
        """
        self._app = app
        self._after = after
        self._stopping = stopping or threading.Event()
        self._runner = asyncio.Runner()

    def __call__(self, event: Any, context: FunctionContext | None = None) -> dict[str, Any]:
        """Handle the request in an event.

        Raises:
            EventRefused: the event does not contain a request.
        """
        request = http_event(event)
        if request.body is None:
            return http_result(_problem(400, "bad_body", "The body is not base64."), request.format)
        seconds = None if context is None else context.get_remaining_time_in_millis() / 1000
        try:
            result = self._runner.run(self._respond(request.scope, request.body, seconds))
        finally:
            if self._after is not None:
                self._after()
        if len(result.body) > MAX_RESPONSE_BYTES:
            logger.error("A response of %d bytes is larger than AWS Lambda accepts.", len(result.body))
            detail = f"The response has {len(result.body):,} bytes; at most {MAX_RESPONSE_BYTES:,} can be sent."
            result = _problem(500, "response_too_large", detail)
        return http_result(result, request.format)

    def close(self) -> None:
        """Close the event loop."""
        self._runner.close()

    async def _respond(self, scope: Scope, body: bytes, seconds: float | None) -> HttpResult:
        self._stopping.clear()
        timer = None
        if seconds is not None:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(max(seconds - STOP_SECONDS, 0.0), self._stopping.set)
        exchange = _Exchange(body)
        try:
            limit = None if seconds is None else max(seconds - CANCEL_SECONDS, 0.0)
            await asyncio.wait_for(self._app(scope, exchange.receive, exchange.send), limit)
        except TimeoutError:
            if exchange.status is None:
                return _problem(504, "timeout", "The function has no time left.")
        except Exception:
            if not exchange.is_complete:  # a complete response already reports the problem
                raise
            logger.exception("The app failed after it had responded.")
        finally:
            if timer is not None:
                timer.cancel()
        return exchange.result()


class _Exchange:
    """One request and its response, with the `receive` and `send` of ASGI."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._parts: list[bytes] = []
        self._headers: list[Header] = []
        self.status: int | None = None
        self.is_complete = False
        self._complete = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        """Return the whole body at once; after that, wait until the response is complete."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._complete.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        """Store a part of the response."""
        if message["type"] == "http.response.start":
            self.status, self._headers = message["status"], [(name, value) for name, value in message["headers"]]
        elif message["type"] == "http.response.body":
            self._parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                self.is_complete = True
                self._complete.set()

    def result(self) -> HttpResult:
        """Return the response of the app, or a problem if it sent none."""
        if self.status is None:
            return _problem(500, "internal", "The app sent no response.")
        return HttpResult(self.status, self._headers, b"".join(self._parts))


def _problem(status: int, code: str, detail: str) -> HttpResult:
    """A problem in the form of the app's own, for errors that the app cannot report itself."""
    body = msgspec.json.encode({"type": "about:blank", "status": status, "code": code, "detail": detail})
    headers = [(b"content-type", b"application/problem+json"), (b"cache-control", b"no-store")]
    return HttpResult(status, headers, body)
