"""A small part of the tables for development: some complete partitions, optionally with masked personal fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from partita.errors import CopyRefused
from partita.expressions import KeyCondition, Path
from partita.runtime import Pace, chunks
from partita.store import DescribeTable, QueryTable, ScanTable, Store, TableSchema
from partita.transfer._copy import PAGE, CopyOptions
from partita.transfer._mask import PersonalMask
from partita.transfer._sides import Outside, PatientStore, Side
from partita.transfer._tables import ensure_table, is_empty
from partita.transfer._writing import ItemWriter
from partita.values import Item


class Sample(Struct, frozen=True):
    """The numbers of copied partitions and items of one table."""

    table: str
    partitions: int
    items: int
    left_out: int = 0
    """Items that could not be masked."""


def copy_sample(
    source: Side,
    target: Side,
    tables: tuple[str, ...],
    partitions: int,
    *,
    mask: PersonalMask | None = None,
    options: CopyOptions | None = None,
    outside: Outside | None = None,
) -> list[Sample]:
    """Copy up to `partitions` partitions of each table, first those whose keys were copied from an earlier table.

    Raises:
        CopyRefused: a table of the target is not empty, or the target refuses an item.
    """
    outside, options = outside or Outside(), options or CopyOptions()
    here, there = PatientStore(source.store, outside), PatientStore(target.store, outside)
    schemas = [here.execute(DescribeTable(table)).schema for table in tables]
    for schema in schemas:
        ensure_table(there, schema)
        if not is_empty(there, schema.name):
            raise CopyRefused(f"The table {schema.name} of the target is not empty.", hint="Sample into a new store.")
    taken: dict[Any, None] = {}
    samples = []
    for schema in schemas:
        pace = Pace(options.wcu, pause=outside.pause)
        with ItemWriter(there, schema, pace=pace, workers=options.workers, pause=outside.pause) as writer:
            samples.append(_copy_partitions(here, schema, partitions, taken, mask, writer.put))
    return samples


def _copy_partitions(
    store: Store,
    schema: TableSchema,
    partitions: int,
    taken: dict[Any, None],
    mask: PersonalMask | None,
    put: Callable[[list[Item]], None],
) -> Sample:
    found = items = left_out = 0
    for value in _candidates(store, schema, taken):
        if found == partitions:
            break
        is_there = False
        for chunk in chunks(_partition(store, schema, value), PAGE):
            is_there = True
            copied = [each if mask is None else mask.masked(schema.name, each) for each in chunk]
            kept = [each for each in copied if each is not None]
            put(kept)
            items += len(kept)
            left_out += len(copied) - len(kept)
        found += is_there
        if is_there:
            taken[value] = None
    return Sample(schema.name, found, items, left_out)


def _candidates(store: Store, schema: TableSchema, taken: dict[Any, None]) -> Iterator[Any]:
    """Yield partition keys: first those copied from earlier tables that have the right type, then those of a scan."""
    types = {"S": str, "B": bytes}
    known = [value for value in taken if isinstance(value, types.get(schema.hash.type, int))]
    yield from known
    seen = set(known)
    start: Item | None = None
    while True:
        page = store.execute(ScanTable(schema.name, projection=(Path((schema.hash.name,)),), limit=PAGE, start=start))
        for item in page.items:
            value = item[schema.hash.name]
            if value not in seen:
                seen.add(value)
                yield value
        start = page.last_key
        if start is None:
            return


def _partition(store: Store, schema: TableSchema, value: Any) -> Iterator[Item]:
    start: Item | None = None
    while True:
        page = store.execute(QueryTable(schema.name, KeyCondition(((schema.hash.name, value),)), start=start))
        yield from page.items
        start = page.last_key
        if start is None:
            return
