"""The history of a store: its past states, restored tables, and the changes between two instants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from partita.store._interface import Store
from partita.store._points import RestoreTable
from partita.store._requests import DescribeTable, Request, TableDescription
from partita.store.embedded._connection import Reader
from partita.store.embedded.points._access import StoreAccess
from partita.store.embedded.points._past_store import PastStore
from partita.store.embedded.points._past_table import NetChange, PastTable, opened, out_of_range
from partita.store.embedded.points._restore import restore_table

R = TypeVar("R")


class StoreHistory:
    """The past states of a store. Instants are in seconds since the epoch."""

    def __init__(
        self,
        access: StoreAccess,
        reads: Mapping[type, Callable[[Reader, Any], Any]],
        new_store: Callable[[Path], Store],
    ) -> None:
        self._access = access
        self._reads = reads
        self._new_store = new_store

    def as_of(self, instant: float) -> PastStore:
        """The store as it was at an instant. The first read of a table reads the log of its changes since then.

        Raises:
            InstantOutOfRange: the instant is in the future.
        """
        now = self._access.clock()
        if instant > now:
            raise out_of_range("the store", instant, None, now)
        return PastStore(self._access, instant, self._reads, self._new_store)

    def restore_table(
        self, request: RestoreTable, progress: Callable[[int], object] = lambda _items: None
    ) -> TableDescription:
        """Restore a past state into a new table. `progress` receives the number of items written since its last call.

        Raises:
            RecoveryDisabled, InstantOutOfRange: this state cannot be restored. TableInUse: the new table exists.
        """
        restore_table(self._access, request, progress)
        description: TableDescription = self._access.write(DescribeTable(request.schema.name))
        return description

    def execute(self, request: Request[R]) -> R:
        """Execute a long request, which consists of several reads and writes.

        Raises:
            TypeError: the request is not `RestoreTable`.
        """
        if not isinstance(request, RestoreTable):
            raise TypeError(f"{type(request).__name__} is not a request that the store can execute.")
        return self.restore_table(request)  # type: ignore[return-value]

    @contextmanager
    def table_at(self, table: str, instant: float | None = None) -> Iterator[PastTable]:
        """The state of a table at an instant, to be read item by item while the block runs.

        Raises:
            RecoveryDisabled, InstantOutOfRange: the table cannot be read at this instant.
        """
        with opened(self._access, table, instant) as past:
            yield past

    @contextmanager
    def changes(self, table: str, since: float, until: float | None = None) -> Iterator[Iterator[NetChange]]:
        """The net change of each item that changed after one instant and up to another, while the block runs.

        Raises:
            RecoveryDisabled, InstantOutOfRange: the table cannot be read at these instants.
        """
        with opened(self._access, table, until) as past:
            yield past.changes_since(since)
