"""A bounded sample of a table: what it will cost, and reading it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from math import ceil
from typing import Any, Final, TypeAlias

from msgspec import Struct

from partita.store import DescribeTable, PageResponse, Request, ScanTable, TableDescription, TableSchema
from partita.values import MAX_ITEM_BYTES, Item

_UNIT_BYTES: Final = 4096
_PAGE: Final = 100
_SEGMENTS: Final = 8

Requests: TypeAlias = Generator[Request[Any], Any, "Sample"]


class Estimate(Struct, frozen=True):
    """What a sample will read, by what the table says of itself."""

    items: int
    read_units: float
    is_bound: bool
    """Whether the units are an upper bound, because the table does not say how large its items are."""


class Sample(Struct, frozen=True):
    """Items of a table, whether they are all that it has, and what reading them took."""

    schema: TableSchema
    items: tuple[Item, ...]
    is_whole: bool
    read_units: float


def estimate(table: TableDescription, limit: int) -> Estimate:
    """What a sample of so many items will cost: scans read half a unit for each 4 KB, and for each page at least."""
    if not table.item_count:
        # DynamoDB counts every six hours, so that an empty table may have items.
        return Estimate(limit, _units(limit * MAX_ITEM_BYTES), is_bound=True)
    items = min(limit, table.item_count)
    average = table.size_bytes / table.item_count
    pages = ceil(items / _PAGE) + (_SEGMENTS if table.item_count > limit else 1)
    return Estimate(items, _units(items * average) + pages * 0.5, is_bound=False)


def _units(size: float) -> float:
    return ceil(size / _UNIT_BYTES) / 2


def describe(table: str) -> Generator[Request[Any], Any, TableDescription]:
    """Ask for keys, indexes, TTL, stream and size of a table.

    Raises:
        TableNotFound: there is none.
    """
    description: TableDescription = yield DescribeTable(table)
    return description


def read_sample(table: TableDescription, limit: int, progress: Callable[[int], None] = lambda _: None) -> Requests:
    """Read at most so many items, from all over the table where it has more.

    Args:
        table: what the store says of it.
        limit: how many items.
        progress: is told how many items each page had.
    """
    segments = _SEGMENTS if not table.item_count or table.item_count > limit else 1
    items: list[Item] = []
    units = 0.0
    starts: dict[int, Item | None] = dict.fromkeys(range(segments))
    while starts and len(items) < limit:
        for segment in list(starts):
            size = min(_PAGE, ceil(limit / segments), limit - len(items))
            if size == 0:
                break
            page: PageResponse = yield ScanTable(
                table.schema.name, limit=size, start=starts[segment], segment=segment, segments=segments
            )
            items += page.items
            units += page.capacity.total_read
            progress(len(page.items))
            starts[segment] = page.last_key
            if page.last_key is None:
                del starts[segment]
    return Sample(table.schema, tuple(items), not starts, units)
