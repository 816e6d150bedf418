"""Reports: the consumption of each process, kept in the store, so that one process can show the sum of all."""

from partita.reports._figures import ProcessFigures
from partita.reports._model import REPORTS, TABLE, ProcessReport, all_reports, with_reports
from partita.reports._reader import FleetFigures, ReportReader, WorkerFigures, total_before
from partita.reports._reporter import EVERY_SECONDS, Reporter, reporting
from partita.reports._server_figures import EndpointFigures, ServerFigures

__all__ = [
    "EVERY_SECONDS",
    "REPORTS",
    "TABLE",
    "EndpointFigures",
    "FleetFigures",
    "ProcessFigures",
    "ProcessReport",
    "ReportReader",
    "Reporter",
    "ServerFigures",
    "WorkerFigures",
    "all_reports",
    "reporting",
    "total_before",
    "with_reports",
]
