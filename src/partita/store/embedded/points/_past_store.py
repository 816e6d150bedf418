"""A store as it was at an instant: tables are brought into a file of their own when they are first read."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from partita.errors import PastRefused
from partita.runtime import in_thread
from partita.store import _requests as rq
from partita.store._interface import Store
from partita.store._vector_requests import SearchVectors
from partita.store.embedded.points._access import StoreAccess
from partita.store.embedded.points._past_table import opened
from partita.store.embedded.points._restore import fill_table

R = TypeVar("R")

READS: Final = (
    rq.GetItem,
    rq.QueryTable,
    rq.ScanTable,
    SearchVectors,
    rq.DescribeTable,
    rq.BatchGetItem,
    rq.TransactGetItems,
)


class PastStore:
    """Executes reads of items. The file goes when this is closed, or when nobody has it any more."""

    def __init__(self, access: StoreAccess, instant: float, new_store: Callable[[Path], Store]) -> None:
        self._access = access
        self._instant = instant
        self._new_store = new_store
        self._made: Store | None = None
        self._loaded: set[str] = set()
        self._lock = threading.Lock()

    def execute(self, request: rq.Request[R]) -> R:
        """Execute a read of items.

        Raises:
            PastRefused: it is something else. RecoveryDisabled, InstantOutOfRange: the table cannot be read so.
        """
        for table in _tables(request):
            self._load(table)
        return self._store.execute(request)

    async def execute_async(self, request: rq.Request[R]) -> R:
        """The same for a task; another thread brings the tables."""
        missing = [table for table in _tables(request) if table not in self._loaded]
        if missing:
            for table in missing:
                await in_thread(partial(self._load, table))
        return await self._store.execute_async(request)

    @property
    def _store(self) -> Store:
        """The file, made when it is first needed, for its owner alone."""
        if self._made is None:
            import tempfile  # noqa: PLC0415 - hardly ever needed, and slow to load

            folder = tempfile.mkdtemp(prefix="partita-past-")
            self._made = self._new_store(Path(folder) / "past.db")
            self._end = weakref.finalize(self, _remove, self._made, folder)
        return self._made

    def close(self) -> None:
        """Remove the file. Closing twice does nothing."""
        if self._made is not None:
            self._end()

    def _load(self, name: str) -> None:
        if name in self._loaded:
            return
        with self._lock:
            if name in self._loaded:
                return
            with opened(self._access, name, self._instant) as past:
                schema = replace(past.table.schema, stream=None)
                fill_table(self._store.execute, schema, past.blobs(), lambda _items: None)
            self._loaded.add(name)


def _tables(request: Any) -> set[str]:
    if not isinstance(request, READS):
        name = type(request).__name__
        raise PastRefused(f"{name} cannot be executed on a past state.", hint="Only items can be read from it.")
    if isinstance(request, rq.BatchGetItem | rq.TransactGetItems):
        return {get.table for get in request.gets}
    return {request.table}


def _remove(store: Store, folder: str) -> None:
    store.close()
    import shutil  # noqa: PLC0415 - hardly ever needed, and slow to load

    shutil.rmtree(folder, ignore_errors=True)
