"""`partita points`: continuous backups of tables, and restoring tables to an instant."""

from __future__ import annotations

from contextlib import closing

import click
from msgspec import Struct
from msgspec.structs import replace

from partita.cli._data_folder import DataFolder, store_options
from partita.cli._instant import Instant, shown
from partita.cli._output import echo_json, echo_table, json_option
from partita.store import (
    MAX_RECOVERY_DAYS,
    DescribeRecovery,
    DescribeTable,
    ListTables,
    RestoreTable,
    SetRecovery,
    Store,
    TableDescription,
)
from partita.store.embedded import EmbeddedStore


@click.group()
def points() -> None:
    """Continuous backups: restore tables to an instant."""


@points.command()
@click.argument("table")
@store_options
@click.option(
    "--days",
    type=click.IntRange(1, MAX_RECOVERY_DAYS),
    default=MAX_RECOVERY_DAYS,
    show_default=True,
    help="How many days of the past are kept.",
)
def enable(table: str, data: DataFolder, days: int) -> None:
    """Keep TABLE restorable to every second of the last days."""
    with closing(data.open_store(must_exist=True)) as store:
        store.execute(SetRecovery(table, days))
    click.echo(f"{table}: every second of the last {days} {'day' if days == 1 else 'days'} is kept from now on.")


@points.command()
@click.argument("table")
@store_options
def disable(table: str, data: DataFolder) -> None:
    """Discard the recorded changes of TABLE, and stop recording."""
    with closing(data.open_store(must_exist=True)) as store:
        store.execute(SetRecovery(table, None))
    click.echo(f"{table}: changes are no longer recorded.")


class _Status(Struct, frozen=True):
    """The continuous backups of a table."""

    table: str
    days: int | None
    earliest: str
    latest: str
    records: int
    log_bytes: int


@points.command(name="list")
@store_options
@json_option
def list_(data: DataFolder, *, as_json: bool) -> None:
    """List the instants to which each table can be restored.

    Also shows the disk space of its change log.
    """
    with closing(data.open_store(must_exist=True)) as store:
        found = [_status(store, table) for table in store.execute(ListTables())]
    if as_json:
        echo_json(found)
        return
    header = ("TABLE", "DAYS", "EARLIEST", "LATEST", "RECORDS", "BYTES")
    echo_table(header, [_row(each) for each in found])


def _status(store: Store, table: str) -> _Status:
    found = store.execute(DescribeRecovery(table, measured=True))
    days = found.days if found.enabled else None
    return _Status(table, days, shown(found.earliest), shown(found.latest), found.records, found.log_bytes)


def _row(status: _Status) -> tuple[str, ...]:
    if status.days is None:
        return status.table, "off", "", "", "", ""
    figures = f"{status.records:,}", f"{status.log_bytes:,}"
    return status.table, str(status.days), status.earliest, status.latest, *figures


@points.command()
@click.argument("table")
@click.argument("new_table")
@store_options
@click.option("--at", "instant", type=Instant(), help="Such as 2026-01-31T12:00:00Z or '90m ago'. Default: now.")
def restore(table: str, new_table: str, data: DataFolder, instant: float | None) -> None:
    """Create NEW_TABLE with the items that TABLE had at an instant.

    TABLE does not change, and may be in use. The new table has the indexes of TABLE, but not its stream and TTL
    attribute.
    """
    with closing(data.open_store(must_exist=True)) as store:
        source = store.execute(DescribeTable(table))
        schema = replace(source.schema, name=new_table, stream=None, ttl=None)
        made = _restored(store, RestoreTable(table, schema, instant), source.item_count)
    at = "" if instant is None else f" of {shown(instant)}"
    click.echo(f"{new_table}: {made.item_count:,} items of {table}{at}.")


def _restored(store: Store, request: RestoreTable, about: int) -> TableDescription:
    if not isinstance(store, EmbeddedStore):
        click.echo(f"Restoring {request.table}: this takes a while.")
        return store.execute(request)
    with click.progressbar(length=max(about, 1), label=f"Restoring {request.table}") as bar:
        made = store.history.restore_table(request, bar.update)
        bar.update(bar.length or 0)
    return made
