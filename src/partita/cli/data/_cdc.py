"""`partita cdc`: write every change of a service into a lake, and report how far the lake lags."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from partita import Session, Table
from partita.change.shared import LeasePolicy, Membership, SharedConsumer, Upkeep, forget_sink, group_of, owners_of
from partita.cli._data_folder import DataFolder, store_options
from partita.cli._extras import needs_lake, require
from partita.cli._installation import prepare_leases, process_name
from partita.cli._instant import Instant
from partita.cli._names import service_argument
from partita.cli._output import echo_json, echo_table, json_option
from partita.cli._signals import on_stop_signal
from partita.cli.data._follow import Follower, Troubles, following
from partita.cli.data._lake import lake_option
from partita.errors import TableNotFound
from partita.service import Service
from partita.store import DescribeStream, Store

if TYPE_CHECKING:
    from partita.change.lake import Lake, LakeErasure, LakeLocation

BATCH: Final = 10_000
POLL_SECONDS: Final = 2.0
"""Each commit adds files to a lake, so changes are collected for a while and committed together."""
POLICY: Final = LeasePolicy()


@click.group()
def cdc() -> None:
    """Change data capture: write every change into a lake."""


@cdc.command()
@service_argument
@lake_option()
@store_options
@click.option("--once", is_flag=True, help="Stop when all existing changes have been read.")
@click.option("--start", type=Instant(), help="Fill a new lake only with changes from this instant on.")
@needs_lake
def run(service: Service, lake: str, data: DataFolder, *, once: bool, start: float | None) -> None:
    """Write every change into the lake, until Ctrl-C or SIGTERM.

    The existing items are loaded into a new lake first. Several processes may run at once, on any machines: they share
    the shards of each stream.
    """
    stop = threading.Event()
    with _opened(data) as store, _consumers(lake, [service], store, data, start) as consumers:
        for table, consumer in consumers.items():
            _catch_up(table, consumer)
        if once:
            return
        on_stop_signal(stop.set)
        click.echo(f"If this process is killed, others take over within {POLICY.takeover_seconds:g} seconds.")
        click.echo(f"Following {service.name} into {lake}. Stop with Ctrl-C.")
        with following(_named(consumers), poll_seconds=POLL_SECONDS):
            stop.wait()
    click.echo("Stopped.")


class _ShardStatus(Struct, frozen=True):
    """How far the lake of one table lags in one shard, and which process reads the shard."""

    shard: str
    owner: str | None
    records: int
    seconds: float


class _Status(Struct, frozen=True):
    """How far the lake of one table lags; None if it was never filled."""

    table: str
    records: int | None
    seconds: float | None
    shards: tuple[_ShardStatus, ...] = ()


@cdc.command()
@service_argument
@lake_option()
@store_options
@json_option
@needs_lake
def status(service: Service, lake: str, data: DataFolder, *, as_json: bool) -> None:
    """Show how far the lake lags in each shard.

    The lag is the number of changes that the lake does not have yet, and the age of the oldest of them in seconds. Also
    shows which process reads each shard.
    """
    from partita.change.lake import location_of

    place = location_of(lake, data.profile)
    with closing(data.open_store(must_exist=True)) as store:
        found = [_status(place, table, store) for table in _captured(service)]
    if as_json:
        echo_json(found)
        return
    echo_table(("TABLE", "SHARD", "OWNER", "LAG (RECORDS)", "LAG (SECONDS)"), [row for s in found for row in _rows(s)])


def _status(place: LakeLocation, table: Table, store: Store) -> _Status:
    from partita.change.lake import lake_lags

    try:
        lags = lake_lags(place, table, store, time.time())
    except TableNotFound:
        lags = None
    if lags is None:
        return _Status(table.name, None, None)
    owners = _owners(place, table, store)
    shards = tuple(_ShardStatus(shard, owners.get(shard), lag.records, lag.seconds) for shard, lag in lags.items())
    return _Status(table.name, sum(s.records for s in shards), max((s.seconds for s in shards), default=0.0), shards)


def _owners(place: LakeLocation, table: Table, store: Store) -> dict[str, str | None]:
    try:
        found = owners_of(Session(store), group_of(place.uri, table.name))
    except TableNotFound:
        return {}  # nobody has filled a lake yet
    return {name: each.owner for name, each in found.items()}


@cdc.command()
@service_argument
@lake_option()
@store_options
@needs_lake
def rebuild(service: Service, lake: str, data: DataFolder) -> None:
    """Load the current tables into the lake again.

    This is necessary after changes were missed. The log of changes keeps its records, and the items are added to it.
    Other running processes release their shards first.
    """
    with _opened(data) as store, _consumers(lake, [service], store, data) as consumers:
        for table, consumer in consumers.items():
            click.echo(f"{table.name}: loaded {consumer.rebuild():,} items.")


@cdc.command()
@service_argument
@lake_option()
@store_options
@needs_lake
def forget(service: Service, lake: str, data: DataFolder) -> None:
    """Remove the leases of a lake that is no longer filled.

    Servers then stop showing its shards. The lake does not change, and can be filled again. Refused while a process
    still fills the lake.
    """
    from partita.change.lake import location_of

    place = location_of(lake, data.profile)
    with _opened(data) as store:
        membership = Membership(prepare_leases(store), place.uri, process_name(), POLICY)
        for table in _captured(service):
            shards = forget_sink(membership, table.name, pause=time.sleep)
            click.echo(f"{table.name}: forgot {shards:,} {'shard' if shards == 1 else 'shards'} of {lake}.")


@contextmanager
def filling(
    lake: str | None,
    services: Sequence[Service],
    store: Store,
    data: DataFolder,
    troubles: Troubles | None = None,
) -> Iterator[None]:
    """Fill the lake of the services in the background while the block runs, unless `lake` is None."""
    if lake is None:
        yield
        return
    require("lake")
    with (
        _consumers(lake, [service for service in services if _streams(service)], store, data) as consumers,
        following(_named(consumers), troubles, poll_seconds=POLL_SECONDS),
    ):
        yield


def reach_lake(lake: str, data: DataFolder) -> None:
    """Check that a lake can be read, before anything is created for it.

    Raises:
        PartitaError: its location does not exist, or must not be read.
    """
    from partita.change.lake import location_of

    location_of(lake, data.profile).children()


def check_lake(lake: str, services: Sequence[Service], store: Store, data: DataFolder) -> None:
    """Open the lake of the services and close it again, so that errors are reported before processes are started.

    Raises:
        PartitaError: the lake cannot be filled.
    """
    with _consumers(lake, [service for service in services if _streams(service)], store, data):
        pass


def is_captured(service: Service) -> bool:
    """Whether the changes of a service can be written to a lake."""
    return bool(_streams(service))


def _named(consumers: Mapping[Table, SharedConsumer]) -> dict[str, Follower]:
    return {f"lake of {table.name}": consumer for table, consumer in consumers.items()}


@contextmanager
def _opened(data: DataFolder) -> Iterator[Store]:
    """Open the store. Its tables are only read, because the role `cdc` permits no more."""
    with closing(data.open_store(must_exist=True)) as store:
        try:
            yield store
        except TableNotFound as error:
            message = f"{error.message.rstrip('.')}."  # DynamoDB's messages end without a full stop
            raise TableNotFound(message, hint="Create it with `partita tables update`.") from error


@contextmanager
def _consumers(
    lake: str, services: Sequence[Service], store: Store, data: DataFolder, start: float | None = None
) -> Iterator[dict[Table, SharedConsumer]]:
    """A consumer for each table, with its lake. All processes with the same lake share the shards of each stream."""
    from partita.change.lake import location_of

    place = location_of(lake, data.profile)
    with ExitStack() as opened:
        consumers: dict[Table, SharedConsumer] = {}
        captured = [(each, table) for each in services for table in _captured(each)]
        streams = {table: store.execute(DescribeStream(table.name)).stream_id for _, table in captured}
        sinks = {
            table: opened.enter_context(closing(_open_lake(place, table, f"{table.name} {streams[table]}", service)))
            for service, table in captured
        }
        leases = prepare_leases(store) if sinks else Session(store)  # created only after all lakes could be opened
        for table, sink in sinks.items():
            membership = Membership(leases, place.uri, process_name(), POLICY)
            upkeep = Upkeep(sink.has_users_to_erase, sink.erase_users)
            consumers[table] = opened.enter_context(
                SharedConsumer(
                    store,
                    table,
                    sink,
                    membership,
                    batch=BATCH,
                    needs_rebuild=lambda sink=sink: sink.incomplete,  # type: ignore[misc]
                    upkeep=upkeep,
                    start=start,
                )
            )
        yield consumers


def _open_lake(place: LakeLocation, table: Table, stream: str, service: Service) -> Lake:
    from partita.change.lake import Lake

    return Lake(place, table, erasure=_erasure(service, table), shared_by=stream)


def _erasure(service: Service, table: Table) -> LakeErasure | None:
    from partita.change.lake import LakeErasure

    personal = service.personal
    if personal is None or personal.record is None or personal.record.table is not table:
        return None
    return LakeErasure(personal.record.name, personal.owners)


def _catch_up(table: Table, consumer: SharedConsumer) -> None:
    loaded = consumer.prepare()
    if loaded is not None:
        click.echo(f"{table.name}: loaded {loaded:,} items.")
    with click.progressbar(length=consumer.lag().records, label=table.name) as bar:
        changes = consumer.catch_up(bar.update)
    click.echo(f"{table.name}: {changes:,} changes.")


def _captured(service: Service) -> list[Table]:
    tables = _streams(service)
    if not tables:
        raise click.ClickException(f"No table of {service.name} has a stream with new and old images.")
    return tables


def _streams(service: Service) -> list[Table]:
    """The tables whose changes can be written to a lake."""
    return [table for table in service.tables if table.schema.stream == "NEW_AND_OLD_IMAGES"]


def _rows(status: _Status) -> list[tuple[str, ...]]:
    """The rows of a table: first the whole table, then each shard."""
    if status.records is None or status.seconds is None:
        return [(status.table, "", "", "not filled yet", "")]
    shards = [_row(status.table, each.shard, each.owner or "-", each.records, each.seconds) for each in status.shards]
    return [_row(status.table, "all", "", status.records, status.seconds), *shards]


def _row(table: str, shard: str, owner: str, records: int, seconds: float) -> tuple[str, ...]:
    return table, shard, owner, f"{records:,}", f"{seconds:,.1f}"
