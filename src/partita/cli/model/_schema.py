"""`partita schema`: compare the committed schema snapshots with the code, and update them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from partita.cli._names import all_option, choose, named_services_argument
from partita.cli._output import echo_json, json_option
from partita.recipes.versioned import (
    SNAPSHOT_FOLDER,
    SNAPSHOT_FOLDER_IN_TESTS,
    SchemaReport,
    VersionedTable,
    accept_schema,
    check_schema,
    versioned_tables,
)
from partita.service import Service

NO_TABLES: Final = "There are no versioned tables."

AnyTable: TypeAlias = VersionedTable[..., Any]
Command: TypeAlias = Callable[..., Any]


def _usual_folder() -> Path:
    is_there = SNAPSHOT_FOLDER.is_dir() or not SNAPSHOT_FOLDER_IN_TESTS.is_dir()
    return SNAPSHOT_FOLDER if is_there else SNAPSHOT_FOLDER_IN_TESTS


folder_option = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=_usual_folder,
    show_default=f"{SNAPSHOT_FOLDER}, or {SNAPSHOT_FOLDER_IN_TESTS} if only that exists",
    help="Folder of the committed snapshots.",
)


def versioned_tables_argument(command: Command) -> Command:
    """Declare arguments that select versioned tables: those of services, or of modules outside any service."""

    @wraps(command)
    def run(*args: Any, services: Sequence[Service], everything: bool, modules: Sequence[str], **others: Any) -> Any:
        tables = [table for name in modules for table in _tables_in(name)]
        if services or everything or not modules:
            tables += tables_of(choose(services, everything=everything))
        return command(*args, tables=tables, **others)

    modules = click.option(
        "--module", "modules", multiple=True, metavar="NAME", help="Module with versioned tables. May be repeated."
    )
    return named_services_argument(all_option(modules(run)))


@click.group()
def schema() -> None:
    """Check and renew the schema snapshots of versioned tables.

    A check reports what a change of the code means for stored items.
    """


@schema.command()
@versioned_tables_argument
@folder_option
@json_option
def check(tables: Sequence[AnyTable], folder: Path, *, as_json: bool) -> None:
    """Compare the snapshots with the code.

    Also reads every frozen item. Reports whether a change is compatible or breaking, and what to do. Exits with 1 if
    there is something to do.
    """
    reports = [check_schema(table, folder) for table in tables]
    if as_json:
        echo_json([{"settled": report.settled, "advice": str(report), **_fields(report)} for report in reports])
    else:
        click.echo("\n".join(str(report) for report in reports) or NO_TABLES)
    if not all(report.settled for report in reports):
        raise click.exceptions.Exit(1)


@schema.command()
@versioned_tables_argument
@folder_option
def accept(tables: Sequence[AnyTable], folder: Path) -> None:
    """Renew the snapshots.

    Also freezes an item of each new data version. Refuses changes that would break stored items.
    """
    for table in tables:
        written = accept_schema(table, folder)
        name = table.form.schema.name
        click.echo(f"{name}: wrote {', '.join(map(str, written))}" if written else f"{name}: nothing to do")


def tables_of(services: Sequence[Service]) -> list[AnyTable]:
    """All versioned tables of the services."""
    return [found for service in services for table in service.tables for found in versioned_tables(table)]


def _tables_in(module: str) -> Iterator[AnyTable]:
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        hint = "Write it as in an import; `pip install -e .` installs the modules of your project."
        raise click.ClickException(f"There is no module {module!r}. {hint}") from error
    yield from (each for each in vars(found).values() if isinstance(each, VersionedTable))


def _fields(report: SchemaReport) -> dict[str, Any]:
    return {
        "entity": report.entity,
        "verdict": report.verdict,
        "differences": report.differences,
        "problems": report.problems,
    }
