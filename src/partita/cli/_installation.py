"""The resources that services open in addition to the store while a command runs."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from msgspec.structs import replace

from partita import Session
from partita.change.shared import LEASES_TABLE, heartbeats_of, leases_of, shared_streams
from partita.cli._data_folder import DataFolder
from partita.errors import PartitaError
from partita.queue import MeteredQueue, Queue, QueuePolicy
from partita.reports import REPORTS, TABLE, ProcessFigures, total_before
from partita.service import Installation, Service
from partita.store import Store

logger: Final = logging.getLogger("partita.reports")


def installation_of(data: DataFolder, url: str | None = None) -> Installation:
    """The parts of the data folder that services may use."""
    data.create()
    return Installation(data.path, data.secret, data.open_queue, url)


def tracking_queues(queues: dict[str, Queue], installation: Installation) -> Installation:
    """The same installation, which adds the queues that it opens to `queues`, by name."""

    def open_queue(name: str, policy: QueuePolicy) -> Queue:
        queues[name] = installation.open_queue(name, policy)
        return queues[name]

    return replace(installation, open_queue=open_queue)


def metering_queues(queues: dict[str, MeteredQueue], installation: Installation) -> Installation:
    """The same installation, which adds the queues that it opens to `queues`, by name, and meters their use."""

    def open_queue(name: str, policy: QueuePolicy) -> Queue:
        queues[name] = MeteredQueue(installation.open_queue(name, policy), name=name)
        return queues[name]

    return replace(installation, open_queue=open_queue)


LEASES: Final = Service(
    name="partita-leases",
    title="Leases",
    summary="The process that reads each shard of a change stream: one small table for all that fill a lake.",
    tables=(LEASES_TABLE,),
    worker=lambda context: None,  # noqa: ARG005 - the processes that fill a lake use the leases; there is no worker
    roles={
        "request": (heartbeats_of, leases_of, shared_streams),
        "worker": tuple(LEASES_TABLE.patterns),
    },
)
"""The table of leases as a service, for deriving templates and policies from services."""


def with_leases(services: Sequence[Service]) -> list[Service]:
    """The services, with the table of leases if the changes of one of them can be written to a lake."""
    captured = any(table.schema.stream == "NEW_AND_OLD_IMAGES" for service in services for table in service.tables)
    return [*services, *([LEASES] if captured else [])]


def process_name() -> str:
    """A readable name of this process: its host and process id."""
    return f"{socket.gethostname()}-{os.getpid()}"


def prepare_leases(store: Store) -> Session:
    """A session on the table of leases, which is created if it is missing."""
    session = Session(store).of_service(LEASES.name)
    session.create_tables([LEASES_TABLE])
    return session


def prepare_reports(session: Session) -> ProcessFigures:
    """Create the table of reports if it is missing, and return the figures counted until now.

    Without permission for this, the work continues, but its consumption is not reported.
    """
    try:
        session.create_tables([TABLE])
        return session.of_service(REPORTS.name).run(total_before())
    except PartitaError as error:
        logger.warning("The consumption of workers is not shown: the table %s is unavailable (%s).", TABLE.name, error)
        return ProcessFigures()


@contextmanager
def opening(services: Sequence[Service], installation: Installation) -> Iterator[dict[str, Any]]:
    """The resources that each of the services has opened, by service name; closed when the block ends."""
    with ExitStack() as opened:
        yield {
            service.name: opened.enter_context(service.resources(installation))
            for service in services
            if service.resources is not None
        }
