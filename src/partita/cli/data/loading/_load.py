"""`partita load`: put the items of files, or of objects in S3, into one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from partita.cli._data_folder import EMBEDDED
from partita.cli.data._stores import Address, address_option
from partita.cli.data.loading._embedded import load_embedded
from partita.cli.data.loading._inputs import FORMATS, entity_of, find_inputs
from partita.cli.data.loading._remote import load_files_remotely, load_remotely
from partita.store.embedded import EmbeddedStore


@click.command()
@click.argument("source", metavar="FILE|DIR|s3://BUCKET/PREFIX")
@address_option("--to", "target", "Where they go", Address(EMBEDDED))
@click.option("--to-prefix", default="", metavar="TEXT", help="What stands before the names of the target's tables.")
@click.option("--table", metavar="NAME", help="The table that the items go to, which must be there.")
@click.option(
    "--entity",
    metavar="SERVICE.ENTITY",
    help="Each line has the fields of this entity, which are checked; keys and table are derived.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    help="What .json, .ion, .jsonl and .csv say otherwise.",
)
@click.option(
    "--reports", metavar="DIR|s3://BUCKET/PREFIX", help="Where reports of what was not written go; for a server: S3."
)
@click.option("--wcu", type=click.FloatRange(min=1), metavar="UNITS", help="Write units a second at most.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def load(source: str, target: Address, *, to_prefix: str, table: str | None, entity: str | None, **others: Any) -> None:
    """Put items into a table, each maybe with a condition; what is not written is reported. Cut off, it goes on.

    An embedded database is written in large transactions. DynamoDB, and a server that speaks its protocol, load objects
    of S3 by themselves (StartBulkPutItems), which this starts and follows.
    """
    schema = None if entity is None else entity_of(entity)
    if (table is None) == (schema is None):
        raise click.UsageError("Say either --table or --entity.")
    name = table if schema is None else schema.table.name
    assert name is not None  # noqa: S101 - one of both was said
    with target.opened(to_prefix, must_exist=True) as side:
        stored = side.names.stored(name)
        if isinstance(side.raw, EmbeddedStore):
            inputs = find_inputs(source, others["kind"], schema)
            click.echo(f"Inputs: {len(inputs.inputs):,}, with {inputs.size:,} bytes, for {stored}.")
            _confirm(others["yes"])
            load_embedded(side.raw, stored, inputs, reports=others["reports"], wcu=others["wcu"])
        elif "://" in source:
            if schema is not None:
                raise click.UsageError("A server reads items as they are stored: --entity is for files.")
            _confirm(others["yes"])
            load_remotely(side.raw, stored, source, kind=others["kind"], reports=others["reports"], wcu=others["wcu"])
        else:
            _confirm(others["yes"])
            load_files_remotely(side, name, Path(source), wcu=others["wcu"])


def _confirm(yes: bool) -> None:  # noqa: FBT001 - an option
    if not yes:
        click.confirm("Load?", abort=True, err=True)
