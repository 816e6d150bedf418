"""`partita schema`: compare the committed schema snapshots with the code, and renew them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from partita.cli._names import services_argument
from partita.cli._output import echo_json, json_option
from partita.recipes.versioned import (
    SNAPSHOT_FOLDER,
    SchemaReport,
    VersionedTable,
    accept_schema,
    check_schema,
    versioned_tables,
)
from partita.service import Service

folder_option = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=SNAPSHOT_FOLDER,
    show_default=True,
    help="Where the snapshots are committed.",
)


@click.group()
def schema() -> None:
    """Schema snapshots of the versioned tables: what a change means for stored items."""


@schema.command()
@services_argument
@folder_option
@json_option
def check(services: Sequence[Service], folder: Path, *, as_json: bool) -> None:
    """Compare the snapshots with the code, read every frozen item, and say what to do.

    Exits with 1 if there is something to do.
    """
    reports = [check_schema(table, folder) for table in tables_of(services)]
    if as_json:
        echo_json([{"settled": report.settled, "advice": str(report), **_fields(report)} for report in reports])
    else:
        click.echo("\n".join(str(report) for report in reports) or "There is no versioned table.")
    if not all(report.settled for report in reports):
        raise click.exceptions.Exit(1)


@schema.command()
@services_argument
@folder_option
def accept(services: Sequence[Service], folder: Path) -> None:
    """Renew the snapshots, and freeze an item of each new data version. Refuses what would break stored items."""
    for table in tables_of(services):
        written = accept_schema(table, folder)
        name = table.form.schema.name
        click.echo(f"{name}: wrote {', '.join(map(str, written))}" if written else f"{name}: nothing to do")


def tables_of(services: Sequence[Service]) -> list[VersionedTable[..., Any]]:
    """All versioned tables of the services."""
    return [found for service in services for table in service.tables for found in versioned_tables(table)]


def _fields(report: SchemaReport) -> dict[str, Any]:
    return {
        "entity": report.entity,
        "verdict": report.verdict,
        "differences": report.differences,
        "problems": report.problems,
    }
