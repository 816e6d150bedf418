"""A span for each request, if OpenTelemetry's API is installed and the program has configured it.

Without a configured provider no spans are made; without the package nothing is imported.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partita import Consumption, Meter
from partita.app._routes import method_of, route_of

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

SERVER_ERROR = 500
ASK_SECONDS: Final = 1.0
"""How long it may take to notice that the program has configured a provider."""


def can_trace() -> bool:
    """Whether OpenTelemetry's API is installed."""
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.trace") is not None


class TracedRequests:
    """Middleware that wraps each request in a span, which continues the caller's trace and records the consumption."""

    def __init__(
        self,
        app: ASGIApp,
        meter: Meter,
        provider: TracerProvider | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from opentelemetry import trace  # noqa: PLC0415 - an optional package

        self._current_provider = trace.get_tracer_provider
        self._unconfigured = trace.ProxyTracerProvider
        self.app = app
        self.meter = meter
        self._clock = clock
        self._wants_spans = provider is not None
        self._ask_at = 0.0
        self.tracer = trace.get_tracer("partita.http", tracer_provider=provider)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pass the request on; without a coroutine in between if no spans are wanted."""
        wants_span = scope["type"] == "http" and self._is_configured()
        return (self._traced if wants_span else self.app)(scope, receive, send)

    async def _traced(self, scope: Scope, receive: Receive, send: Send) -> None:
        from opentelemetry.propagate import extract  # noqa: PLC0415
        from opentelemetry.trace import SpanKind  # noqa: PLC0415

        caller = extract(Headers(scope=scope))
        with (
            self.tracer.start_as_current_span(method_of(scope), caller, SpanKind.SERVER) as span,
            self.meter.watch() as seen,
        ):

            async def send_watching(message: Message) -> None:
                if message["type"] == "http.response.start":
                    _describe(span, scope, message["status"], seen)
                await send(message)

            await self.app(scope, receive, send_watching)

    def _is_configured(self) -> bool:
        """Whether the program has configured a provider: until then spans record nothing, and need not be created.

        OpenTelemetry reads the environment for this, so it is called only once a second.
        """
        if not self._wants_spans and (now := self._clock()) >= self._ask_at:
            self._wants_spans = not isinstance(self._current_provider(), self._unconfigured)
            self._ask_at = now + ASK_SECONDS
        return self._wants_spans


def _describe(span: Span, scope: Scope, status: int, seen: Iterable[Consumption]) -> None:
    from opentelemetry.trace import StatusCode  # noqa: PLC0415

    method, route = method_of(scope), route_of(scope)
    span.update_name(f"{method} {route}")
    span.set_attributes({"http.request.method": method, "http.route": route})
    span.set_attribute("http.response.status_code", status)
    for run in seen:
        span.add_event("operation", {"partita.pattern": run.name, "partita.rcu": run.read, "partita.wcu": run.write})
    if status >= SERVER_ERROR:
        span.set_status(StatusCode.ERROR)
