"""Metrics of access patterns, workers, shards and backlogs: from this server's meter, workers' reports, and leases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from partita import Usage
from partita.change.shared import StreamFigures
from partita.http import BackgroundFigures
from partita.queue import QueueUsage
from partita.reports import FleetFigures, WorkerFigures

_BY_PATTERN: Final[tuple[tuple[str, str, Callable[[Usage], float]], ...]] = (
    ("partita_operations", "Runs of an access pattern.", lambda usage: usage.runs),
    ("partita_requests", "Requests to the store.", lambda usage: usage.requests),
    ("partita_consumed_read_units", "Read capacity units.", lambda usage: usage.read),
    ("partita_consumed_write_units", "Write capacity units.", lambda usage: usage.write),
    ("partita_over_budget", "Runs that consumed more than declared.", lambda usage: usage.over_budget),
    ("partita_retries", "Requests that were sent again.", lambda usage: usage.retries),
    ("partita_throttles", "Requests refused for lack of capacity.", lambda usage: usage.throttles),
    ("partita_conflicts", "Runs in which a condition was false.", lambda usage: usage.conflicts),
    ("partita_unclaimed_items", "Items read that no entity claims.", lambda usage: usage.unclaimed),
    ("partita_failures", "Runs that ended in an error.", lambda usage: usage.failures),
)
"""The counters, by names without the suffix `_total`, which the library adds."""


class PatternMetrics(Collector):
    """The counts by access pattern: of the meter of this server, and of workers, as they report them."""

    def __init__(self, usages: Mapping[str, Sequence[Usage]]) -> None:
        self._usages = usages

    def collect(self) -> Iterator[Metric]:
        """Yield one counter for each figure of the meter."""
        for name, what, count in _BY_PATTERN:
            counter = CounterMetricFamily(name, what, labels=["service", "pattern", "process"])
            for process, usages in self._usages.items():
                for usage in usages:
                    counter.add_metric([usage.service, usage.name, process], count(usage))
            yield counter


_BY_QUEUE: Final[tuple[tuple[str, str, Callable[[QueueUsage], float]], ...]] = (
    ("partita_messages_received", "Messages that workers received.", lambda usage: usage.received),
    ("partita_messages_redelivered", "Of those, messages received before.", lambda usage: usage.redelivered),
    ("partita_messages_acknowledged", "Messages that are done.", lambda usage: usage.acknowledged),
    ("partita_messages_postponed", "Messages that wait for another try.", lambda usage: usage.postponed),
    ("partita_queue_failures", "Requests to a queue that ended in an error.", lambda usage: usage.failures),
)


class WorkerMetrics(Collector):
    """The work of workers on queues, their lag, and how many of them are alive."""

    def __init__(self, services: Sequence[str], fleet: FleetFigures) -> None:
        self._services = services
        self._fleet = fleet

    def collect(self) -> Iterator[Metric]:
        """Yield counters by queue, and gauges of the workers that are alive."""
        for name, what, count in _BY_QUEUE:
            counter = CounterMetricFamily(name, what, labels=["queue"])
            for usage in self._fleet.counted.queues:
                counter.add_metric([usage.name], count(usage))
            yield counter
        yield _gauge("partita_workers", "Workers that report.", "service", self._workers())
        lags = _max_lags(self._fleet.workers)
        yield _gauge("partita_worker_lag_seconds", "Age of the messages that workers received last.", "queue", lags)
        known = GaugeMetricFamily("partita_reports_known", "Whether the reports of workers can be read.")
        known.add_metric([], float(self._fleet.is_known))
        yield known

    def _workers(self) -> dict[str, float]:
        return {name: sum(name in each.services for each in self._fleet.workers) for name in self._services}


def _max_lags(workers: Sequence[WorkerFigures]) -> dict[str, float]:
    lags: dict[str, float] = {}
    for queue in (queue for worker in workers for queue in worker.queues):
        lags[queue.name] = max(lags.get(queue.name, 0.0), queue.lag_seconds)
    return lags


class BacklogMetrics(Collector):
    """The backlog: in queues, and in the change streams that projections read."""

    def __init__(self, figures: BackgroundFigures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Yield gauges by queue and by service."""
        depth = GaugeMetricFamily("partita_queue_messages", "Messages in a queue.", labels=["queue", "state"])
        for name, stats in self._figures.queues.items():
            for state in ("waiting", "in_flight", "dead"):
                depth.add_metric([name, state], getattr(stats, state))
        yield depth
        ages = {name: each.oldest_seconds or 0.0 for name, each in self._figures.queues.items()}
        yield _gauge("partita_queue_oldest_seconds", "Age of the oldest message.", "queue", ages)
        records = {name: lag.records for name, lag in self._figures.lags.items()}
        yield _gauge("partita_projection_lag_records", "Changes not read yet.", "service", records)
        seconds = {name: lag.seconds for name, lag in self._figures.lags.items()}
        yield _gauge("partita_projection_lag_seconds", "Age of the oldest change not read yet.", "service", seconds)


class ShardMetrics(Collector):
    """The owner and the lag of each shard of the streams that workers share: of all processes, from their leases."""

    def __init__(self, figures: StreamFigures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Yield whether each shard is being read, and the lag of those that are."""
        place = ["table", "sink", "shard"]
        owned = GaugeMetricFamily("partita_shard_owned", "Whether a process reads a shard.", labels=[*place, "owner"])
        lag = GaugeMetricFamily("partita_shard_lag_seconds", "Age of the oldest change not in the sink.", labels=place)
        for each in self._figures.shards:
            at = [each.table, each.sink, each.shard]
            owned.add_metric([*at, each.owner or ""], float(each.owner is not None))
            if each.lag_seconds is not None:
                lag.add_metric(at, each.lag_seconds)
        yield owned
        yield lag
        known = GaugeMetricFamily("partita_leases_known", "Whether the leases of shards can be read.")
        known.add_metric([], float(self._figures.is_known))
        yield known


def _gauge(name: str, what: str, label: str, values: Mapping[str, float]) -> Metric:
    gauge = GaugeMetricFamily(name, what, labels=[label])
    for key, value in values.items():
        gauge.add_metric([key], value)
    return gauge
