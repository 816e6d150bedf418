"""Metrics in Prometheus' text format, at `/metrics`: requests by route, and operations by access pattern.

Written by hand: the meter counts already, the format is a few lines, and a client library would keep a second,
global registry of the same numbers.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partita import Meter, Usage
from partita.app._routes import route_of
from partita.http import REPLAYED

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends of the latency histogram, in seconds."""


class _Endpoint(Struct, frozen=True):
    """What requests are counted by."""

    method: str
    route: str
    status: int


class _Latency(Struct):
    """How long the requests of one endpoint took: how many fell into each bucket, the last being all beyond."""

    counts: list[int]
    total: float = 0.0


class Requests:
    """Counts the requests of one app. Safe for any number of threads."""

    def __init__(self) -> None:
        self._latencies: dict[_Endpoint, _Latency] = {}
        self._replays: dict[str, int] = {}
        self._lock = threading.Lock()

    def record(self, method: str, route: str, status: int, seconds: float, *, replayed: bool) -> None:
        """Count one request."""
        endpoint = _Endpoint(method, route, status)
        with self._lock:
            latency = self._latencies.get(endpoint)
            if latency is None:
                latency = self._latencies[endpoint] = _Latency([0] * (len(BUCKETS) + 1))
            latency.counts[bisect_left(BUCKETS, seconds)] += 1
            latency.total += seconds
            if replayed:
                self._replays[route] = self._replays.get(route, 0) + 1

    def samples(self) -> Iterator[str]:
        """The lines of the text format."""
        with self._lock:
            latencies = {endpoint: (list(found.counts), found.total) for endpoint, found in self._latencies.items()}
            replays = dict(self._replays)
        name = "partita_http_request_duration_seconds"
        yield from _head(name, "histogram", "How long requests took.")
        for endpoint, (counts, total) in latencies.items():
            labels = {"method": endpoint.method, "route": endpoint.route, "status": str(endpoint.status)}
            reached = 0
            for bound, count in zip((*BUCKETS, "+Inf"), counts, strict=True):
                reached += count
                yield _sample(f"{name}_bucket", {**labels, "le": f"{bound}"}, reached)
            yield _sample(f"{name}_sum", labels, total)
            yield _sample(f"{name}_count", labels, reached)
        name = "partita_idempotent_replays_total"
        yield from _head(name, "counter", "Requests that were answered with a stored answer.")
        yield from (_sample(name, {"route": route}, count) for route, count in replays.items())


class MeasuredRequests:
    """Middleware that counts every request, and how long it took."""

    def __init__(self, app: ASGIApp, requests: Requests, timer: Callable[[], float] = time.perf_counter) -> None:
        self.app = app
        self.requests = requests
        self.timer = timer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = self.timer()
        status, replayed = 500, False  # an error that nobody answers becomes a 500 further out

        async def send_watching(message: Message) -> None:
            nonlocal status, replayed
            if message["type"] == "http.response.start":
                status = message["status"]
                replayed = any(name.lower() == REPLAYED.lower().encode() for name, _ in message["headers"])
            await send(message)

        try:
            await self.app(scope, receive, send_watching)
        finally:
            self.requests.record(scope["method"], route_of(scope), status, self.timer() - started, replayed=replayed)


_BY_PATTERN: Final[tuple[tuple[str, str, Callable[[Usage], float]], ...]] = (
    ("partita_operations_total", "Runs of an access pattern.", lambda usage: usage.runs),
    ("partita_requests_total", "Requests to the store.", lambda usage: usage.requests),
    ("partita_consumed_read_units_total", "Read capacity units.", lambda usage: usage.read),
    ("partita_consumed_write_units_total", "Write capacity units.", lambda usage: usage.write),
    ("partita_over_budget_total", "Runs that consumed more than declared.", lambda usage: usage.over_budget),
    ("partita_retries_total", "Requests that were sent again.", lambda usage: usage.retries),
    ("partita_throttles_total", "Requests refused for want of capacity.", lambda usage: usage.throttles),
    ("partita_conflicts_total", "Runs in which a condition was false.", lambda usage: usage.conflicts),
    ("partita_failures_total", "Runs that ended in an error.", lambda usage: usage.failures),
)


def metrics_text(requests: Requests, meter: Meter) -> str:
    """All metrics as text."""
    return "\n".join((*requests.samples(), *_pattern_samples(meter.usage()), ""))


def _pattern_samples(usages: Iterable[Usage]) -> Iterator[str]:
    usages = tuple(usages)
    for name, what, count in _BY_PATTERN:
        yield from _head(name, "counter", what)
        yield from (_sample(name, {"service": usage.service, "pattern": usage.name}, count(usage)) for usage in usages)


def _head(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP {name} {what}"
    yield f"# TYPE {name} {kind}"


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{inside}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
