"""`partita lake`: SQL over the lake."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from partita.cli._extras import needs_lake
from partita.cli._output import echo_json, echo_table, json_option
from partita.errors import OperationError

if TYPE_CHECKING:
    import pyarrow as pa

Command = TypeVar("Command", bound=Callable[..., Any])


def lake_option(*, required: bool = True) -> Callable[[Command], Command]:
    """The option `--lake`, which gives the command the folder of the lake."""
    return click.option(
        "--lake",
        envvar="PARTITA_LAKE",
        show_envvar=True,
        required=required,
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder of the lake." if required else "Fill the lake in this folder meanwhile.",
    )


@click.group()
def lake() -> None:
    """SQL over the lake."""


@lake.command()
@click.argument("sql")
@lake_option()
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a header.")
@needs_lake
def query(sql: str, lake: Path, *, as_json: bool, as_csv: bool) -> None:
    """Answer a query, such as "select status, count(*) from task group by status"."""
    from partita.change.lake import query_lake

    found = query_lake(lake, sql)
    names = found.schema.names
    rows = ([_plain(value) for value in row] for batch in found for row in _rows(batch))
    if as_json:
        _refuse_twins(names)
        echo_json([dict(zip(names, row, strict=True)) for row in rows])
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
        sys.stdout.flush()  # here it can still be said where that fails
    else:
        echo_table(names, [[_text(value) for value in row] for row in rows])


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """By position: two columns may have one name."""
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _refuse_twins(names: Sequence[str]) -> None:
    if twins := [name for name, count in Counter(names).items() if count > 1]:
        raise OperationError(f"Two columns are named {twins[0]}.", hint="Name one of them otherwise with AS.")


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value


def _text(value: Any) -> str:
    return "" if value is None else str(value)
