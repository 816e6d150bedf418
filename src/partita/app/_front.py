"""The first step of every request: limits, an identifier, metering, and the common headers of the response.

One middleware does all of this, because each middleware costs a coroutine, a closure and a copy of the headers.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partita import Meter
from partita.app._capacity import capacity_header
from partita.app._head import respond_to_head
from partita.app._limits import Limits
from partita.app._metrics import RequestMetrics, is_replay
from partita.app._request_id import given_request_id, new_request_id, request_id_header
from partita.app._routes import method_of, route_of
from partita.app._safe_responses import keep_private
from partita.app.direct import DirectRoutes


class Front:
    """Middleware that enforces the limits, gives each request an identifier, counts it and measures it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        meter: Meter,
        metrics: RequestMetrics,
        direct: DirectRoutes,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.app = app
        self.limits = limits
        self.meter = meter
        self.metrics = metrics
        self.direct = direct
        self.timer = timer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, directly to its route if that is known."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            await respond_to_head(self, scope, receive, send)
            return
        started = self.timer()
        request_id = given_request_id(scope) or new_request_id()
        scope.setdefault("state", {})["request_id"] = request_id
        status, replayed = 500, False  # an error without a response becomes a 500 in an outer layer

        with self.meter.watch() as seen:

            def send_completed(message: Message) -> Awaitable[None]:  # a plain function, which avoids a coroutine
                nonlocal status, replayed
                if message["type"] == "http.response.start":
                    status = message["status"]
                    headers = message["headers"] = list(message["headers"])
                    replayed = is_replay(headers)
                    headers += (capacity_header(seen), request_id_header(request_id))
                    keep_private(scope, headers)
                return send(message)

            app = self.limits.refusal(scope) or self.direct.find(scope) or self.app
            try:
                await app(scope, self.limits.receiving(receive), send_completed)
            finally:
                seconds = self.timer() - started
                self.metrics.record(method_of(scope), route_of(scope), status, seconds, replayed=replayed)


class GuardedApp:
    """Wraps another app in the same limits, and adds the headers that keep its responses private."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = list(message["headers"])
                keep_private(scope, message["headers"])
            await send(message)

        app = self.limits.refusal(scope) or self.app
        await app(scope, self.limits.receiving(receive), send_safely)
