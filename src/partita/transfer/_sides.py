"""The two sides of a transfer: a store, the names of its tables, and reading it at one instant."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random, SystemRandom
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct, field

from partita.errors import (
    CopyRefused,
    PartitaError,
    StoreUnavailable,
    Throttled,
    TransactionCancelled,
    TransactionConflict,
)
from partita.runtime import RetryPolicy
from partita.store import Request, Store, TableNames, named_store
from partita.store.embedded import BulkPut, EmbeddedStore, LoadItems, LoadResponse
from partita.values import Item

R = TypeVar("R")

Loader: TypeAlias = Callable[[Sequence[Item]], LoadResponse]
"""Puts items into a table, in one transaction."""

SAME_NAMES: Final = TableNames(prefix="")
PASSING: Final = (StoreUnavailable, Throttled, TransactionConflict)
"""Transient errors."""
PASSING_REASONS: Final = ("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded")
"""Transient reasons of a cancelled transaction."""


def passes(error: PartitaError) -> bool:
    """Whether an error is transient, so that the request is sent again."""
    if isinstance(error, TransactionCancelled):
        return all(reason.code in PASSING_REASONS for reason in error.reasons)
    return isinstance(error, PASSING)


class Outside(Struct, frozen=True):
    """The environment of a transfer, apart from its stores."""

    clock: Callable[[], float] = time.time
    pause: Callable[[float], object] = time.sleep
    random: Random = field(default_factory=SystemRandom)
    patience: float = 60.0
    """For how many seconds requests to a failing store are retried."""


class Side(Struct, frozen=True):
    """One side of a transfer: the source or the target."""

    raw: Store
    names: TableNames = SAME_NAMES
    settle: float = 0.0
    """How many seconds after a write its record may appear in the stream; only DynamoDB delivers records late."""

    @property
    def store(self) -> Store:
        """The store, with its tables under their declared names."""
        return named_store(self.raw, self.names)

    @property
    def has_snapshots(self) -> bool:
        """Whether the store can be read at one instant."""
        return isinstance(self.raw, EmbeddedStore)

    def is_same(self, other: Side) -> bool:
        """Whether both sides are known to be the same tables of the same file."""
        if not isinstance(self.raw, EmbeddedStore) or not isinstance(other.raw, EmbeddedStore):
            return False
        return self.names == other.names and Path(self.raw.path).resolve() == Path(other.raw.path).resolve()

    def loader(self, table: str, outside: Outside, stop: threading.Event | None = None) -> Loader | None:
        """Return a function that puts any number of items in one transaction; None if the store cannot do that."""
        if not isinstance(self.raw, EmbeddedStore):
            return None
        store, name = PatientStore(self.raw, outside, stop), self.names.stored(table)
        return lambda items: store.execute(LoadItems(name, [BulkPut(item) for item in items]))

    @contextmanager
    def frozen(self, instant: float | None = None) -> Iterator[Store]:
        """Yield a snapshot of the store, now or at an instant; the store itself if it has no snapshots.

        Raises:
            CopyRefused: an instant is given, but the store cannot be read at an earlier instant.
        """
        if instant is not None:
            with closing(self._past(instant)) as past:
                yield named_store(past, self.names)
            return
        if not isinstance(self.raw, EmbeddedStore):
            yield self.store
            return
        with self.raw.snapshot() as snapshot:
            yield named_store(snapshot, self.names)

    def _past(self, instant: float) -> Store:
        if not isinstance(self.raw, EmbeddedStore):
            hint = "DynamoDB exports a past state itself: ExportTableToPointInTime."
            raise CopyRefused("Only an embedded store can be read as it was at an earlier instant.", hint=hint)
        return self.raw.as_of(instant)


class PatientStore:
    """A store whose failed requests are retried for a while. Every request of a transfer may be sent twice."""

    def __init__(self, store: Store, outside: Outside, stop: threading.Event | None = None) -> None:
        self._store = store
        self._outside = outside
        self._stop = stop or threading.Event()
        self._policy = RetryPolicy(base_seconds=0.05, cap_seconds=2.0)

    def execute(self, request: Request[R]) -> R:
        """Execute the request.

        Raises:
            RequestError: the request was refused. StoreError: the store kept failing for too long.
        """
        begun: float | None = None
        attempt = 0
        while True:
            try:
                return self._store.execute(request)
            except PartitaError as error:
                now = self._outside.clock()
                begun = now if begun is None else begun
                if not passes(error) or now - begun >= self._outside.patience or self._stop.is_set():
                    raise
            attempt += 1
            self._outside.pause(self._policy.pause_before(min(attempt, 8), self._outside.random).seconds)

    async def execute_async(self, request: Request[R]) -> R:
        """Refuse: transfers run in threads.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the store."""
        self._store.close()
