"""A copy of a store that is behind it: what was written is seen there later."""

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
    """A copy in memory; each change arrives after a random part of `seconds`, in the order of the writes."""

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
        """An item is now this one, or gone."""
        with self._lock:
            due = self._clock() + self._random.uniform(0, self._seconds)
            if self._arriving:
                due = max(due, self._arriving[-1][0])
            self._arriving.append((due, DeleteItem(table, key) if item is None else PutItem(table, item)))

    def defined(self, request: Request[Any]) -> None:
        """A table or an index was made or deleted; that is seen at once."""
        if isinstance(request, _DEFINITIONS):
            with self._lock:
                self._copy.execute(request)

    def catch_up(self, *, wholly: bool = False) -> None:
        """Let everything arrive that is due, or everything."""
        with self._lock:
            now = self._clock()
            while self._arriving and (wholly or self._arriving[0][0] <= now):
                with suppress(TableNotFound):  # deleted meanwhile
                    self._copy.execute(self._arriving.popleft()[1])

    def read(self, request: Request[Any]) -> Any:
        """What the copy has."""
        self.catch_up()
        return self._copy.execute(request)

    def sweep(self) -> None:
        """Delete what has expired."""
        self._copy.sweep()

    def close(self) -> None:
        """Close the copy."""
        with suppress(RequestError):
            self._copy.close()
