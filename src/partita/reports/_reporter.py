"""The reporter of a process: writes its counts every few seconds, and adds them to the ended ones when it ends.

    begin ── renew, renew, … ── end          the process ends normally: its last figures are added to `ended`
                           └──── (silence)   it was killed: the next process that reports or reads ends its report

Figures are totals since the start of the process, so writing a report twice does no harm. If the report of a suspended
process was ended by another, the process begins a new report and counts from there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from partita.errors import ConditionFailed, ItemMissing, PartitaError
from partita.reports._ending import end_dead_reports, end_one
from partita.reports._figures import ProcessFigures
from partita.reports._model import SERVICE, ProcessReport, begin_report, renew_report
from partita.runtime import new_ulid
from partita.session import Session

logger: Final = logging.getLogger("partita.reports")

EVERY_SECONDS: Final = 5.0
"""How often a process writes its report if its counts have changed."""
HEARTBEAT: Final = timedelta(seconds=20)
"""How often a process writes its report if its counts have not changed."""


class Reporter:
    """Reports for one process. It belongs to one thread."""

    def __init__(
        self,
        session: Session,
        count: Callable[[], ProcessFigures],
        *,
        name: str,
        services: Sequence[str] = (),
    ) -> None:
        """Set up a reporter; nothing is written yet.

        Args:
            session: writes the reports, and counts their cost under the service `partita`.
            count: returns the counts of the process since its start.
            name: the displayed name of the process.
            services: the services that the process works for.
        """
        self._session = session.of_service(SERVICE)
        self._count = count
        self._name = name
        self._services = tuple(services)
        self._started = self._now()
        self._before = ProcessFigures()
        """The figures of earlier reports of this process, which were already added to the ended ones."""
        self._written = ProcessFigures()
        self._report: ProcessReport | None = None

    def report(self) -> None:
        """Write the counts if they changed or a heartbeat is due; the first report also ends those of dead processes.

        Raises:
            PartitaError: the store failed; the next report contains everything.
        """
        if self._report is None:
            self._session.run(end_dead_reports(self._now()))
            self._begin()
        elif self._is_news(self._counted()):
            self._renew(self._report)

    def _counted(self) -> ProcessFigures:
        return self._count().minus(self._before)

    def end(self) -> None:
        """Write the counts for the last time, and add them to those of the ended processes.

        Raises:
            PartitaError: the store failed; another process will end the report with its last written figures.
        """
        self.report()
        if self._report is not None:
            self._session.run(end_one(self._report, self._now()))
            self._report = None

    def _begin(self) -> None:
        figures = self._counted()
        self._report = self._session.run(begin_report(self._new_report(figures)))
        self._written = figures

    def _renew(self, report: ProcessReport) -> None:
        figures = self._counted()
        try:
            self._report = self._session.run(renew_report(report, figures.packed(), self._now()))
        except ItemMissing:  # it counted as dead, so its written figures were added to the ended ones
            self._before, self._report = self._before.plus(self._written), None
            self._begin()
            return
        except ConditionFailed as error:  # the last write got no response, but was executed
            self._report = self._session.run(renew_report(error.current, figures.packed(), self._now()))
        self._written = figures

    def _is_news(self, figures: ProcessFigures) -> bool:
        """Whether more changed than the cost of the reports themselves, or a heartbeat is due."""
        is_due = self._report is not None and self._now() - self._report.reported_at >= HEARTBEAT
        return is_due or figures.without(SERVICE) != self._written.without(SERVICE)

    def _new_report(self, figures: ProcessFigures) -> ProcessReport:
        return ProcessReport(
            process_id=new_ulid(),
            name=self._name,
            kind="worker",
            services=self._services,
            started_at=self._started,
            reported_at=self._now(),
            figures=figures.packed(),
        )

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._session.context.clock(), UTC)


@contextmanager
def reporting(reporter: Reporter, *, every: float = EVERY_SECONDS) -> Iterator[None]:
    """Report from a thread while the block runs, and for the last time at its end. An outage is logged once."""
    stop = threading.Event()
    thread = threading.Thread(target=_report_until, args=(reporter, stop, every), name="reports", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        with suppress(PartitaError):  # the report remains as it was last written
            reporter.end()


def _report_until(reporter: Reporter, stop: threading.Event, every: float) -> None:
    in_trouble = False
    while True:
        try:
            reporter.report()
            in_trouble = False
        except PartitaError as error:
            if not in_trouble:
                logger.warning("This process cannot report its consumption and will try again: %s", error)
            in_trouble = True
        if stop.wait(every):
            return
