"""The reporter of a process: writes what it has counted every few seconds, and hands it over when it ends.

    begin ── renew, renew, … ── end          the process ends as it should: its last figures are in `ended`
                           └──── (silence)   it was killed: whoever reports or reads next ends its report

Figures are totals since the process was started, so a report that is written twice says the same. One whose report
was ended while it stood still begins another, and counts from there.
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
"""How often a process writes its report, if it did anything."""
HEARTBEAT: Final = timedelta(seconds=20)
"""How often one writes it that did nothing."""


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
            session: writes the reports, and counts what they cost under the service `partita`.
            count: gives what the process has counted since it was started.
            name: what people call the process.
            services: what it works for.
        """
        self._session = session.of_service(SERVICE)
        self._count = count
        self._name = name
        self._services = tuple(services)
        self._started = self._now()
        self._before = ProcessFigures()
        """What earlier reports of this process have handed over already."""
        self._written = ProcessFigures()
        self._report: ProcessReport | None = None

    def report(self) -> None:
        """Write what was counted, if it is news; the reports of others that are dead are ended.

        Raises:
            PartitaError: the store is in trouble; the next report says it all again.
        """
        if self._report is None:
            self._session.run(end_dead_reports(self._now()))
            self._begin()
        elif self._is_news(self._counted()):
            self._renew(self._report)

    def _counted(self) -> ProcessFigures:
        return self._count().minus(self._before)

    def end(self) -> None:
        """Write what was counted for the last time, and add it to what the processes that ended have counted.

        Raises:
            PartitaError: the store is in trouble; whoever comes next ends the report, as it was written last.
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
        except ItemMissing:  # it was taken for dead; what it had written is among the figures of those that ended
            self._before, self._report = self._before.plus(self._written), None
            self._begin()
            return
        except ConditionFailed as error:  # the last write had no response, but was done
            self._report = self._session.run(renew_report(error.current, figures.packed(), self._now()))
        self._written = figures

    def _is_news(self, figures: ProcessFigures) -> bool:
        """Whether there is more to say than what reports themselves have cost; or that the process lives."""
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
    """Report from a thread while the block runs, and for the last time at its end. Trouble is logged once."""
    stop = threading.Event()
    thread = threading.Thread(target=_report_until, args=(reporter, stop, every), name="reports", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        with suppress(PartitaError):  # the report is there as it was written last
            reporter.end()


def _report_until(reporter: Reporter, stop: threading.Event, every: float) -> None:
    in_trouble = False
    while True:
        try:
            reporter.report()
            in_trouble = False
        except PartitaError as error:
            if not in_trouble:
                logger.warning("This process cannot report what it consumes, and tries again: %s", error)
            in_trouble = True
        if stop.wait(every):
            return
