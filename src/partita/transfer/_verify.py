"""Comparing a table of two stores: every item, by its key and its content, in bounded memory.

Both sides are scanned once, and a digest of each item is stored in a temporary file. Items that seem to differ are read
again from both sides, several times: while changes are followed, an item that becomes equal a little later is equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Final, Literal, Self

import apsw
import msgspec
from msgspec import Struct

from partita.runtime import chunks
from partita.store import BatchGetItem, DescribeTable, GetItem, ScanTable, Store, TableSchema, wire_item
from partita.transfer._sides import Outside, PatientStore, Side
from partita.values import Item, decode_item, encode_item

PAGE: Final = 1_000
MAX_GETS: Final = 100
LOOKS: Final = 4
"""How many times items that seem to differ are read again."""
LOOK_SECONDS: Final = 1.0

_encode: Final = msgspec.json.Encoder(order="sorted").encode


class ItemDifference(Struct, frozen=True):
    """An item that differs between the two sides."""

    table: str
    key: Item
    kind: Literal["missing", "extra", "differs"]
    """Only in the source, only in the target, or different in both."""
    attributes: tuple[str, ...] = ()
    """The names of the attributes that differ."""

    def __str__(self) -> str:
        key = msgspec.json.encode(wire_item(self.key)).decode()
        what = {"missing": "missing in the target", "extra": "only in the target"}.get(self.kind)
        return f"{self.table} {key}: {what or 'differs in ' + ', '.join(self.attributes)}"


class Comparison(Struct, frozen=True):
    """The result of comparing a table."""

    table: str
    items: int
    """The number of items in the source."""
    differences: int
    expired: int = 0
    """The number of expired items that only one side has, because the other may have deleted its own already."""


class TableComparison:
    """Compares one table of two stores. Closing it removes the temporary file."""

    def __init__(self, source: Side, target: Side, table: str, outside: Outside | None = None) -> None:
        self._outside = outside or Outside()
        self._source = PatientStore(source.store, self._outside)
        self._target = PatientStore(target.store, self._outside)
        self.table = table
        self._schema: TableSchema = self._source.execute(DescribeTable(table)).schema
        self._seen = apsw.Connection("")
        self._seen.pragma("synchronous", "off")
        self._seen.execute("CREATE TABLE source (key BLOB PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID")
        self._seen.execute("CREATE TABLE suspects (key BLOB PRIMARY KEY) WITHOUT ROWID")
        self._items = self._expired = 0

    def run(
        self,
        report: Callable[[ItemDifference], object],
        progress: Callable[[int], object] = lambda _items: None,
    ) -> Comparison:
        """Compare all items; call `report` with each difference, and `progress` with numbers of items that were read.

        Raises:
            TableNotFound: a side does not have the table.
        """
        for items in self._pages(self._source):
            self._add(items)
            progress(len(items))
        for items in self._pages(self._target):
            self._cross_off(items)
            progress(len(items))
        self._seen.execute("INSERT OR IGNORE INTO suspects SELECT key FROM source")
        count = 0
        for difference in self._differences():
            count += 1
            report(difference)
        return Comparison(self.table, self._items, count, self._expired)

    def _pages(self, store: Store) -> Iterator[list[Item]]:
        start: Item | None = None
        while True:
            page = store.execute(ScanTable(self.table, limit=PAGE, start=start, consistent=True))
            yield page.items
            start = page.last_key
            if start is None:
                return

    def _key(self, item: Item) -> bytes:
        return encode_item({attribute.name: item[attribute.name] for attribute in self._schema.key})

    def _add(self, items: Sequence[Item]) -> None:
        rows = [(self._key(item), digest(item)) for item in items]
        self._items += len(rows)
        with self._seen:
            self._seen.executemany("INSERT OR REPLACE INTO source VALUES (?, ?)", rows)

    def _cross_off(self, items: Sequence[Item]) -> None:
        """Remove equal items from the source's digests; those that remain are missing or differ."""
        with self._seen:
            for item in items:
                key = self._key(item)
                self._seen.execute("DELETE FROM source WHERE key = ? AND digest = ?", (key, digest(item)))
                if not self._seen.changes():
                    self._seen.execute("INSERT OR IGNORE INTO suspects VALUES (?)", (key,))

    def _differences(self) -> Iterator[ItemDifference]:
        """Yield the items that still differ after several reads."""
        rows: Any = self._seen.execute("SELECT key FROM suspects")
        for keys in chunks((decode_item(key) for (key,) in rows), MAX_GETS):
            yield from self._looked_at(keys)

    def _looked_at(self, keys: Sequence[Item]) -> Iterator[ItemDifference]:
        left: dict[bytes, Item] = {encode_item(key): key for key in keys}
        shown: dict[bytes, set[bytes | None]] = {name: set() for name in left}
        pairs: dict[bytes, tuple[Item | None, Item | None]] = {}
        for look in range(LOOKS):
            if look and left:
                self._outside.pause(LOOK_SECONDS)
            sources, targets = self._read(self._source, left), self._read(self._target, left)
            for name in list(left):
                shown[name].add(_digest_or_none(sources[name]))
                pairs[name] = sources[name], targets[name]
                # Equal to the source's item at an earlier read: the target only lags.
                if _digest_or_none(targets[name]) in shown[name]:
                    del left[name]
        for name, key in left.items():
            if self._is_expired(*pairs[name]):
                self._expired += 1
            else:
                yield _difference(self.table, key, *pairs[name])

    def _read(self, store: Store, keys: dict[bytes, Item]) -> dict[bytes, Item | None]:
        found: dict[bytes, Item | None] = dict.fromkeys(keys)
        gets = tuple(GetItem(self.table, key, consistent=True) for key in keys.values())
        while gets:
            response = store.execute(BatchGetItem(gets))
            found |= {self._key(item): item for item in response.items if item is not None}
            gets = response.unprocessed
        return found

    def _is_expired(self, *items: Item | None) -> bool:
        ttl = self._schema.ttl
        there = [item for item in items if item is not None]
        if ttl is None or len(there) != 1:
            return False
        at = there[0].get(ttl)
        return isinstance(at, int) and not isinstance(at, bool) and 0 < at <= self._outside.clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._seen.close()


def digest(item: Item) -> bytes:
    """Return a digest of an item, which does not depend on the order of its attributes."""
    return hashlib.blake2b(_encode(wire_item(item)), digest_size=16).digest()


def _digest_or_none(item: Item | None) -> bytes | None:
    return None if item is None else digest(item)


def _difference(table: str, key: Item, source: Item | None, target: Item | None) -> ItemDifference:
    if source is None or target is None:
        return ItemDifference(table, key, "extra" if source is None else "missing")
    one, other = wire_item(source), wire_item(target)
    names = sorted(name for name in one.keys() | other.keys() if _encode(one.get(name)) != _encode(other.get(name)))
    return ItemDifference(table, key, "differs", tuple(names))
