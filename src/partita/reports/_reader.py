"""What a server shows of other processes: the sum of all reports since it was started, and which of them live."""

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
"""Who asks within this time gets what was read for another."""


class WorkerFigures(Struct, frozen=True):
    """A process that works, as its last report says."""

    name: str
    services: tuple[str, ...]
    started_at: datetime
    silent_seconds: float
    """How long ago it reported."""
    queues: tuple[QueueUsage, ...]


class FleetFigures(Struct, frozen=True):
    """What all workers together have counted, and which of them live."""

    counted: ProcessFigures = ProcessFigures()
    workers: tuple[WorkerFigures, ...] = ()
    is_known: bool = True
    """Whether the reports could be read the last time; where not, these are the figures so far."""


def total_of(reports: Sequence[ProcessReport]) -> ProcessFigures:
    """What all processes have counted, also those that have ended."""
    return figures_sum(report.counted for report in reports)


class ReportReader:
    """Reads the reports of all processes, for one event loop. Sums are since it was made, as a server's own are."""

    def __init__(self, session: AsyncSession, before: ProcessFigures = ProcessFigures()) -> None:  # noqa: B008 - frozen
        """Set up a reader; `before` is what had been counted when it began (`total_before`)."""
        self._session = session.of_service(SERVICE)
        self._before = before
        self._read_at = float("-inf")
        self._figures = FleetFigures()
        self._one_at_a_time = asyncio.Lock()

    async def figures(self) -> FleetFigures:
        """The figures of all workers; those of the last time where the store is in trouble."""
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
    """What all processes have counted until now, from which a reader begins."""
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
