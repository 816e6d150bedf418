"""The consumption of a transfer: capacity units of items and their index entries, and their price."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from partita.store import DescribeTable, ScanTable, Store, TableSchema
from partita.values import Item, item_size, read_units, text_size, value_size, write_units

SAMPLE: Final = 200
"""How many items are read for an estimate."""
MILLION: Final = 1_000_000


class Prices(Struct, frozen=True):
    """Dollars per million on-demand units in us-east-1 and most regions; other regions cost up to twice as much."""

    read: float = 0.125
    write: float = 0.625


class Estimate(Struct, frozen=True):
    """An estimate of what a transfer of one table consumes."""

    table: str
    items: int
    size: int
    read: float
    """The units of a consistent read of the table."""
    write: float
    """The units of writing the table with its indexes."""

    def dollars(self, *, reads: bool, writes: bool, prices: Prices | None = None) -> float:
        """Return the on-demand price on DynamoDB."""
        prices = prices or Prices()
        return (self.read * prices.read * reads + self.write * prices.write * writes) / MILLION


def units_of(schema: TableSchema, item: Item) -> float:
    """Return the units for writing a new item, with an entry in each index that includes it."""
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
    """Estimate the items of a table from the store's own figures and from a sample of the items.

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
