"""Tables with items of every kind, a source that changes while it is read, and a target that may crash."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from tests.store.remote.served import served

from partita import EmbeddedStore
from partita.store import (
    BatchWriteItem,
    CreateTable,
    DeleteItem,
    DescribeStream,
    IndexSchema,
    KeyAttribute,
    PutItem,
    ReadStream,
    Request,
    ScanTable,
    Store,
    StreamRecord,
    TableSchema,
    TransactWriteItems,
)
from partita.testing import Crash
from partita.transfer import CopyOptions, Outside, Side, StoreCopy, TableCopy
from partita.values import Item

R = TypeVar("R")

ORDERS = TableSchema(
    "orders",
    KeyAttribute("customer"),
    KeyAttribute("number", "N"),
    indexes=(
        IndexSchema("by_status", (KeyAttribute("status"),), (KeyAttribute("number", "N"),)),
        IndexSchema("by_weight", (KeyAttribute("customer"),), (KeyAttribute("weight", "N"),), "KEYS_ONLY", local=True),
    ),
    ttl="expires",
    stream="NEW_AND_OLD_IMAGES",
)
FILES = TableSchema("files", KeyAttribute("digest", "B"))
"""A table without a stream."""


def order(number: int, **others: Any) -> Item:
    """Return an item with an attribute of each type, including values that are hard to preserve."""
    return {
        "customer": f"customer-{number % 7}",
        "number": number,
        "status": ("open", "paid", "sent")[number % 3],
        "total": Decimal("12345678901234567890.123456789012345678"),
        "tiny": Decimal("1E-130"),
        "huge": 10**37 + number,
        "empty": "",
        "blob": bytes([number % 256, 0, 255]),
        "nothing": None,
        "flag": number % 2 == 0,
        "tags": frozenset({"a", "ä", "z" * 50}),
        "sizes": frozenset({1, Decimal("2.5"), -3}),
        "parts": frozenset({b"\x00", b"\xff\xfe"}),
        "lines": [{"sku": "x", "n": 1}, [], {}, None, Decimal("0.1")],
        "expires": 4_000_000_000 + number,
        "n": 0,
        **others,
    }


def fill(store: Store, count: int) -> None:
    store.execute(CreateTable(ORDERS))
    for first in range(0, count, 25):
        puts = tuple(PutItem("orders", order(number)) for number in range(first, min(first + 25, count)))
        store.execute(BatchWriteItem(puts))


def contents(store: Store, table: str = "orders") -> dict[Any, Item]:
    """Return all items of a table, by their keys."""
    found: dict[Any, Item] = {}
    start: Item | None = None
    while True:
        page = store.execute(ScanTable(table, start=start))
        for item in page.items:
            found[item["customer"], item["number"]] = item
        if page.last_key is None:
            return found
        start = page.last_key


@contextmanager
def opened(path: Path, *, wire: bool = False) -> Iterator[Store]:
    """Open a store on a file, or a client of a server on it."""
    with EmbeddedStore(path, durable=False) as store:
        if not wire:
            yield store
            return
        with served(store) as remote:
            yield remote


class Wrapped:
    """A store that forwards requests to another one."""

    def __init__(self, store: Store) -> None:
        self._inside = store

    def execute(self, request: Request[R]) -> R:
        return self._inside.execute(request)

    async def execute_async(self, request: Request[R]) -> R:
        raise NotImplementedError

    def close(self) -> None:
        self._inside.close()


class BusySource(Wrapped):
    """A source to which others write after each request; each put has a greater `n`."""

    def __init__(self, store: Store, seed: int, keys: int) -> None:
        super().__init__(store)
        self.random = random.Random(seed)
        self.keys = keys
        self.written = 0
        self.lock = threading.Lock()

    def execute(self, request: Request[R]) -> R:
        response = super().execute(request)
        with self.lock:
            self.write(self.random.randrange(3))
        return response

    def write(self, count: int) -> None:
        for _ in range(count):
            self.written += 1
            number = self.random.randrange(self.keys)
            item = order(number, n=self.written)
            if self.random.random() < 0.3:
                key = {"customer": item["customer"], "number": number}
                self._inside.execute(DeleteItem("orders", key))
            else:
                self._inside.execute(PutItem("orders", item))


class MortalTarget(Wrapped):
    """Crashes at its n-th request, before or after executing it, and records in `older` each put of an older image."""

    def __init__(self, store: Store, shown: dict[Any, int]) -> None:
        super().__init__(store)
        self.left: int | None = None
        self.happens = False
        self.shown = shown
        self.older: list[Any] = []
        self.lock = threading.Lock()

    def dies_at(self, request: int, *, happens: bool) -> None:
        self.left, self.happens = request, happens

    def execute(self, request: Request[R]) -> R:
        with self.lock:
            dies = self.left == 0
            if self.left is not None and self.left > 0:
                self.left -= 1
        if dies and not self.happens:
            raise Crash
        response = super().execute(request)
        if isinstance(request, BatchWriteItem | TransactWriteItems):
            self._look_at(request.writes if isinstance(request, BatchWriteItem) else request.actions)
        if dies:
            raise Crash
        return response

    def _look_at(self, writes: Sequence[object]) -> None:
        with self.lock:
            for write in writes:
                if isinstance(write, PutItem) and write.table == "orders":
                    key = write.item["customer"], write.item["number"]
                    if write.item["n"] < self.shown.get(key, 0):
                        self.older.append((key, write.item["n"], self.shown[key]))
                    self.shown[key] = max(write.item["n"], self.shown.get(key, 0))


OUTSIDE = Outside(pause=lambda _seconds: None, random=random.Random(1), patience=0.0)


def copy_of(
    source: Store, target: Store, *tables: str, owner: str = "run", options: CopyOptions | None = None
) -> StoreCopy:
    """Return a copy of the orders, or of the given tables."""
    one, other = Side(source), Side(target)
    copies = [
        TableCopy(one, other, table, owner=owner, options=options, outside=OUTSIDE) for table in tables or ("orders",)
    ]
    return StoreCopy(one, copies)


def copied(source: Store, target: Store, *tables: str, owner: str = "run", options: CopyOptions | None = None) -> int:
    """Copy everything that exists, and return how many items had changed meanwhile."""
    with copy_of(source, target, *tables, owner=owner, options=options) as copy:
        copy.prepare()
        return copy.load()


def records(store: Store, skip: int = 0) -> list[tuple[Any, ...]]:
    """Return the records of the orders' stream in order, without the first `skip`."""
    (shard,) = store.execute(DescribeStream("orders")).shards
    found: list[StreamRecord] = []
    while page := store.execute(ReadStream("orders", shard.id, found[-1].sequence if found else 0)).records:
        found += page
    return [(each.event, each.keys, each.old, each.new) for each in found][skip:]


def follow(copy: StoreCopy) -> None:
    stop = threading.Event()
    copy.follow(stop, stop.set)


def followed(source: Store, target: Store, owner: str = "follower", options: CopyOptions | None = None) -> None:
    """Run a copy that follows all existing changes."""
    with copy_of(source, target, owner=owner, options=options) as copy:
        copy.prepare()
        copy.load(every_change=True)
        follow(copy)
