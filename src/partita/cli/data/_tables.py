"""`partita tables`: compare the tables of a store with the declared ones, and bring the store in line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

import click
from msgspec import Struct
from msgspec.structs import replace

from partita.cli._data_folder import DataFolder, store_options
from partita.cli._names import chosen_services, services_argument
from partita.cli._output import echo_json, echo_table, json_option
from partita.cli._progress import progress_bar
from partita.errors import TableInUse, TableNotFound, ValidationFailed
from partita.reports import with_reports
from partita.service import Service
from partita.store import (
    CreateIndex,
    CreateTable,
    CreateVectorIndex,
    DescribeTable,
    IndexSchema,
    Request,
    SetStream,
    SetTimeToLive,
    Store,
    TableDescription,
    TableSchema,
)


class Difference(Struct, frozen=True):
    """A difference between a declared table and the stored one."""

    table: str
    what: str
    remedy: str
    change: Request[TableDescription] | None = None
    """The request that fixes the difference; None if none can, or none is needed."""
    is_harmless: bool = False


@click.group()
def tables() -> None:
    """Create, compare and update the declared tables in a store."""


@tables.command()
@chosen_services
@store_options
def create(services: Sequence[Service], data: DataFolder) -> None:
    """Create missing tables, with their indexes, TTL and stream.

    Waits until the tables can be used.
    """
    with closing(data.open_store()) as opened:
        for schema in _schemas(services):
            name = data.table_names.stored(schema.name)
            click.echo(f"{name}: {'created' if _create(opened, schema) else 'exists already'}")


@tables.command()
@services_argument
@store_options
@json_option
def diff(services: Sequence[Service], data: DataFolder, *, as_json: bool) -> None:
    """Compare the declared tables with those of a store.

    Lists the differences and how to fix each, and writes nothing. Exits with 1 unless the store has everything that is
    declared.
    """
    with closing(data.open_store(must_exist=True)) as opened:
        found = _all_differences(opened, services)
    if as_json:
        rows = [{"table": each.table, "difference": each.what, "remedy": each.remedy} for each in found]
        echo_json(rows)
    elif found:
        echo_table(("TABLE", "DIFFERENCE", "REMEDY"), [(each.table, each.what, each.remedy) for each in found])
    else:
        click.echo("The store has everything that is declared.")
    if any(not each.is_harmless for each in found):
        raise click.exceptions.Exit(1)


@tables.command()
@chosen_services
@store_options
def update(services: Sequence[Service], data: DataFolder) -> None:
    """Add missing tables, indexes and settings, one after another.

    Removes nothing. Exits with 1 if a difference remains that cannot be changed: a key, a local index, or another
    projection.
    """
    with closing(data.open_store()) as opened:
        for each in _all_differences(opened, services):
            if each.change is not None:
                try:
                    _fix(opened, each.change)
                except (TableInUse, ValidationFailed):
                    if each in _all_differences(opened, services):
                        raise
                    click.echo(f"{each.table}: {each.what}: fixed by another process")
                else:
                    click.echo(f"{each.table}: {each.what}: fixed")
        remaining = [each for each in _all_differences(opened, services) if not each.is_harmless]
    for each in remaining:
        click.echo(f"{each.table}: {each.what}: {each.remedy}", err=True)
    if remaining:
        raise click.exceptions.Exit(1)


def _create(store: Store, schema: TableSchema) -> bool:
    """Create a table unless it exists, and return whether this command did; another process may do the same."""
    if _stored(store, schema.name) is not None:
        return False
    try:
        store.execute(CreateTable(schema))
    except TableInUse:
        return False
    return True


def _fix(store: Store, change: Request[TableDescription]) -> None:
    """Execute a change that fixes a difference. Adding an index takes long if there are many items."""
    if isinstance(change, CreateIndex):
        with progress_bar(f"Adding {change.index.name}") as progress:
            store.execute(replace(change, progress=progress))
    else:
        store.execute(change)


def _schemas(services: Sequence[Service]) -> list[TableSchema]:
    tables = {table.name: table.schema for service in with_reports(services) for table in service.tables}
    return list(tables.values())


def _stored(store: Store, table: str) -> TableSchema | None:
    try:
        return store.execute(DescribeTable(table)).schema
    except TableNotFound:
        return None


def _all_differences(store: Store, services: Sequence[Service]) -> list[Difference]:
    return [each for declared in _schemas(services) for each in differences(declared, _stored(store, declared.name))]


def differences(declared: TableSchema, stored: TableSchema | None) -> Iterator[Difference]:
    """All differences, each with the change that fixes it."""
    name = declared.name
    if stored is None:
        yield Difference(name, "is missing", "partita tables create", CreateTable(declared))
        return
    if declared.key != stored.key:
        yield Difference(name, "has a different key", "declare another table and copy the items")
    yield from _indexes(declared, stored)
    yield from _setting(name, "TTL", declared.ttl, stored.ttl, SetTimeToLive(name, declared.ttl))
    yield from _setting(name, "stream", declared.stream, stored.stream, SetStream(name, declared.stream))


def _indexes(declared: TableSchema, stored: TableSchema) -> Iterator[Difference]:
    for index in declared.indexes:
        found = stored.index(index.name)
        if found is None:
            yield _missing(declared.name, index)
        elif not found.is_like(index):
            yield Difference(declared.name, f"index {index.name} differs", "declare it under another name")
    for vectors in declared.vectors:
        known = stored.vector(vectors.name)
        if known is None:
            create = CreateVectorIndex(declared.name, vectors)
            yield Difference(declared.name, f"index {vectors.name} is missing", "partita tables update", create)
        elif not known.is_like(vectors):
            yield Difference(declared.name, f"index {vectors.name} differs", "declare it under another name")
    for name in sorted(set(stored.index_names) - set(declared.index_names)):
        what = f"index {name} is not declared"
        yield Difference(declared.name, what, "none needed, but it adds cost to writes", is_harmless=True)


def _missing(table: str, index: IndexSchema) -> Difference:
    what = f"index {index.name} is missing"
    if index.local:
        return Difference(table, what, "a local index is created with its table: declare another table")
    return Difference(table, what, "partita tables update", CreateIndex(table, index))


def _setting(
    table: str, setting: str, declared: str | None, stored: str | None, change: Request[TableDescription]
) -> Iterator[Difference]:
    if declared == stored:
        return
    if stored is None:
        yield Difference(table, f"{setting} {declared} is not set", "partita tables update", change)
    elif declared is None:
        yield Difference(table, f"{setting} {stored} is not declared", "none needed", is_harmless=True)
    else:
        yield Difference(table, f"{setting} is {stored}, not {declared}", "switch it off in the store first")
