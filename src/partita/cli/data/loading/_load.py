"""`partita load`: write the items of files, or of objects in S3, into one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from partita.cli._data_folder import EMBEDDED
from partita.cli._numbers import FiniteRange
from partita.cli.data._stores import Address, address_option
from partita.cli.data.loading._embedded import load_embedded
from partita.cli.data.loading._inputs import FORMATS, entity_of, find_inputs
from partita.cli.data.loading._remote import load_files_remotely, load_remotely
from partita.store.embedded import EmbeddedStore


@click.command()
@click.argument("source", metavar="FILE|DIR|s3://BUCKET/PREFIX")
@address_option("--to", "target", "Target", Address(EMBEDDED))
@click.option("--to-prefix", default="", metavar="TEXT", help="Prefix of the names of the target's tables.")
@click.option("--table", metavar="NAME", help="Table to write the items to, which must exist.")
@click.option(
    "--entity",
    metavar="SERVICE.ENTITY",
    help="Instead of --table: each line has the fields of this entity. They are checked, and keys and table derived.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    help="Format of the files, if their names (.json, .ion, .jsonl, .csv) do not show it.",
)
@click.option(
    "--reports",
    metavar="DIR|s3://BUCKET/PREFIX",
    help="Place for reports of records that were not written. Servers need S3.",
)
@click.option("--wcu", type=FiniteRange(min=1), metavar="UNITS", help="Maximum write units per second.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def load(source: str, target: Address, *, to_prefix: str, table: str | None, entity: str | None, **others: Any) -> None:
    """Write the items of files, or of objects in S3, into an existing table.

    A record may have a condition. Records that are not written are reported, and the command exits with 1 if a record
    failed. If the load is interrupted, the same command continues it.

    An embedded database is written in large transactions. DynamoDB, and a server that speaks its protocol, load objects
    from S3 themselves: the command calls StartBulkPutItems and follows its progress. A local file is sent to them in
    batches, and must not contain conditions.
    """
    schema = None if entity is None else entity_of(entity)
    if (table is None) == (schema is None):
        raise click.UsageError("Give either --table or --entity.")
    name = table if schema is None else schema.table.name
    assert name is not None  # noqa: S101 - one of the two is given
    with target.opened(to_prefix, must_exist=True) as side:
        stored = side.names.stored(name)
        if isinstance(side.raw, EmbeddedStore):
            inputs = find_inputs(source, others["kind"], schema)
            click.echo(f"Inputs: {len(inputs.inputs):,}, with {inputs.size:,} bytes, for {stored}.")
            _confirm(others["yes"])
            load_embedded(side.raw, stored, inputs, reports=others["reports"], wcu=others["wcu"])
        elif "://" in source:
            if schema is not None:
                raise click.UsageError("A server loads items in their stored form: --entity is only for local files.")
            _confirm(others["yes"])
            load_remotely(side.raw, stored, source, kind=others["kind"], reports=others["reports"], wcu=others["wcu"])
        else:
            _confirm(others["yes"])
            load_files_remotely(side, name, Path(source), wcu=others["wcu"])


def _confirm(yes: bool) -> None:  # noqa: FBT001 - an option
    if not yes:
        click.confirm("Load?", abort=True, err=True)
