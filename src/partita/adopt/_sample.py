"""A bounded sample of a table: estimating its cost, and reading it."""

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
    """What reading a sample will consume, estimated from the table's description."""

    items: int
    read_units: float
    is_bound: bool
    """Whether the units are an upper bound, because the description does not contain the size of the items."""


class Sample(Struct, frozen=True):
    """Items of a table, whether they are all of its items, and the units that reading them consumed."""

    schema: TableSchema
    items: tuple[Item, ...]
    is_whole: bool
    read_units: float


def estimate(table: TableDescription, limit: int) -> Estimate:
    """Return the cost of a sample: a scan consumes half a unit per 4 KB, and at least half a unit per page."""
    if not table.item_count:
        # DynamoDB updates the count about every six hours, so a table with a count of zero may have items.
        return Estimate(limit, _units(limit * MAX_ITEM_BYTES), is_bound=True)
    items = min(limit, table.item_count)
    average = table.size_bytes / table.item_count
    pages = ceil(items / _PAGE) + (_SEGMENTS if table.item_count > limit else 1)
    return Estimate(items, _units(items * average) + pages * 0.5, is_bound=False)


def _units(size: float) -> float:
    return ceil(size / _UNIT_BYTES) / 2


def describe(table: str) -> Generator[Request[Any], Any, TableDescription]:
    """Request the description of a table: keys, indexes, TTL, stream and size.

    Raises:
        TableNotFound: the table does not exist.
    """
    description: TableDescription = yield DescribeTable(table)
    return description


def read_sample(table: TableDescription, limit: int, progress: Callable[[int], None] = lambda _: None) -> Requests:
    """Read at most `limit` items, spread over the whole table if it has more.

    Args:
        table: the description of the table.
        limit: the maximum number of items.
        progress: called with the number of items of each page.
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
