"""The consumption of a function, as log lines in CloudWatch's embedded metric format (EMF).

A function has no `/metrics`, and may not live long enough to report. It writes a line for each access pattern that ran
while it handled an event, with the same names as `/metrics`, so that the same alarms watch both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from partita.functions._stream import DeliveredRecords
from partita.runtime import Clock, system_clock
from partita.session import Meter, Usage, usage_since

NAMESPACE: Final = "Partita"
_FIGURES: Final[tuple[tuple[str, Callable[[Usage], float]], ...]] = (
    ("partita_operations_total", lambda usage: usage.runs),
    ("partita_requests_total", lambda usage: usage.requests),
    ("partita_consumed_read_units_total", lambda usage: usage.read),
    ("partita_consumed_write_units_total", lambda usage: usage.write),
    ("partita_over_budget_total", lambda usage: usage.over_budget),
    ("partita_retries_total", lambda usage: usage.retries),
    ("partita_throttles_total", lambda usage: usage.throttles),
    ("partita_conflicts_total", lambda usage: usage.conflicts),
    ("partita_failures_total", lambda usage: usage.failures),
)
_DIMENSIONS: Final = (("job",), ("job", "pattern"))
"""By service, as in the alarms of templates; and by service and access pattern."""
_STREAM_METRICS: Final = (
    {"Name": "partita_changes_received_total", "Unit": "Count"},
    {"Name": "partita_changes_applied_total", "Unit": "Count"},
    {"Name": "partita_shard_lag_seconds", "Unit": "Seconds"},
)
_STREAM_DIMENSIONS: Final = (("job",), ("job", "table"))


def write_line(line: str) -> None:
    """Write a line to the log of the function, as one write, so that it is not mixed with other output."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class FigureLog:
    """Writes what a meter has counted since the last call."""

    def __init__(
        self, meter: Meter, *, write: Callable[[str], object] = write_line, clock: Clock = system_clock
    ) -> None:
        """Start from the current counts of the meter.

        Args:
            meter: counts the operations of the function.
            write: writes a line.
            clock: returns the time of a line.
        """
        self._meter = meter
        self._write = write
        self._clock = clock
        self._before = meter.usage()

    def __call__(self) -> None:
        """Write a line for each access pattern that ran since the last call."""
        before, self._before = self._before, self._meter.usage()
        for line in self._lines(usage_since(before, self._before)):
            self._write(line)

    def _lines(self, usages: tuple[Usage, ...]) -> Iterator[str]:
        metrics = [{"Name": name, "Unit": "Count"} for name, _ in _FIGURES]
        for usage in usages:
            figures = {name: count(usage) for name, count in _FIGURES}
            names = {"job": usage.service, "pattern": usage.name}
            yield _line(self._clock(), _DIMENSIONS, metrics, names | figures)


class StreamFigureLog:
    """Writes how many records of an event were delivered to all targets, and how old the next record is."""

    def __init__(
        self,
        services: Mapping[str, str],
        *,
        write: Callable[[str], object] = write_line,
        clock: Clock = system_clock,
    ) -> None:
        """Write lines for the tables of services.

        Args:
            services: the name of the service to which each table belongs, by the table's declared name.
            write: writes a line.
            clock: returns the time of a line.
        """
        self._services = services
        self._write = write
        self._clock = clock

    def __call__(self, delivered: DeliveredRecords) -> None:
        """Write a line for an event."""
        now = self._clock()
        said = {
            "job": self._services[delivered.table.name],
            "table": delivered.table.name,
            "partita_changes_received_total": delivered.received,
            "partita_changes_applied_total": delivered.applied,
            "partita_shard_lag_seconds": 0.0 if delivered.at is None else max(now - delivered.at, 0.0),
        }
        self._write(_line(now, _STREAM_DIMENSIONS, _STREAM_METRICS, said))


def _line(
    now: float, dimensions: Sequence[tuple[str, ...]], metrics: Sequence[dict[str, str]], said: dict[str, Any]
) -> str:
    declared = {"Namespace": NAMESPACE, "Dimensions": dimensions, "Metrics": metrics}
    head = {"_aws": {"Timestamp": int(now * 1000), "CloudWatchMetrics": [declared]}}
    return msgspec.json.encode(head | said).decode()
