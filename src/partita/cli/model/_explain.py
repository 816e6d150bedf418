"""`partita explain`: the request that an access pattern sends, and its cost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import click

import partita
from partita import Operation, Pattern, Session
from partita.cli._data_folder import DataFolder, store_options
from partita.cli._names import PatternName
from partita.cli._output import echo_json, json_option
from partita.patterns import UnfitArgument, operation_of


@click.command()
@click.argument("pattern", type=PatternName())
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT]...")
@click.option(
    "--run", is_flag=True, help="Also run it on the database, and print what it consumed. Writes are executed."
)
@json_option
@store_options
def explain(pattern: Pattern, arguments: Sequence[str], *, run: bool, as_json: bool, data: DataFolder) -> None:
    """Show the request that an access pattern sends, and its cost.

    Write arguments as in a URL: pending, 2026-01-31. Write a range as FIRST..LAST, with either end optional, and an
    entity as a JSON object. If two services have a pattern of the same name, write SERVICE.PATTERN.
    """
    operation = _operation(pattern, arguments)
    if run:
        with closing(data.open_store(must_exist=True)) as store:
            explanation = partita.explain(operation, Session(store, keys=data.keys()), table_names=data.table_names)
    else:
        explanation = partita.explain(operation, table_names=data.table_names)
    if as_json:
        echo_json(explanation)
    else:
        click.echo(str(explanation))


def _operation(pattern: Pattern, arguments: Sequence[str]) -> Operation[Any]:
    """The operation. Raise a readable usage error if the arguments do not fit the pattern."""
    names = list(pattern.signature.parameters)
    if len(arguments) != len(names):
        usage = " ".join([pattern.name, *(name.upper() for name in names)])
        raise click.UsageError(f"The pattern takes {len(names)} arguments, not {len(arguments)}: {usage}")
    try:
        return operation_of(pattern, dict(zip(names, arguments, strict=True)))
    except UnfitArgument as unfit:
        raise click.UsageError(f"{unfit.parameter.upper()}: {unfit}") from None
