"""`partita cdc`: bring every change of a service into a lake, and see how far that is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from partita import Table
from partita.change import Consumer, Lag
from partita.cli._data_folder import DataFolder, store_options
from partita.cli._extras import needs_lake, require
from partita.cli._names import service_argument
from partita.cli._output import echo_json, echo_table, json_option
from partita.cli._signals import on_stop_signal
from partita.cli.data._follow import Troubles, following
from partita.cli.data._lake import lake_option
from partita.errors import TableNotFound
from partita.service import Service
from partita.store import Store

if TYPE_CHECKING:
    from partita.change.lake import LakeErasure

BATCH: Final = 10_000
POLL_SECONDS: Final = 2.0
"""Each commit adds files, so a lake takes what gathers in a while."""


@click.group()
def cdc() -> None:
    """Change data capture into a lake."""


@cdc.command()
@service_argument
@lake_option()
@store_options
@click.option("--once", is_flag=True, help="Stop when everything that is there was read.")
@needs_lake
def run(service: Service, lake: Path, data: DataFolder, *, once: bool) -> None:
    """Bring all changes into the lake, until Ctrl-C or SIGTERM. A new lake gets what is in the tables first."""
    from partita.change.lake import lake_lag

    stop = threading.Event()
    with _opened(data) as store, _consumers(lake, [service], store) as consumers:
        for table, consumer in consumers.items():
            _catch_up(table, consumer, is_new=lake_lag(lake, table, store, time.time()) is None)
        if once:
            return
        on_stop_signal(stop.set)
        click.echo(f"Following {service.name} into {lake}. Stop with Ctrl-C.")
        with following(_named(consumers), poll_seconds=POLL_SECONDS):
            stop.wait()
    click.echo("Stopped.")


class _Status(Struct, frozen=True):
    """How far the lake of one table is behind; None where it was never filled."""

    table: str
    records: int | None
    seconds: float | None


@cdc.command()
@service_argument
@lake_option()
@store_options
@json_option
@needs_lake
def status(service: Service, lake: Path, data: DataFolder, *, as_json: bool) -> None:
    """How far the lake is behind: in changes, and in seconds since the oldest of them."""
    with closing(data.open_store(must_exist=True)) as store:
        lags = {table: _lag(lake, table, store) for table in _captured(service)}
    found = [_Status(t.name, lag.records if lag else None, lag.seconds if lag else None) for t, lag in lags.items()]
    if as_json:
        echo_json(found)
        return
    rows = [(s.table, "not filled yet", "") if s.records is None else _row(s) for s in found]
    echo_table(("TABLE", "RECORDS BEHIND", "SECONDS BEHIND"), rows)


@cdc.command()
@service_argument
@lake_option()
@store_options
@needs_lake
def rebuild(service: Service, lake: Path, data: DataFolder) -> None:
    """Load the current tables of the lake again. The log keeps what it has, and the items are added to it."""
    with _opened(data) as store, _consumers(lake, [service], store) as consumers:
        for table, consumer in consumers.items():
            click.echo(f"{table.name}: loaded {consumer.rebuild():,} items.")


@contextmanager
def filling(
    lake: Path | None, services: Sequence[Service], store: Store, troubles: Troubles | None = None
) -> Iterator[None]:
    """Fill the lake of the services in the background, if there is to be one."""
    if lake is None:
        yield
        return
    require("lake")
    with (
        _consumers(lake, [service for service in services if _streams(service)], store) as consumers,
        following(_named(consumers), troubles, poll_seconds=POLL_SECONDS),
    ):
        yield


def _named(consumers: Mapping[Table, Consumer]) -> dict[str, Consumer]:
    return {f"lake of {table.name}": consumer for table, consumer in consumers.items()}


@contextmanager
def _opened(data: DataFolder) -> Iterator[Store]:
    """The store, whose tables are only read: the role `cdc` may do no more."""
    with closing(data.open_store(must_exist=True)) as store:
        try:
            yield store
        except TableNotFound as error:
            message = f"{error.message.rstrip('.')}."  # DynamoDB ends it without
            raise TableNotFound(message, hint="Make it with `partita tables update`.") from error


def _lag(lake: Path, table: Table, store: Store) -> Lag | None:
    from partita.change.lake import lake_lag

    try:
        return lake_lag(lake, table, store, time.time())
    except TableNotFound:
        return None


@contextmanager
def _consumers(lake: Path, services: Sequence[Service], store: Store) -> Iterator[dict[Table, Consumer]]:
    """A consumer for each table, with its lake."""
    from partita.change.lake import Lake

    with ExitStack() as opened:
        consumers: dict[Table, Consumer] = {}
        for service, table in [(each, table) for each in services for table in _captured(each)]:
            sink = opened.enter_context(closing(Lake(lake, table, erasure=_erasure(service, table))))
            consumers[table] = Consumer(store, table, sink, batch=BATCH, on_caught_up=sink.erase_users)
            if sink.incomplete:
                consumers[table].rebuild()
        yield consumers


def _erasure(service: Service, table: Table) -> LakeErasure | None:
    from partita.change.lake import LakeErasure

    personal = service.personal
    if personal is None or personal.record is None or personal.record.table is not table:
        return None
    return LakeErasure(personal.record.name, personal.owners)


def _catch_up(table: Table, consumer: Consumer, *, is_new: bool) -> None:
    if is_new:
        click.echo(f"{table.name}: loaded {consumer.step():,} items.")
    with click.progressbar(length=consumer.lag().records, label=table.name) as bar:
        changes = consumer.catch_up(bar.update)
    click.echo(f"{table.name}: {changes:,} changes.")


def _captured(service: Service) -> list[Table]:
    tables = _streams(service)
    if not tables:
        raise click.ClickException(f"No table of {service.name} has a stream with new and old images.")
    return tables


def _streams(service: Service) -> list[Table]:
    return [table for table in service.tables if table.schema.stream == "NEW_AND_OLD_IMAGES"]


def _row(status: _Status) -> tuple[str, str, str]:
    return status.table, f"{status.records:,}", f"{status.seconds:,.1f}"
