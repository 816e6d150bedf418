"""Ending a report: the figures of a process are added to the total of ended processes, exactly once."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from partita.errors import TransactionCancelled
from partita.operations import Procedure, retry_on_conflict
from partita.reports._model import ENDED, ProcessReport, all_reports, end_report, report_of

MAX_PROCESSES: Final = 1_000
"""The most processes whose reports are read."""


def read_reports() -> Procedure[tuple[ProcessReport, ...]]:
    """The reports of all live processes, and the total of the ended ones."""
    found = yield from all_reports().consistent().walk(max_items=MAX_PROCESSES)
    return found.items


def end_dead_reports(now: datetime) -> Procedure[None]:
    """End the reports of processes that were killed: keep their figures and delete their items."""
    for report in (yield from read_reports()):
        if report.is_dead(now):
            yield from end_one(report, now)


def end_one(report: ProcessReport, now: datetime) -> Procedure[None]:
    """Add the figures of a process to the total of the ended ones, and delete its report.

    Do nothing if the process has reported again in the meantime, or if another process has ended its report.
    """

    def end() -> Procedure[None]:
        ended = yield from report_of(ENDED).consistent()
        try:
            yield from end_report(report, ended, now)
        except TransactionCancelled as cancelled:
            if cancelled.reasons[0].error is None:
                raise

    yield from retry_on_conflict(end)
