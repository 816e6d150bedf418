"""A store with those behaviours of DynamoDB that a local file lacks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, TypeVar

from partita.runtime import Clock, Pause, run, run_async, system_clock
from partita.store import (
    BatchGetItem,
    BatchGetResponse,
    BatchWriteItem,
    BatchWriteResponse,
    Capacity,
    CreateTable,
    DeleteTable,
    DescribeTable,
    GetItem,
    QueryTable,
    Request,
    ScanTable,
    SearchVectors,
    Store,
    TableDescription,
    TableSchema,
    TransactGetItems,
    TransactWriteItems,
)
from partita.store.embedded import EmbeddedStore
from partita.testing.realism._activation import Activation
from partita.testing.realism._conflicts import RunningTransactions
from partita.testing.realism._copies import LaggingCopy
from partita.testing.realism._parts import WRITES, Part, is_internal, item_key, key_of, parts_of, tables_of
from partita.testing.realism._settings import Realism
from partita.testing.realism._throttling import Throttle

R = TypeVar("R")


class RealisticStore:
    """Wraps another store and adds the behaviours that `realism` switches on. Safe for threads and event loops.

    store = RealisticStore(EmbeddedStore(":memory:"), Realism(index_seconds=2, seed=7), clock=clock)

    Other processes must not write to the same file, because the lagging copies do not see those writes.
    """

    def __init__(
        self,
        store: Store,
        realism: Realism,
        *,
        clock: Clock = system_clock,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Wrap a store. `sleep` waits while a transaction runs; pass a fake clock's `advance` to wait in no time."""
        self._store = store
        self._sleep = sleep
        self._realism = realism
        self._random = Random(realism.seed)  # noqa: S311 - it must repeat in every run
        self._schemas: dict[str, TableSchema] = {}
        self._running = RunningTransactions()
        self._activation = Activation(realism.table_seconds, clock)
        self._stale = self._copy(realism.stale_seconds, clock)
        self._indexes = self._copy(realism.index_seconds, clock)
        tables, partitions = realism.table_limits, realism.partition_limits
        self._tables = None if tables is None else Throttle(tables, clock, partitions=False)
        self._partitions = None if partitions is None else Throttle(partitions, clock, partitions=True)

    def _copy(self, seconds: float, clock: Clock) -> LaggingCopy | None:
        return LaggingCopy(self._store, seconds, Random(self._random.random()), clock) if seconds else None  # noqa: S311

    def execute(self, request: Request[R]) -> R:
        """Execute the request on the store, with the behaviours that are switched on."""
        return run(self._requests(request), self._blocking)  # type: ignore[no-any-return]

    async def execute_async(self, request: Request[R]) -> R:
        """Execute the request likewise, without blocking the event loop."""
        return await run_async(self._requests(request), self._awaiting)

    def close(self) -> None:
        """Close the copies and the wrapped store."""
        for copy in self._copies():
            copy.close()
        self._store.close()

    @contextmanager
    def transaction(self, request: TransactWriteItems) -> Iterator[None]:
        """Keep a transaction running during the block, and execute it at the end; conflicting requests are refused."""
        with self._running.running(request, map(self._item, request.actions)):
            yield
            response = self._store.execute(request)
        self._note(request, response, self._store.execute)

    def sweep(self) -> int:
        """Delete expired items in the store and its copies; return how many were deleted in the store."""
        self.catch_up()
        for copy in self._copies():
            copy.sweep()
        return self._store.sweep() if isinstance(self._store, EmbeddedStore) else 0

    def catch_up(self) -> None:
        """Make all writes visible: stale reads and index entries become up to date."""
        for copy in self._copies():
            copy.catch_up(wholly=True)

    def _copies(self) -> list[LaggingCopy]:
        return [copy for copy in (self._stale, self._indexes) if copy is not None]

    def _blocking(self, request: Request[Any] | Pause) -> Any:
        return self._sleep(request.seconds) if isinstance(request, Pause) else self._store.execute(request)

    async def _awaiting(self, request: Request[Any] | Pause) -> Any:
        if not isinstance(request, Pause):
            return await self._store.execute_async(request)
        if self._sleep is time.sleep:
            return await asyncio.sleep(request.seconds)
        return self._sleep(request.seconds)

    # --- one request ---

    def _requests(self, request: Request[Any]) -> Generator[Request[Any] | Pause, Any, Any]:
        if is_internal(request):
            return (yield request)
        self._activation.refuse(request)
        if isinstance(request, BatchGetItem | BatchWriteItem):
            return (yield from self._batch(request))
        self._refuse_throttled(request)
        if isinstance(request, TransactWriteItems) and self._realism.transaction_seconds:
            return (yield from self._transaction(request))
        self._refuse_held(request)
        return (yield from self._one(request))

    def _transaction(self, request: TransactWriteItems) -> Generator[Request[Any] | Pause, Any, Any]:
        with self._running.running(request, map(self._item, request.actions)):
            yield Pause(self._realism.transaction_seconds)
            return (yield from self._one(request))

    def _one(self, request: Request[Any]) -> Generator[Request[Any] | Pause, Any, Any]:
        copy = self._copy_for(request)
        if copy is not None:
            response = copy.read(request)
        else:
            response = yield request
        self._charge(request, response)
        if isinstance(request, WRITES) and self._copies():
            for part in parts_of(request):
                key = key_of(part, self._schema(part.table))
                found = yield GetItem(part.table, key, consistent=True)
                for each in self._copies():
                    each.changed(part.table, key, found.item)
        self._defined(request)
        return self._activation.described(response) if isinstance(response, TableDescription) else response

    def _note(self, request: TransactWriteItems, response: Any, execute: Callable[[Any], Any]) -> None:
        self._charge(request, response)
        for part in request.actions:
            key = key_of(part, self._schema(part.table))
            for each in self._copies():
                each.changed(part.table, key, execute(GetItem(part.table, key, consistent=True)).item)

    def _copy_for(self, request: Request[Any]) -> LaggingCopy | None:
        """The copy that the request reads; None for the store itself."""
        if isinstance(request, QueryTable | ScanTable):
            index = None if request.index is None else self._schema(request.table).index(request.index)
            if index is not None and not index.local:
                return self._indexes or self._stale
            return None if request.consistent else self._stale
        if isinstance(request, SearchVectors):
            return self._indexes or self._stale
        return self._stale if isinstance(request, GetItem) and not request.consistent else None

    def _defined(self, request: Request[Any]) -> None:
        self._activation.made(request)
        self._schemas.pop(str(getattr(request, "table", "")), None)
        if isinstance(request, CreateTable | DeleteTable):
            self._schemas.clear()
        for copy in self._copies():
            copy.defined(request)

    # --- batches: parts that are held, throttled or randomly chosen are left unprocessed ---

    def _batch(self, request: BatchGetItem | BatchWriteItem) -> Generator[Request[Any] | Pause, Any, Any]:
        kind = "read" if isinstance(request, BatchGetItem) else "write"
        parts = parts_of(request)
        throttled = [part for part in parts if self._is_throttled(part, kind)]
        if parts and len(throttled) == len(parts):
            self._refuse_throttled(request)
        left = {id(part) for part in parts if part in throttled or self._is_left(part, kind)}
        done = tuple(part for part in parts if id(part) not in left)
        rest = tuple(part for part in parts if id(part) in left)
        if isinstance(request, BatchWriteItem):
            written = (yield from self._one(BatchWriteItem(done))) if done else BatchWriteResponse((), ())  # type: ignore[arg-type]
            return BatchWriteResponse((*written.unprocessed, *rest), written.capacity)  # type: ignore[arg-type]
        found = yield from self._gets(done)
        items = iter(found.items)
        aligned = [None if id(part) in left else next(items) for part in parts]
        return BatchGetResponse(aligned, (*found.unprocessed, *rest), found.capacity)  # type: ignore[arg-type]

    def _gets(self, gets: tuple[Any, ...]) -> Generator[Request[Any] | Pause, Any, BatchGetResponse]:
        """A batch of gets; if it may be stale, the whole batch is read from the copy."""
        if not gets:
            return BatchGetResponse([], (), ())
        request = BatchGetItem(gets)
        may_be_stale = self._stale is not None and not any(get.consistent for get in gets)
        response: BatchGetResponse = self._stale.read(request) if may_be_stale and self._stale else (yield request)
        self._charge(request, response)
        return response

    def _is_left(self, part: Part, kind: str) -> bool:
        if kind == "write" and self._running.is_held(self._item(part)):
            return True
        return bool(self._realism.unprocessed) and self._random.random() < self._realism.unprocessed

    # --- limits and conflicts ---

    def _refuse_held(self, request: Request[Any]) -> None:
        if isinstance(request, TransactGetItems):
            self._running.refuse_transaction(request, map(self._item, request.gets))
        elif isinstance(request, TransactWriteItems):
            with self._running.running(request, map(self._item, request.actions)):
                pass
        elif isinstance(request, WRITES):
            self._running.refuse_write(self._item(parts_of(request)[0]))

    def _refuse_throttled(self, request: Request[Any]) -> None:
        kind = "write" if isinstance(request, WRITES) else "read"
        if self._tables is not None:
            self._tables.refuse(tables_of(request), kind)
        if self._partitions is not None:
            self._partitions.refuse(self._partitions_of(request), kind)

    def _is_throttled(self, part: Part, kind: str) -> bool:
        if self._tables is not None and self._tables.is_empty(part.table, kind):
            return True
        return self._partitions is not None and self._partitions.is_empty(self._partition(part), kind)

    def _charge(self, request: Request[Any], response: Any) -> None:
        consumed = getattr(response, "capacity", ())
        capacities = (consumed,) if isinstance(consumed, Capacity) else consumed
        for capacity in capacities:
            if self._tables is not None:
                self._tables.consumed(capacity.table, capacity)
        if self._partitions is not None:
            names = list(self._partitions_of(request))
            for name in names:  # a batch reports only its sum, so each part is charged an equal share
                for capacity in capacities:
                    self._partitions.consumed(name, capacity, 1 / len(names))

    def _partitions_of(self, request: Request[Any]) -> Iterator[object]:
        if isinstance(request, QueryTable):
            yield (request.table, request.index, *(repr(value) for _, value in request.key_condition.equal[:1]))
        for part in parts_of(request):
            yield self._partition(part)

    def _partition(self, part: Part) -> object:
        return (part.table, None, repr(next(iter(key_of(part, self._schema(part.table)).values()), None)))

    def _item(self, part: Part) -> Any:
        return item_key(part, self._schema(part.table))

    def _schema(self, table: str) -> TableSchema:
        if table not in self._schemas:
            self._schemas[table] = self._store.execute(DescribeTable(table)).schema
        return self._schemas[table]
