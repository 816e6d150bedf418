"""A consumer, which applies the changes of one table to one sink, in order and each exactly once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from random import Random
from typing import Final

from partita.change._projection import SqliteProjection
from partita.change._sink import Sink
from partita.change._snapshot import Snapshot, snapshot
from partita.change._stream import Batch, ChangeStream, Lag
from partita.errors import RebuildRequired
from partita.model import Table
from partita.runtime import Clock, system_clock
from partita.store import Store

BATCH: Final = 1_000


class Consumer:
    """Reads a table's stream into a sink. Several consumers of one stream are independent of each other.

    The sink stores the position, so a consumer may be stopped or killed at any time, and a new one resumes.
    """

    def __init__(  # noqa: PLR0913 - one for each setting
        self,
        store: Store,
        table: Table,
        sink: Sink,
        *,
        batch: int = BATCH,
        clock: Clock = system_clock,
        pause: Callable[[float], object] = time.sleep,
        random: Random | None = None,
        on_caught_up: Callable[[], object] | None = None,
        start: float | None = None,
    ) -> None:
        """Set up a consumer; nothing is read yet.

        Args:
            store: the store that has the table.
            table: a declared table whose stream has new and old images, or only keys if the sink needs nothing else.
            sink: the sink that the changes are applied to.
            batch: about how many changes the sink commits at once.
            clock: returns the time, for the lag.
            pause: waits for records that DynamoDB delivers late, and before a retry; tests pass their own.
            random: spreads the retries of a snapshot.
            on_caught_up: called whenever all available changes were read.
            start: a new sink gets the changes from this time on, in seconds since the epoch, and no snapshot. If the
                stream no longer has all of these, the sink gets them from the oldest one that is kept.
        """
        self._store = store
        self._table = table
        self._sink = sink
        self._batch = batch
        self._clock = clock
        self._pause = pause
        self._random = random
        self._on_caught_up = on_caught_up
        self._start = start
        self._keys_only = isinstance(sink, SqliteProjection) and sink.keys_only
        self._stream = ChangeStream(store, table, keys_only=self._keys_only)
        self._positions: Mapping[str, int] | None = None

    def step(self) -> int:
        """Apply one batch to the sink; return the number of its changes. A new sink gets a snapshot first.

        Raises:
            RebuildRequired: changes were missed; call `rebuild`.
        """
        return len(self._step().changes) if self._known() else self._begin()

    def catch_up(self, progress: Callable[[int], object] | None = None) -> int:
        """Step until all available changes were read; return their number. `progress` is called with each count.

        Raises:
            RebuildRequired: changes were missed; call `rebuild`.
        """
        count = 0 if self._known() else self._begin()
        more = True
        while more:
            batch = self._step()
            more = batch.more
            count += len(batch.changes)
            if progress is not None:
                progress(len(batch.changes))
        return count

    def run(self, stop: threading.Event, idle: Callable[[], object]) -> None:
        """Step until `stop` is set. `idle` is called when all changes were read, and decides how long to wait.

        Raises:
            RebuildRequired: changes were missed; call `rebuild`.
        """
        while not stop.is_set():
            if not self._known():
                self._begin()
            elif not self._step().more:
                idle()

    def lag(self) -> Lag:
        """Return the lag of the sink; before its first load, that of the whole stream.

        Raises:
            RebuildRequired: changes were missed; call `rebuild`.
        """
        return self._stream.lag(self._known() or self._stream.start(), self._clock())

    def rebuild(self) -> int:
        """Load the sink again from the table; return the number of items.

        Changes that the sink does not have yet are applied first, if the stream still has them.
        """
        at: Mapping[str, int] | None = None
        with suppress(RebuildRequired):
            if self._known():
                self.catch_up()
                at = self._known()
        return self._load(at)

    def forget(self) -> None:
        """Read the positions of the sink again, because another consumer has written to it."""
        self._positions = None

    def _known(self) -> Mapping[str, int]:
        if self._positions is None:
            self._positions = dict(self._sink.positions())
        return self._positions

    def _step(self) -> Batch:
        known = self._known()
        batch = self._stream.read(known, self._batch)
        if batch.changes or batch.positions != known:
            self._positions = None  # unknown until the sink has committed
            self._sink.apply(batch.changes, batch.positions)
            self._positions = batch.positions
        if not batch.more and self._on_caught_up is not None:
            self._on_caught_up()
        return batch

    def _begin(self) -> int:
        """Initialize a new sink: load a snapshot, or set its positions to the start time."""
        if self._start is None:
            return self._load(None)
        positions = self._stream.at(self._start)
        with closing(Snapshot(self._table, positions, self._start)) as nothing:
            self._sink.load(nothing)
        self._positions = positions
        return 0

    def _load(self, at: Mapping[str, int] | None) -> int:
        self._positions = None
        if self._keys_only:
            return self._load_nothing()
        taking = snapshot(self._store, self._table, at=at, clock=self._clock, pause=self._pause, random=self._random)
        with taking as taken:
            self._sink.load(taken)
            self._positions = dict(taken.positions)
            return len(taken)

    def _load_nothing(self) -> int:
        """Begin at the end of the stream, because the sink needs no earlier changes."""
        with closing(Snapshot(self._table, self._stream.end(), self._clock())) as nothing:
            self._sink.load(nothing)
            self._positions = dict(nothing.positions)
        return 0
