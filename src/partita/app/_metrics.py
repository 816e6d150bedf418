"""Metrics at `/metrics`, for Prometheus: requests by route, and the metrics of `_pattern_metrics`.

Requests are counted here and operations by the meter; Prometheus' client library only writes the text. Its own
counters would duplicate the meter's numbers, in a registry that is global to the process.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from msgspec import Struct
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from partita import Usage
from partita.app._pattern_metrics import BacklogMetrics, PatternMetrics, ShardMetrics, WorkerMetrics
from partita.http import REPLAYED, BackgroundFigures
from partita.reports import EndpointFigures, ServerFigures

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets of the latency histogram, in seconds."""
_BOUNDS: Final = (*map(str, BUCKETS), "+Inf")
_REPLAYED: Final = REPLAYED.lower().encode()


class _Latency(Struct):
    """The latencies of one endpoint: the number of requests in each bucket, of which the last has no upper bound."""

    counts: list[int]
    total: float = 0.0


class RequestMetrics:
    """Counts the requests of one app. Thread-safe."""

    def __init__(self) -> None:
        self._latencies: dict[tuple[str, str, int], _Latency] = {}
        self._replays: dict[str, int] = {}
        self._lock = threading.Lock()

    def record(self, method: str, route: str, status: int, seconds: float, *, replayed: bool) -> None:
        """Count one request."""
        endpoint = method, route, status
        with self._lock:
            latency = self._latencies.get(endpoint)
            if latency is None:
                latency = self._latencies[endpoint] = _Latency([0] * len(_BOUNDS))
            latency.counts[bisect_left(BUCKETS, seconds)] += 1
            latency.total += seconds
            if replayed:
                self._replays[route] = self._replays.get(route, 0) + 1

    def figures(self, usage: Sequence[Usage] = ()) -> ServerFigures:
        """Return the counts so far, together with the given usage."""
        with self._lock:
            endpoints = tuple(
                EndpointFigures(*endpoint, tuple(latency.counts), latency.total)
                for endpoint, latency in self._latencies.items()
            )
            return ServerFigures(tuple(usage), endpoints, dict(self._replays))


class _RequestCollector(Collector):
    """The requests of all processes of a server."""

    def __init__(self, figures: ServerFigures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Yield the latencies by endpoint, and the replays by route."""
        durations = HistogramMetricFamily(
            "partita_http_request_duration_seconds", "How long requests took.", labels=["method", "route", "status"]
        )
        replays = CounterMetricFamily(
            "partita_idempotent_replays", "Requests that got a stored response.", labels=["route"]
        )
        for each in self._figures.endpoints:
            buckets = list(zip(_BOUNDS, accumulate(each.counts), strict=True))
            durations.add_metric([each.method, each.route, str(each.status)], buckets, each.seconds)
        for route, count in self._figures.replays.items():
            replays.add_metric([route], count)
        yield durations
        yield replays


def is_replay(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a response is a replay of a stored one."""
    return any(name == _REPLAYED for name, _ in headers)


def metrics_text(server: ServerFigures, services: Sequence[str], background: BackgroundFigures) -> bytes:
    """All metrics in Prometheus' text format: the counts of all server processes, and figures of background work."""
    registry = CollectorRegistry()
    registry.register(_RequestCollector(server))
    registry.register(PatternMetrics({"server": server.usage, "worker": background.fleet.counted.usage}))
    registry.register(WorkerMetrics(services, background.fleet))
    registry.register(BacklogMetrics(background))
    registry.register(ShardMetrics(background.streams))
    return generate_latest(registry)
