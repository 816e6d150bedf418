"""What a transfer consumes: units of an item with its index entries, and what they cost."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from partita.store import DescribeTable, ScanTable, Store, TableSchema
from partita.values import Item, item_size, read_units, text_size, value_size, write_units

SAMPLE: Final = 200
"""So many items are looked at for an estimate."""
MILLION: Final = 1_000_000


class Prices(Struct, frozen=True):
    """Dollars for a million units on demand: those of us-east-1 and most regions; others cost up to twice that."""

    read: float = 0.125
    write: float = 0.625


class Estimate(Struct, frozen=True):
    """About what a transfer of one table consumes."""

    table: str
    items: int
    size: int
    read: float
    """Units that reading it consumes, consistently."""
    write: float
    """Units that writing it consumes, with its indexes."""

    def dollars(self, *, reads: bool, writes: bool, prices: Prices | None = None) -> float:
        """What that costs on DynamoDB, on demand."""
        prices = prices or Prices()
        return (self.read * prices.read * reads + self.write * prices.write * writes) / MILLION


def units_of(schema: TableSchema, item: Item) -> float:
    """The units that writing a new item consumes, with an entry in each index that it is in."""
    units = write_units(item_size(item))
    for index in schema.indexes:
        if all(attribute.name in item for attribute in index.key):
            units += write_units(_entry_size(schema, index.projection, index.key, item))
    return units


def _entry_size(schema: TableSchema, projection: str | tuple[str, ...], key: tuple[object, ...], item: Item) -> int:
    if projection == "ALL":
        return item_size(item)
    names = {getattr(each, "name", "") for each in (*schema.key, *key)}
    names |= set() if isinstance(projection, str) else set(projection)
    return sum(text_size(name) + value_size(item[name]) for name in names if name in item)


def estimate(store: Store, table: str) -> Estimate:
    """About what the items of a table are, from the store's own figures and from some of them.

    DynamoDB's figures are up to six hours old.
    """
    described = store.execute(DescribeTable(table))
    page = store.execute(ScanTable(table, limit=SAMPLE))
    count = max(described.item_count, page.count)
    if not page.items:
        return Estimate(table, count, described.size_bytes, 0.0, 0.0)
    sizes = sum(map(item_size, page.items)) / page.count
    written = sum(units_of(described.schema, item) for item in page.items) / page.count
    size = max(described.size_bytes, round(sizes * count))
    return Estimate(table, count, size, read_units(size, consistent=True), round(written * count))
