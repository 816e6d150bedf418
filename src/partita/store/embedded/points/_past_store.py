"""A store as it was at an instant: the current tables with overlays of what has changed since."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from partita._sqlite import DATABASE_ERRORS, translated
from partita.errors import PastRefused
from partita.runtime import in_thread
from partita.store import _requests as rq
from partita.store._interface import Store
from partita.store._vector_requests import SearchVectors
from partita.store.embedded._catalog import Catalog, Tables
from partita.store.embedded._connection import Reader
from partita.store.embedded.points._access import StoreAccess
from partita.store.embedded.points._copies import PastCopies
from partita.store.embedded.points._overlay import Overlay

R = TypeVar("R")

READ_KINDS: Final = (
    rq.GetItem,
    rq.QueryTable,
    rq.ScanTable,
    SearchVectors,
    rq.DescribeTable,
    rq.BatchGetItem,
    rq.TransactGetItems,
)


class PastStore:
    """Executes reads of items, one at a time. Its resources are released when it is closed or garbage collected.

    Each read runs in one snapshot of the file, after the changes since the last read were added to the overlay. No
    snapshot is held between reads, so the log of the file can be truncated as usual. Vector searches read all vectors,
    so they run on a copy.
    """

    def __init__(
        self,
        access: StoreAccess,
        instant: float,
        reads: Mapping[type, Callable[[Reader, Any], Any]],
        new_store: Callable[[Path], Store],
    ) -> None:
        self._access = access
        self._instant = instant
        self._reads = reads
        self._copies = PastCopies(access, instant, new_store)
        self._lock = threading.Lock()
        self._kept = ExitStack()
        self._reader: Reader | None = None
        self._overlays: dict[str, Overlay] = {}
        self._end = weakref.finalize(self, self._kept.close)

    def execute(self, request: rq.Request[R]) -> R:
        """Execute a read of items.

        Raises:
            PastRefused: the request is not a read of items.
            RecoveryDisabled, InstantOutOfRange: a table cannot be read at this instant.
        """
        names = _tables(request)
        if isinstance(request, SearchVectors):
            return self._copies.execute(request)  # type: ignore[return-value]
        with self._lock, self._state() as reader:
            try:
                now = Reader(reader.connection, reader.clock, reader.vectors)
                now.catalog = Catalog(reader.catalog.generation, Tables())
                for name in names:
                    now.catalog.tables[name] = self._overlaid(reader, name).table
                response = self._reads[type(request)](now, request)
            except DATABASE_ERRORS as error:
                raise translated(error, self._access.path) from error
            if isinstance(response, rq.TableDescription):
                response = self._described(reader, response)
            return response  # type: ignore[no-any-return]

    async def execute_async(self, request: rq.Request[R]) -> R:
        """Execute a read of items in another thread."""
        return await in_thread(partial(self.execute, request))

    def close(self) -> None:
        """Release the overlays and copies. Closing twice does nothing."""
        with self._lock:
            self._overlays.clear()
            self._reader = None
            self._end()
        self._copies.close()

    @contextmanager
    def _state(self) -> Iterator[Reader]:
        """A snapshot of the file. The first one (in memory, each one) has every write that has read the clock."""
        self._access.check_open()
        if self._access.is_in_memory:
            with self._access.snapshot() as reader:
                try:
                    yield reader
                finally:
                    for overlay in self._overlays.values():
                        overlay.drop(reader.connection)
                    self._overlays.clear()
            return
        reader = self._kept_reader()
        try:
            yield reader
        finally:
            reader.connection.execute("COMMIT")  # keeps the overlays; nothing else was written

    def _kept_reader(self) -> Reader:
        if self._reader is None:
            self._reader = self._kept.enter_context(self._access.snapshot())
        else:
            self._reader.connection.execute("BEGIN")
            self._reader.refresh()
        return self._reader

    def _overlaid(self, reader: Reader, name: str) -> Overlay:
        table, overlay = reader.table(name), self._overlays.get(name)
        if overlay is None or not overlay.fits(table):
            overlay = self._overlays[name] = Overlay(reader, table, self._instant)
        overlay.follow(reader, table, self._access.clock())
        return overlay

    def _described(self, reader: Reader, now: rq.TableDescription) -> rq.TableDescription:
        """The description of the past table, with the current schema and without a stream."""
        more, larger = self._overlays[now.schema.name].difference(reader.connection)
        count, size = max(0, now.item_count + more), max(0, now.size_bytes + larger)
        return replace(now, item_count=count, size_bytes=size, stream_id=None)


def _tables(request: Any) -> set[str]:
    if not isinstance(request, READ_KINDS):
        name = type(request).__name__
        raise PastRefused(f"{name} cannot be executed on a past state.", hint="Only reads of items are possible.")
    if isinstance(request, rq.BatchGetItem | rq.TransactGetItems):
        return {get.table for get in request.gets}
    return {request.table}
