"""Copying several tables: all of them loaded, brought to one instant where the store knows one, then followed."""

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
    """The tables of a store that hold somebody's items: all but the checkpoints of copies."""
    return tuple(name for name in store.execute(ListTables()) if name != CHECKPOINTS.name)


class StoreCopy:
    """The copies of several tables from one source."""

    def __init__(self, source: Side, copies: Sequence[TableCopy]) -> None:
        """Take copies, which are closed with this.

        Args:
            source: where all of them come from.
            copies: one for each table.
        """
        self._source = source
        self.copies = tuple(copies)

    def prepare(self) -> None:
        """Make the target's tables, and find out where to go on.

        Raises:
            CopyRefused: one of them cannot be copied as it was asked for.
        """
        for copy in self.copies:
            copy.prepare()

    def load(self, *, every_change: bool = False) -> int:
        """Copy all items that are there, then what has changed meanwhile; says how many of them had changed.

        Args:
            every_change: leave what has changed since an earlier run to `follow`, which applies every change; else
                each item is brought to what it is now.

        Raises:
            CopyRefused: the target refuses an item. StoreError: a store was in trouble for too long.
            RebuildRequired: a stream has not kept all changes since.
        """
        for copy in self.copies:
            copy.load()
        behind = [copy for copy in self.copies if not (every_change and copy.is_exact)]
        ends = self._ends() if behind else {}
        return sum(copy.catch_up(ends.get(copy.table)) for copy in behind)

    def _ends(self) -> Mapping[str, Mapping[str, int]]:
        """The ends of all streams at one instant, where the store knows one."""
        if not self._source.has_snapshots:
            return {}
        with self._source.frozen() as store:
            return {copy.table: stream_of(store, copy.schema).end() for copy in self.copies if copy.follows}

    def follow(self, stop: threading.Event, idle: Callable[[], object]) -> None:
        """Apply every change in order until `stop` is set; `idle` is called when all was read, and waits a while.

        Raises:
            CopyRefused: a table has no stream. RebuildRequired: a stream has not kept all changes since.
        """
        while not stop.is_set():
            more = [copy.step() for copy in self.copies]
            if not any(more):
                idle()
        for copy in self.copies:
            copy.rest()

    def lag(self) -> Lag:
        """How far the target is behind: the changes of all tables, and the age of the oldest."""
        lags = [copy.lag() for copy in self.copies]
        return Lag(sum(lag.records for lag in lags), max((lag.seconds for lag in lags), default=0.0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for copy in self.copies:
            copy.close()
