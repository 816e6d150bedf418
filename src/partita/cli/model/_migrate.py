"""`partita migrate`: count the stored items of each data version, and rewrite the old ones."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import click
import msgspec
from msgspec.structs import replace

from partita import Session
from partita.cli._data_folder import DataFolder, store_options
from partita.cli._names import chosen_services
from partita.cli._numbers import FiniteRange
from partita.cli._output import echo_json, echo_table, json_option
from partita.cli.model._schema import NO_TABLES, tables_of
from partita.errors import TableNotFound
from partita.model import snake
from partita.recipes.versioned import BackfillProgress, VersionCount, VersionedTable, backfill_page, count_versions
from partita.runtime import write_private
from partita.service import Service
from partita.store import plain_item, wire_item

AnyTable: TypeAlias = VersionedTable[..., Any]


@click.group()
def migrate() -> None:
    """Count and rewrite stored items of old data versions."""


@migrate.command()
@chosen_services
@store_options
@json_option
def status(services: Sequence[Service], data: DataFolder, *, as_json: bool) -> None:
    """Count the stored items of each data version.

    Reads the versioned tables completely, and writes nothing.
    """
    with closing(data.open_store(must_exist=True)) as store:
        session = Session(store, keys=data.keys()).maintenance("partita migrate status")
        counts = [_counted(session, table) for table in tables_of(services)]
    if as_json:
        echo_json(counts)
        return
    if not counts:
        click.echo(NO_TABLES)
        return
    echo_table(
        ("ENTITY", "DATA VERSION", "ITEMS", ""),
        [row for count in counts for row in _rows(count)],
    )


@migrate.command()
@chosen_services
@store_options
@click.option(
    "--wcu",
    "wcu_per_second",
    type=FiniteRange(min=0, min_open=True),
    default=100.0,
    show_default=True,
    help="Maximum write units per second.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def backfill(services: Sequence[Service], data: DataFolder, wcu_per_second: float, *, yes: bool) -> None:
    """Rewrite old items in the current data version.

    Shows the cost, and asks for confirmation. Changes of other writers are never lost, and items that newer code has
    written are not touched. If a run is stopped, the next run continues it.
    """
    if not (tables := tables_of(services)):
        click.echo(NO_TABLES)
        return
    with closing(data.open_store(must_exist=True)) as store:
        session = Session(store, keys=data.keys()).maintenance("partita migrate backfill")
        for table in tables:
            count = _counted(session, table)
            click.echo(_estimate(count, wcu_per_second))
            if count.old and (yes or click.confirm("Rewrite them?")):
                done = _rewrite(session, table, count, _progress_file(data, table), wcu_per_second)
                click.echo(_summary(table, done))


def _counted(session: Session, table: AnyTable) -> VersionCount:
    try:
        return session.run(count_versions(table))
    except TableNotFound:  # counting creates no tables
        return VersionCount(table.form.schema.name, table.form.data_version)


def _rewrite(
    session: Session, table: AnyTable, count: VersionCount, kept: Path, wcu_per_second: float
) -> BackfillProgress:
    progress = _resumed(kept, table)
    if progress.position is not None:
        click.echo(f"Continuing an earlier run, after {progress.inspected:,} items.")
    total = sum(count.items.values())
    with click.progressbar(length=total, label=f"Rewriting {count.entity}") as bar:
        while not progress.done:
            before = progress.inspected
            progress = session.run(backfill_page(table, progress, wcu_per_second=wcu_per_second))
            bar.update(progress.inspected - before)
            _keep(kept, progress)
    kept.unlink()
    return progress


def _progress_file(data: DataFolder, table: AnyTable) -> Path:
    stored = data.table_names.stored(table.form.schema.table.name)  # each stage has its own progress
    return data.path / f"backfill-{stored}-{snake(table.form.schema.name)}.json"


def _resumed(kept: Path, table: AnyTable) -> BackfillProgress:
    fresh = BackfillProgress(table.form.data_version)
    try:
        progress = msgspec.json.decode(kept.read_bytes(), type=BackfillProgress)
    except (FileNotFoundError, msgspec.DecodeError):
        return fresh
    if progress.data_version != table.form.data_version or progress.position is None:
        return fresh
    return replace(progress, position=plain_item(progress.position))


def _keep(kept: Path, progress: BackfillProgress) -> None:
    position = None if progress.position is None else wire_item(progress.position)
    write_private(kept, msgspec.json.encode(replace(progress, position=position)))


def _rows(count: VersionCount) -> list[tuple[str, ...]]:
    return [
        (count.entity, str(version), f"{items:,}", _state(version, count.data_version))
        for version, items in count.items.items()
    ] or [(count.entity, str(count.data_version), "0", "current")]


def _state(version: int, current: int) -> str:
    return "current" if version == current else "old" if version < current else "newer than this code"


def _estimate(count: VersionCount, wcu_per_second: float) -> str:
    total = sum(count.items.values())
    if not count.old:
        return f"{count.entity}: none of {total:,} items is older than data version {count.data_version}."
    seconds = count.rewrite.write / wcu_per_second
    return (
        f"{count.entity}: {count.old:,} of {total:,} items are older than data version {count.data_version}. "
        f"Rewriting them takes about {count.rewrite} and, at {wcu_per_second:g} WCU per second, {seconds:,.0f} s."
    )


def _summary(table: AnyTable, done: BackfillProgress) -> str:
    parts = [f"{table.form.schema.name}: {done.rewritten:,} rewritten"]
    parts += [f"{done.newer:,} newer not touched"] if done.newer else []
    parts += [f"{done.overtaken:,} changed meanwhile by old code (run the backfill again)"] if done.overtaken else []
    return ", ".join(parts) + "."
