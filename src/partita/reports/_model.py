"""The stored reports of processes: one item for each live process, and one for all that have ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Final, Literal

from partita.model import Entity, Key, Rcu, Table, Version, Wcu, f
from partita.operations import Put, Transaction, Update, delete, insert, transact, update
from partita.patterns import get, pattern, query
from partita.reports._figures import ProcessFigures
from partita.service import Service
from partita.store import DeleteItem, PutItem, UpdateItem

TABLE: Final = Table("PartitaReports")
"""The table of the reports."""
SERVICE: Final = "partita"
"""The service under which the meter counts the cost of the reports themselves."""
ENDED: Final = "ended"
"""The identifier of the report that sums up all ended processes."""
SILENT: Final = timedelta(seconds=45)
"""A process that has not reported for this long is not counted as live."""
DEAD: Final = timedelta(seconds=120)
"""A process that has not reported for this long counts as dead: its figures are added to those of ended ones."""


class ProcessReport(Entity, table=TABLE):
    """The counts of a process since its start; or, with the identifier `ended`, those of all ended processes."""

    primary: ClassVar = Key("PROCESSES", "PROCESS#{process_id}")

    process_id: str
    name: str
    """The displayed name: host and process number."""
    kind: Literal["worker", "ended"]
    services: tuple[str, ...]
    started_at: datetime
    reported_at: datetime
    figures: bytes
    """`ProcessFigures`, packed."""
    version: Version = 0

    @property
    def counted(self) -> ProcessFigures:
        """The unpacked figures."""
        return ProcessFigures.unpacked(self.figures)

    def is_live(self, now: datetime) -> bool:
        """Whether the process has reported recently."""
        return self.kind != ENDED and now - self.reported_at < SILENT

    def is_dead(self, now: datetime) -> bool:
        """Whether the process has been silent for too long."""
        return self.kind != ENDED and now - self.reported_at >= DEAD


@query(ProcessReport, ProcessReport.primary, budget=Rcu(125))
def all_reports() -> None:
    """The reports of all processes; about 1 RCU for every ten workers."""


@get(ProcessReport, budget=Rcu(25))
def report_of(process_id: str) -> None:
    """The report of one process."""


@pattern(budget=Wcu(100))
def begin_report(report: ProcessReport) -> Put[ProcessReport]:
    """Write the first report of a process; 1 WCU for each KB, which are about 15 access patterns."""
    return insert(report)


@pattern(budget=Wcu(100))
def renew_report(report: ProcessReport, figures: bytes, now: datetime) -> Update[ProcessReport]:
    """Write the current counts of a process; 1 WCU for each KB."""
    return update(report, f(ProcessReport.figures).set(figures), f(ProcessReport.reported_at).set(now))


@pattern(budget=Wcu(400), writes={ProcessReport: (DeleteItem, PutItem, UpdateItem)})
def end_report(report: ProcessReport, ended: ProcessReport | None, now: datetime) -> Transaction:
    """Add the figures of a process to those of the ended ones, and delete its report: both or neither."""
    if ended is None:
        first = report.model_copy(
            update={
                "process_id": ENDED,
                "name": ENDED,
                "kind": ENDED,
                "services": (),
                "figures": report.counted.ended().packed(),
                "version": 0,
            }
        )
        return transact(delete(report), insert(first))
    total = ended.counted.plus(report.counted.ended()).packed()
    added = update(ended, f(ProcessReport.figures).set(total), f(ProcessReport.reported_at).set(now))
    return transact(delete(report), added)


REPORTS: Final = Service(
    name=SERVICE,
    title="Reports",
    summary="The reported consumption of worker processes: one small table that servers read.",
    tables=(TABLE,),
    worker=lambda context: None,  # noqa: ARG005 - every worker reports; the service needs no worker
    roles={
        "request": (all_reports, report_of, end_report),
        "worker": (all_reports, report_of, end_report, begin_report, renew_report),
    },
)
"""The table of reports as a service, so that templates and policies, which are derived from services, include it."""


def with_reports(services: Sequence[Service]) -> list[Service]:
    """The services, and the table in which their workers report, if one of them has workers."""
    return [*services, *([REPORTS] if any(service.worker for service in services) else [])]
