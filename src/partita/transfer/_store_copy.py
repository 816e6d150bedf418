"""Copying several tables: all are loaded, brought to one instant if the store has snapshots, and then followed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from partita.change import Lag
from partita.store import ListTables, Store
from partita.transfer._changes import stream_of
from partita.transfer._checkpoint import CHECKPOINTS
from partita.transfer._copy import TableCopy
from partita.transfer._sides import Side


def tables_of(store: Store) -> tuple[str, ...]:
    """Return the tables of a store, except the table of the checkpoints of copies."""
    return tuple(name for name in store.execute(ListTables()) if name != CHECKPOINTS.name)


class StoreCopy:
    """The copies of several tables from one source."""

    def __init__(self, source: Side, copies: Sequence[TableCopy]) -> None:
        """Combine copies, which are closed together with this object.

        Args:
            source: the source of all copies.
            copies: one copy for each table.
        """
        self._source = source
        self.copies = tuple(copies)

    def prepare(self) -> None:
        """Create the target's tables, and find out where to resume.

        Raises:
            CopyRefused: one of the tables cannot be copied with these options.
        """
        for copy in self.copies:
            copy.prepare()

    def load(self, *, every_change: bool = False) -> int:
        """Copy all items, then those that have changed meanwhile; return the number of changed items.

        Args:
            every_change: leave changes since an earlier run to `follow`, which applies every change; otherwise each
                item is set to its current state.

        Raises:
            CopyRefused: the target refuses an item. StoreError: a store kept failing for too long.
            RebuildRequired: a stream no longer has all changes since.
        """
        for copy in self.copies:
            copy.load()
        behind = [copy for copy in self.copies if not (every_change and copy.is_exact)]
        ends = self._ends() if behind else {}
        return sum(copy.catch_up(ends.get(copy.table)) for copy in behind)

    def _ends(self) -> Mapping[str, Mapping[str, int]]:
        """Return the ends of all streams at one instant; empty if the store has no snapshots."""
        if not self._source.has_snapshots:
            return {}
        with self._source.frozen() as store:
            return {copy.table: stream_of(store, copy.schema).end() for copy in self.copies if copy.follows}

    def follow(self, stop: threading.Event, idle: Callable[[], object]) -> None:
        """Apply every change in order until `stop` is set; `idle` is called when all were read, and waits a while.

        Raises:
            CopyRefused: a table has no stream. RebuildRequired: a stream no longer has all changes since.
        """
        while not stop.is_set():
            more = [copy.step() for copy in self.copies]
            if not any(more):
                idle()
        for copy in self.copies:
            copy.rest()

    def lag(self) -> Lag:
        """Return the lag of the target: the changes of all tables, and the age of the oldest."""
        lags = [copy.lag() for copy in self.copies]
        return Lag(sum(lag.records for lag in lags), max((lag.seconds for lag in lags), default=0.0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for copy in self.copies:
            copy.close()
