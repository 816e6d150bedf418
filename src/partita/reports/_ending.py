"""Ending a report: the figures of a process move to those that have ended, once, whoever does it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from partita.errors import TransactionCancelled
from partita.operations import Procedure, retry_on_conflict
from partita.reports._model import ENDED, ProcessReport, all_reports, end_report, report_of

MAX_PROCESSES: Final = 1_000
"""Of so many processes reports are read."""


def read_reports() -> Procedure[tuple[ProcessReport, ...]]:
    """The reports of all processes, and that of those that have ended."""
    found = yield from all_reports().consistent().walk(max_items=MAX_PROCESSES)
    return found.items


def end_dead_reports(now: datetime) -> Procedure[None]:
    """End the reports of processes that were killed: their figures are kept, and their items are not."""
    for report in (yield from read_reports()):
        if report.is_dead(now):
            yield from end_one(report, now)


def end_one(report: ProcessReport, now: datetime) -> Procedure[None]:
    """Add the figures of a process to those that ended, and delete its report.

    One that has reported again meanwhile is left alone, and so is one that somebody else has ended.
    """

    def end() -> Procedure[None]:
        ended = yield from report_of(ENDED).consistent()
        try:
            yield from end_report(report, ended, now)
        except TransactionCancelled as cancelled:
            if cancelled.reasons[0].error is None:
                raise

    yield from retry_on_conflict(end)
