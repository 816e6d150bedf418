"""`partita adopt`: write a model for an existing table, and prove it on a sample of its items."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.cli._data_folder import DataFolder, store_options
from partita.cli._output import echo_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita.adopt import Estimate, ModelDraft, Proof, Sample
    from partita.store import KeyAttribute, Store, TableDescription


@click.command()
@click.argument("table", required=False)
@store_options
@click.option("--sample", type=click.IntRange(1), default=1_000, show_default=True, help="Maximum items to read.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("model.py"),
    show_default=True,
    help="File to write; it must not exist yet.",
)
@click.option("--yes", is_flag=True, help="Read the sample without asking first.")
@click.option("--check", metavar="FILE[:NAME]", help="Write nothing: prove the model in FILE again, on a new sample.")
def adopt(table: str | None, data: DataFolder, sample: int, out: Path, check: str | None, *, yes: bool) -> None:
    """Write a model for the existing TABLE, and prove it on a sample of its items.

    Exits with 1 if an item does not belong to exactly one entity, or would not be written back as it is stored.
    """
    if (table is None) == (check is None):
        raise click.UsageError("Give either a TABLE, or the file of a model with --check.")
    with closing(data.open_store(must_exist=True)) as store:
        if check is not None:
            proof = _check(check, store, sample, is_agreed=yes)
        else:
            proof = _adopt(str(table), store, sample, out, is_agreed=yes)
    _show_proof(proof)
    if not proof.holds:
        raise click.exceptions.Exit(1)


def _adopt(table: str, store: Store, limit: int, out: Path, *, is_agreed: bool) -> Proof:
    from partita.adopt import adopt_items

    if out.exists():
        raise click.UsageError(f"{out} exists already. Choose another file with --out.")
    if not out.parent.is_dir():
        raise click.UsageError(f"The folder {out.parent} does not exist.")
    sample = _sampled(table, store, limit, is_agreed=is_agreed)
    adoption = adopt_items(sample.schema, sample.items, out)
    click.echo(f"Wrote {out}.")
    _show_model(adoption.draft)
    return adoption.proof


def _check(given: str, store: Store, limit: int, *, is_agreed: bool) -> Proof:
    from partita.adopt import prove_file, table_in_file

    path, name = _file_and_name(given)
    sample = _sampled(table_in_file(path, name), store, limit, is_agreed=is_agreed)
    return prove_file(path, sample.items, name)


def _file_and_name(given: str) -> tuple[Path, str | None]:
    """Split FILE:NAME into the file and the name of the table in it. The path itself may contain colons."""
    path, colon, name = given.rpartition(":")
    if not colon or not name.isidentifier() or Path(given).exists():
        path, name = given, ""
    if not Path(path).is_file():
        raise click.UsageError(f"The file {path} does not exist.")
    return Path(path), name or None


def _sampled(table: str, store: Store, limit: int, *, is_agreed: bool) -> Sample:
    """Print what the sample will cost, ask for confirmation, and read it."""
    from partita.adopt import describe, estimate, read_sample
    from partita.errors import TableNotFound
    from partita.runtime import run

    try:
        found = run(describe(table), store.execute)
    except TableNotFound:
        message = f"The store has no table {table}. Choose another store with --store or --data."
        raise click.ClickException(message) from None
    cost = estimate(found, limit)
    _show_table(found)
    click.echo(_cost_text(cost))
    if not is_agreed:
        click.confirm("Read the sample?", abort=True, default=True)
    with click.progressbar(length=cost.items, label="Reading") as bar:
        sample = run(read_sample(found, limit, bar.update), store.execute)
    whole = "the whole table" if sample.is_whole else "a part of the table"
    click.echo(f"Read {len(sample.items)} items, {whole}, for {sample.read_units:g} read units.")
    if not sample.items:
        raise click.ClickException(f"The table {table} has no items, so no model can be derived from it.")
    return sample


def _cost_text(cost: Estimate) -> str:
    if cost.is_bound:
        return (
            f"A sample of up to {cost.items} items will cost at most {cost.read_units:g} read units, "
            "and far less if items are small: the table does not report yet how large they are."
        )
    return f"A sample of {cost.items} items will cost about {cost.read_units:g} read units."


def _show_table(table: TableDescription) -> None:
    schema = table.schema
    rows = [("table", schema.name, _attributes(schema.key))]
    rows += [("local index" if each.local else "index", each.name, _attributes(each.key)) for each in schema.indexes]
    rows += [("vector index", each.name, _attributes(each.search)) for each in schema.vectors]
    rows += [("TTL", schema.ttl, "")] if schema.ttl else []
    rows += [("stream", schema.stream, "")] if schema.stream else []
    echo_table(("what", "name", "key"), rows)


def _attributes(key: Sequence[KeyAttribute]) -> str:
    return ", ".join(f"{attribute.name} ({attribute.type})" for attribute in key)


def _show_model(draft: ModelDraft) -> None:
    rows = [
        (entity.name, str(entity.count), key.index or "primary", key.hash, key.range or "")
        for entity in draft.entities
        for key in entity.keys
    ]
    echo_table(("entity", "items", "key", "hash", "range"), rows)
    for note in draft.notes:
        click.secho(f"Not in the model: {note}", fg="yellow")


def _show_proof(proof: Proof) -> None:
    if proof.holds:
        _show_proved(f"All {proof.items} items" if proof.items > 1 else "The one item")
        return
    rows = [(each.key, each.entity, each.attribute, each.stored, each.written) for each in proof.differences]
    echo_table(("key", "entity", "attribute", "stored", "would be written"), rows)
    failed = len({each.key for each in proof.differences})
    if failed < proof.items:
        _show_proved(f"{proof.items - failed} items")
    click.secho(f"Not proved: {failed} of {proof.items} items.", fg="red", err=True)


def _show_proved(count: str) -> None:
    click.secho(f"Proved: {count} belong to one entity each, and are written back as they are stored.", bold=True)
