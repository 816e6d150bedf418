"""Past states of tables, copied to a temporary file when they are first searched."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from partita.store._interface import Store
from partita.store._vector_requests import SearchResponse, SearchVectors
from partita.store.embedded.points._access import StoreAccess
from partita.store.embedded.points._past_table import opened
from partita.store.embedded.points._restore import fill_table


class PastCopies:
    """Copies of tables as of one instant. The file is removed when this object is closed or garbage collected."""

    def __init__(self, access: StoreAccess, instant: float, new_store: Callable[[Path], Store]) -> None:
        self._access = access
        self._instant = instant
        self._new_store = new_store
        self._made: Store | None = None
        self._copied: set[str] = set()
        self._lock = threading.Lock()

    def execute(self, request: SearchVectors) -> SearchResponse:
        """Search the copy of a table, which is created on the first search.

        Raises:
            RecoveryDisabled, InstantOutOfRange: the table cannot be read at this instant.
        """
        with self._lock:
            if request.table not in self._copied:
                self._copy(request.table)
        return self._store.execute(request)

    def close(self) -> None:
        """Remove the file. Closing twice does nothing."""
        if self._made is not None:
            self._end()

    @property
    def _store(self) -> Store:
        """The store of the copies, created on first use in a folder that only its owner can access."""
        if self._made is None:
            import tempfile  # noqa: PLC0415 - rarely needed, and slow to load

            folder = tempfile.mkdtemp(prefix="partita-past-")
            self._made = self._new_store(Path(folder) / "past.db")
            self._end = weakref.finalize(self, _remove, self._made, folder)
        return self._made

    def _copy(self, name: str) -> None:
        with opened(self._access, name, self._instant) as past:
            schema = replace(past.table.schema, stream=None)
            fill_table(self._store.execute, schema, past.blobs(), lambda _items: None)
        self._copied.add(name)


def _remove(store: Store, folder: str) -> None:
    import shutil  # noqa: PLC0415 - rarely needed, and slow to load

    store.close()
    shutil.rmtree(folder, ignore_errors=True)
