"""`partita lake`: query the lake with SQL."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

import click

from partita.cli._data_folder import FolderPath, profile_option
from partita.cli._extras import needs_lake
from partita.cli._output import echo_json, echo_table, json_option
from partita.errors import OperationError

if TYPE_CHECKING:
    import pyarrow as pa

Command = TypeVar("Command", bound=Callable[..., Any])


class _LakePlace(FolderPath):
    """A folder, or a URL, which is not checked until it is opened."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if "://" in str(value) else str(super().convert(value, param, ctx))


def lake_option(
    *, required: bool = True, about: str = "Also fill the lake at this location."
) -> Callable[[Command], Command]:
    """The option `--lake`, passed to the command as text. `about` is its help if it is not required."""
    return click.option(
        "--lake",
        envvar="PARTITA_LAKE",
        show_envvar=True,
        required=required,
        type=_LakePlace(),
        metavar="DIR|s3://BUCKET/PREFIX",
        help="Location of the lake." if required else about,
    )


@click.group()
def lake() -> None:
    """Query the lake with SQL."""


@lake.command()
@click.argument("sql")
@lake_option()
@profile_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a header.")
@needs_lake
def query(sql: str, lake: str, profile: str | None, *, as_json: bool, as_csv: bool) -> None:
    """Run an SQL query over the lake.

    Example: "select status, count(*) from task group by status"
    """
    if as_json and as_csv:
        raise click.UsageError("Give --json or --csv, not both.")
    from partita.change.lake import location_of, query_lake

    found = query_lake(location_of(lake, profile), sql)
    names = found.schema.names
    rows = ([_plain(value) for value in row] for batch in found for row in _rows(batch))
    if as_json:
        _refuse_twins(names)
        echo_json([dict(zip(names, row, strict=True)) for row in rows])
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
        sys.stdout.flush()  # an error here can still be reported
    else:
        echo_table(names, [[_text(value) for value in row] for row in rows])


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """The rows as tuples, because two columns may have the same name."""
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _refuse_twins(names: Sequence[str]) -> None:
    if twins := [name for name, count in Counter(names).items() if count > 1]:
        raise OperationError(f"Two columns are named {twins[0]}.", hint="Rename one of them with AS.")


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value


def _text(value: Any) -> str:
    return "" if value is None else str(value)
