"""A lagging copy of a store: writes become visible in it later."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from random import Random
from typing import Any

from partita.errors import RequestError, TableNotFound
from partita.runtime import Clock
from partita.store import (
    CreateIndex,
    CreateTable,
    CreateVectorIndex,
    DeleteIndex,
    DeleteItem,
    DeleteTable,
    DeleteVectorIndex,
    DescribeTable,
    ListTables,
    PutItem,
    Request,
    ScanTable,
    Store,
    TableSchema,
)
from partita.store.embedded import EmbeddedStore
from partita.values import Item

_DEFINITIONS = (CreateTable, DeleteTable, CreateIndex, DeleteIndex, CreateVectorIndex, DeleteVectorIndex)


class LaggingCopy:
    """A copy in memory; each change arrives after a random delay of up to `seconds`, in the order of the writes."""

    def __init__(self, store: Store, seconds: float, random: Random, clock: Clock) -> None:
        self._seconds = seconds
        self._random = random
        self._clock = clock
        self._copy = EmbeddedStore(":memory:", clock=clock)
        self._arriving: deque[tuple[float, Request[Any]]] = deque()
        self._lock = threading.Lock()
        for name in store.execute(ListTables()):
            self._copy_table(store, store.execute(DescribeTable(name)).schema)

    def _copy_table(self, store: Store, schema: TableSchema) -> None:
        self._copy.execute(CreateTable(schema))
        start: Item | None = None
        while True:
            page = store.execute(ScanTable(schema.name, start=start, consistent=True))
            for item in page.items:
                self._copy.execute(PutItem(schema.name, item))
            start = page.last_key
            if start is None:
                return

    def changed(self, table: str, key: Item, item: Item | None) -> None:
        """Schedule the new value of an item, or its deletion if `item` is None."""
        with self._lock:
            due = self._clock() + self._random.uniform(0, self._seconds)
            if self._arriving:
                due = max(due, self._arriving[-1][0])
            self._arriving.append((due, DeleteItem(table, key) if item is None else PutItem(table, item)))

    def defined(self, request: Request[Any]) -> None:
        """Apply the creation or deletion of a table or index, which is visible immediately."""
        if isinstance(request, _DEFINITIONS):
            with self._lock:
                self._copy.execute(request)

    def catch_up(self, *, wholly: bool = False) -> None:
        """Apply all changes that are due; with `wholly`, all changes."""
        with self._lock:
            now = self._clock()
            while self._arriving and (wholly or self._arriving[0][0] <= now):
                with suppress(TableNotFound):  # the table was deleted in the meantime
                    self._copy.execute(self._arriving.popleft()[1])

    def read(self, request: Request[Any]) -> Any:
        """Execute a read on the copy."""
        self.catch_up()
        return self._copy.execute(request)

    def sweep(self) -> None:
        """Delete expired items."""
        self._copy.sweep()

    def close(self) -> None:
        """Close the copy."""
        with suppress(RequestError):
            self._copy.close()
