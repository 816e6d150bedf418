"""Writing items in concurrent batches, within a limit of write units per second."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Final, Self, TypeAlias, TypeVar

from partita.errors import ConditionFailed, CopyRefused, ValidationFailed
from partita.runtime import Pace, chunks
from partita.store import BatchWriteItem, DeleteItem, PutItem, Store, TableSchema, wire_item
from partita.transfer._sides import Loader
from partita.transfer._units import units_of
from partita.values import Item, write_units

BATCH: Final = 25
BULK: Final = 1_000
"""How many items are put in one transaction, if the store can do that."""
MAX_PAUSE: Final = 5.0

T = TypeVar("T")

Write: TypeAlias = PutItem | DeleteItem


class ItemWriter:
    """Writes puts and deletes of one table; several threads may use one writer."""

    def __init__(
        self,
        store: Store,
        schema: TableSchema,
        *,
        pace: Pace,
        workers: int,
        pause: Callable[[float], object],
        on_written: Callable[[int, float], object] = lambda _items, _units: None,
        loader: Loader | None = None,
    ) -> None:
        """Create a writer; `loader` puts items in bulk, if the store can do that and `pace` has no limit."""
        self._store = store
        self._schema = schema
        self._pace = pace
        self._pause = pause
        self._on_written = on_written
        self._loader = None if pace.is_limited else loader
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="partita-transfer")
        self._failure: BaseException | None = None

    def put(self, items: Iterable[Item]) -> None:
        """Write items, and overwrite those with the same keys.

        Raises:
            CopyRefused: the target refuses one of the items. StoreError: the target failed.
        """
        self.write([PutItem(self._schema.name, item) for item in items])

    def write(self, writes: Sequence[Write]) -> None:
        """Execute writes of different items, and return when all are durable.

        Raises:
            CopyRefused: the target refuses one of the writes. StoreError: the target failed.
        """
        if self._loader is not None and all(isinstance(write, PutItem) for write in writes):
            for batch in chunks(writes, BULK):
                self._load(self._loader, batch)
            return
        if len(writes) <= BATCH:
            if writes:
                self._write_batch(tuple(writes))
            return
        futures = [self._pool.submit(self._write_unless_failed, batch) for batch in chunks(writes, BATCH)]
        _finish(futures)

    def _load(self, load: Loader, batch: Sequence[Write]) -> None:
        response = load([write.item for write in batch if isinstance(write, PutItem)])
        for each in response.rejected:
            raise self._refused(batch[each.position], each.error) from each.error
        self._on_written(len(batch), response.units)

    def _write_unless_failed(self, batch: tuple[Write, ...]) -> None:
        if self._failure is not None:  # this batch is not written, so its future must fail, too
            raise self._failure
        try:
            self._write_batch(batch)
        except BaseException as error:
            self._failure = error
            raise

    def _write_batch(self, batch: tuple[Write, ...]) -> None:
        left, pause = batch, 0.05
        while left:
            estimated = sum(map(self._units, left)) if self._pace.is_limited else 0.0
            self._pace.take(estimated)
            try:
                response = self._store.execute(BatchWriteItem(left))
            except ValidationFailed as error:
                raise self._refusal(left, error) from error
            units = sum(each.total_write for each in response.capacity)
            self._pace.correct(units - estimated)
            self._on_written(len(left) - len(response.unprocessed), units)
            left = response.unprocessed
            if left:
                self._pause(pause)
                pause = min(2 * pause, MAX_PAUSE)

    def _units(self, write: Write) -> float:
        return units_of(self._schema, write.item) if isinstance(write, PutItem) else write_units(1)

    def _refusal(self, batch: tuple[Write, ...], error: ValidationFailed) -> CopyRefused:
        """Return the error for the refused item, found by writing each item alone: a batch does not report which."""
        for write in batch:
            try:
                self._store.execute(BatchWriteItem((write,)))
            except ValidationFailed as own:
                return self._refused(write, own)
        return CopyRefused(f"{self._schema.name}: the target refuses a batch of items: {error.message}")

    def _refused(self, write: Write, error: ValidationFailed | ConditionFailed) -> CopyRefused:
        item = write.item if isinstance(write, PutItem) else write.key
        key = wire_item({part.name: item[part.name] for part in self._schema.key if part.name in item})
        hint = "Correct the item, or the table of the target, and run the command again: it resumes here."
        return CopyRefused(f"{self._schema.name}: the target refuses the item {key}: {error.message}", hint=hint)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)


def _finish(futures: Sequence[Future[None]]) -> None:
    """Wait for all futures, and raise the first error."""
    errors = [error for error in (future.exception() for future in futures) if error is not None]
    if errors:
        raise errors[0]
