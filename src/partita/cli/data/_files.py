"""`partita export` and `partita import`: tables as files, in DynamoDB's own format, as JSON lines or as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast, get_args

import click

from partita.cli._data_folder import EMBEDDED
from partita.cli._instant import Instant
from partita.cli._numbers import FiniteRange
from partita.cli.data._copy import progress
from partita.cli.data._stores import Address, address_option, chosen_tables
from partita.runtime import new_ulid
from partita.store import DescribeTable
from partita.transfer import CopyOptions, Format, Import, export_tables


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@click.argument("names", nargs=-1, metavar="[SERVICE|TABLE]...")
@address_option("--from", "source", "Source", Address(EMBEDDED))
@click.option("--from-prefix", default="", metavar="TEXT", help="Prefix of the names of the source's tables.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(get_args(Format)),
    default="dynamodb",
    show_default=True,
    help="Format of DynamoDB's export to S3, JSON lines, or CSV.",
)
@click.option("--at", "instant", type=Instant(), help="Export this state: 2026-01-31T12:00:00Z, or '90m ago'.")
def export(
    folder: Path, names: tuple[str, ...], *, source: Address, from_prefix: str, kind: str, instant: float | None
) -> None:
    """Write tables into the files of a new folder DIR.

    The folder also gets a manifest with checksums. Names select tables, or all tables of a service; without names, all
    tables are exported. With --at, exports the tables as they were at an instant, for which continuous backups must
    have been on (`partita points enable`). If the export is interrupted, the same command continues it.
    """
    with source.opened(from_prefix, must_exist=True) as side:
        tables = chosen_tables(side.store, names)
        count = sum(side.store.execute(DescribeTable(table)).item_count for table in tables)
        with progress("Exporting", count) as bar:
            manifest = export_tables(side, tables, folder, cast("Format", kind), instant=instant, progress=bar)
    for table in manifest.tables:
        items = sum(file.items for file in table.files)
        files = "1 file" if len(table.files) == 1 else f"{len(table.files)} files"
        click.echo(f"{table.table}: {items:,} items in {files}")


@click.command("import")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR")
@address_option("--to", "target", "Target")
@click.option("--to-prefix", default="", metavar="TEXT", help="Prefix of the names of the target's tables.")
@click.option("--table", metavar="NAME", help="Another name for the table, if the export has only one.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--wcu", type=FiniteRange(min=1), metavar="UNITS", help="Maximum write units per second.")
def import_(path: Path, target: Address, *, to_prefix: str, table: str | None, yes: bool, wcu: float | None) -> None:
    """Read exported files into tables.

    DIR is the folder of an export by Partita or by DynamoDB itself; for other files, use `partita load`. All files are
    checked before the first item is written. Imported items replace those with the same keys; others stay. If the
    import is interrupted, the same command continues it.
    """
    found = Import(path, table)
    names = ", ".join(exported.table for _, exported in found.exports)
    click.echo(f"{found.items:,} items for {names}; the checksums match.")
    if target.costs:
        click.echo("Each item costs at least one write unit, and one more for each index that it is in.")
    if not yes:
        click.confirm("Import?", abort=True, err=True)
    with target.opened(to_prefix) as side, progress("Importing", found.items) as bar:

        def written(items: int, _units: Any) -> None:
            bar(items)

        found.run(side, owner=new_ulid(), options=CopyOptions(wcu=wcu), on_written=written)
    click.echo("Imported.")
