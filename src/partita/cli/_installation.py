"""What services open besides the store, as long as a command runs."""

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
    """What services may use of the data folder."""
    data.create()
    return Installation(data.path, data.secret, data.open_queue, url)


def tracking_queues(queues: dict[str, Queue], installation: Installation) -> Installation:
    """The same installation; the queues that are opened there are put into `queues`, by name."""

    def open_queue(name: str, policy: QueuePolicy) -> Queue:
        queues[name] = installation.open_queue(name, policy)
        return queues[name]

    return replace(installation, open_queue=open_queue)


def metering_queues(queues: dict[str, MeteredQueue], installation: Installation) -> Installation:
    """The same installation; what is done with the queues that are opened there is counted in `queues`, by name."""

    def open_queue(name: str, policy: QueuePolicy) -> Queue:
        queues[name] = MeteredQueue(installation.open_queue(name, policy), name=name)
        return queues[name]

    return replace(installation, open_queue=open_queue)


LEASES: Final = Service(
    name="partita-leases",
    title="Leases",
    summary="Who reads which shard of a change stream: one small table that all who fill a lake share.",
    tables=(LEASES_TABLE,),
    worker=lambda context: None,  # noqa: ARG005 - whoever fills a lake has leases; there is no worker of its own
    roles={
        "request": (heartbeats_of, leases_of, shared_streams),
        "worker": tuple(LEASES_TABLE.patterns),
    },
)
"""The table of leases as a service, for what is derived from services: templates and policies."""


def with_leases(services: Sequence[Service]) -> list[Service]:
    """The services, and the table of leases, if a lake can have the changes of one of them."""
    captured = any(table.schema.stream == "NEW_AND_OLD_IMAGES" for service in services for table in service.tables)
    return [*services, *([LEASES] if captured else [])]


def process_name() -> str:
    """What people call this process: its host and number."""
    return f"{socket.gethostname()}-{os.getpid()}"


def prepare_leases(store: Store) -> Session:
    """A session on the table of leases, which is made where it is missing."""
    session = Session(store).of_service(LEASES.name)
    session.create_tables([LEASES_TABLE])
    return session


def prepare_reports(session: Session) -> ProcessFigures:
    """Make the table of reports where it is missing; gives what was counted until now.

    Without the right to do so, work goes on, and nobody sees what it consumes.
    """
    try:
        session.create_tables([TABLE])
        return session.of_service(REPORTS.name).run(total_before())
    except PartitaError as error:
        logger.warning("What workers consume cannot be seen: the table %s is out of reach (%s).", TABLE.name, error)
        return ProcessFigures()


@contextmanager
def opening(services: Sequence[Service], installation: Installation) -> Iterator[dict[str, Any]]:
    """What each of the services has opened, by name; closed when the block ends."""
    with ExitStack() as opened:
        yield {
            service.name: opened.enter_context(service.resources(installation))
            for service in services
            if service.resources is not None
        }
