"""The figures of other processes that a server shows: the sum of all reports since its start, and the live workers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from partita.errors import PartitaError
from partita.operations import Procedure
from partita.queue import QueueUsage
from partita.reports._ending import end_one, read_reports
from partita.reports._figures import ProcessFigures, figures_sum
from partita.reports._model import SERVICE, ProcessReport
from partita.session import AsyncSession

READ_SECONDS: Final = 2.0
"""Figures that were read within this time are reused."""


class WorkerFigures(Struct, frozen=True):
    """A live worker process, according to its last report."""

    name: str
    services: tuple[str, ...]
    started_at: datetime
    silent_seconds: float
    """Seconds since its last report."""
    queues: tuple[QueueUsage, ...]


class FleetFigures(Struct, frozen=True):
    """The sum of the counts of all workers, and the live workers."""

    counted: ProcessFigures = ProcessFigures()
    workers: tuple[WorkerFigures, ...] = ()
    is_known: bool = True
    """Whether the last read of the reports succeeded; if not, these are the last known figures."""


def total_of(reports: Sequence[ProcessReport]) -> ProcessFigures:
    """The counts of all processes, including ended ones."""
    return figures_sum(report.counted for report in reports)


class ReportReader:
    """Reads the reports of all processes, for one event loop. Sums start at its creation, like a server's own."""

    def __init__(self, session: AsyncSession, before: ProcessFigures = ProcessFigures()) -> None:  # noqa: B008 - frozen
        """Set up a reader; `before` is the total at its start, from `total_before`."""
        self._session = session.of_service(SERVICE)
        self._before = before
        self._read_at = float("-inf")
        self._figures = FleetFigures()
        self._one_at_a_time = asyncio.Lock()

    async def figures(self) -> FleetFigures:
        """The figures of all workers; the last known ones if the store fails."""
        async with self._one_at_a_time:
            clock = self._session.context.clock()
            if not 0 <= clock - self._read_at < READ_SECONDS:
                self._read_at = clock
                self._figures = await self._read(datetime.fromtimestamp(clock, UTC))
            return self._figures

    async def _read(self, now: datetime) -> FleetFigures:
        try:
            reports = await self._session.run(read_reports())
            figures = FleetFigures(total_of(reports).minus(self._before), tuple(_working(reports, now)))
            for dead in (report for report in reports if report.is_dead(now)):
                await self._session.run(end_one(dead, now))
        except PartitaError:
            return FleetFigures(self._figures.counted, (), is_known=False)
        return figures


def total_before() -> Procedure[ProcessFigures]:
    """The total counts of all processes until now, from which a reader starts."""
    return total_of((yield from read_reports()))


def _working(reports: Sequence[ProcessReport], now: datetime) -> list[WorkerFigures]:
    return [
        WorkerFigures(
            report.name,
            report.services,
            report.started_at,
            max(0.0, (now - report.reported_at).total_seconds()),
            report.counted.queues,
        )
        for report in reports
        if report.is_live(now)
    ]
