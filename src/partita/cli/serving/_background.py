"""The work besides serving: preparing the store, and with several processes, one that sweeps and projects for all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from partita import Meter, Session
from partita.cli._data_folder import EMBEDDED, DataFolder
from partita.cli._installation import prepare_reports
from partita.cli._vanished import await_folder
from partita.cli.data import begin_seeding, build_projections, filling, is_seeding, projecting, seed_service
from partita.cli.processes import ConnectionBoard, ProcessChannel
from partita.errors import TableNotFound
from partita.reports import ServerFigures
from partita.service import Service
from partita.store import DescribeTable, Store, write_troubles

SWEEP_SECONDS: Final = 60.0


class Background(Struct, frozen=True):
    """The settings of the work besides serving."""

    lake: str | None
    workers: int
    seed: bool | None
    """Whether to add sample data; None if neither `--seed` nor `--no-seed` was given."""

    def prepare(self, services: Sequence[Service], store: Store, data: DataFolder) -> list[Service]:
        """Create the tables, with sample data if wanted. Return the services that got some."""
        with_samples = data.store == EMBEDDED if self.seed is None else self.seed
        return prepare(services, store, data, with_samples=with_samples, asked=self.seed is True)

    def prepare_folder(self, services: Sequence[Service], data: DataFolder) -> None:
        """Open the store, prepare it, build the projections of services that got sample data, and close the store."""
        with closing(data.open_store()) as store:
            build_projections(self.prepare(services, store, data), store, data)


def run_background(
    channel: ProcessChannel,
    _number: int,
    _board: ConnectionBoard,
    services: Sequence[Service],
    data: DataFolder,
    background: Background,
) -> None:
    """Do the work that only one process may do, until the supervisor sends `Stop`. The store is already prepared."""
    data = replace(data, is_in_use=True)
    await_folder(data, channel.stopping)
    if channel.stopping.is_set():
        return
    meter, troubles = Meter(), dict[str, str]()
    with closing(data.open_store(sweep_every=SWEEP_SECONDS)) as store:
        before = prepare_reports(Session(store, meter=meter))
        data.secret("cursors")  # an error with it is reported once, here
        channel.count_with(lambda: ServerFigures(meter.usage()), lambda: {**troubles, **write_troubles(store)})
        with projecting(services, store, data, troubles), filling(background.lake, services, store, data, troubles):
            channel.ready(before=before)
            channel.wait_for_stop()


def prepare(
    services: Sequence[Service], store: Store, data: DataFolder, *, with_samples: bool, asked: bool = False
) -> list[Service]:
    """Create the tables. A service gets sample data if it had no tables yet, or if `asked`; or the missing rest of it.

    Return the services that got some.
    """
    session, seeded = Session(store, keys=data.keys()), list[Service]()
    for service in services:
        if with_samples and service.seed is not None and (asked or _is_new(service, store)):
            begin_seeding(service, data)  # before its tables are created, because then it is no longer new
        session.create_tables(service.tables)
        if with_samples and is_seeding(service, data):
            seed_service(service, session, data)
            seeded.append(service)
    return seeded


def _is_new(service: Service, store: Store) -> bool:
    return not any(_exists(store, table.name) for table in service.tables)


def _exists(store: Store, table: str) -> bool:
    try:
        store.execute(DescribeTable(table))
    except TableNotFound:
        return False
    return True
