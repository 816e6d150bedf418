"""The two ends of a transfer: a store, the names of its tables, and how it is read at one instant."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
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
"""What gets better by itself."""
PASSING_REASONS: Final = ("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded")
"""Of a transaction that was cancelled."""


def passes(error: PartitaError) -> bool:
    """Whether an error gets better by itself, so that the request is sent again."""
    if isinstance(error, TransactionCancelled):
        return all(reason.code in PASSING_REASONS for reason in error.reasons)
    return isinstance(error, PASSING)


class Outside(Struct, frozen=True):
    """What a transfer takes from the outside besides stores."""

    clock: Callable[[], float] = time.time
    pause: Callable[[float], object] = time.sleep
    random: Random = field(default_factory=SystemRandom)
    patience: float = 60.0
    """For how many seconds a store that is in trouble is tried again."""


class Side(Struct, frozen=True):
    """One end of a transfer."""

    raw: Store
    names: TableNames = SAME_NAMES
    settle: float = 0.0
    """How many seconds after a write its record may come into a stream; only DynamoDB takes a while."""

    @property
    def store(self) -> Store:
        """The store, with its tables under their declared names."""
        return named_store(self.raw, self.names)

    @property
    def has_snapshots(self) -> bool:
        """Whether it can be read as it is at one instant."""
        return isinstance(self.raw, EmbeddedStore)

    def loader(self, table: str, outside: Outside, stop: threading.Event | None = None) -> Loader | None:
        """What puts any number of items into a table in one transaction, where the store can."""
        if not isinstance(self.raw, EmbeddedStore):
            return None
        store, name = PatientStore(self.raw, outside, stop), self.names.stored(table)
        return lambda items: store.execute(LoadItems(name, [BulkPut(item) for item in items]))

    @contextmanager
    def frozen(self, instant: float | None = None) -> Iterator[Store]:
        """The store as it is now, or was at an instant, where it can be read so; else the store itself.

        Raises:
            CopyRefused: an instant is asked of a store that has no past.
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
            raise CopyRefused("Only an embedded store is read as it was at an instant.", hint=hint)
        return self.raw.as_of(instant)


class PatientStore:
    """A store that is asked again for a while where it is in trouble. Every request of a transfer may be sent twice."""

    def __init__(self, store: Store, outside: Outside, stop: threading.Event | None = None) -> None:
        self._store = store
        self._outside = outside
        self._stop = stop or threading.Event()
        self._policy = RetryPolicy(base_seconds=0.05, cap_seconds=2.0)

    def execute(self, request: Request[R]) -> R:
        """Execute the request.

        Raises:
            RequestError: it was refused. StoreError: the store was in trouble for too long.
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
        """Transfers run in threads.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the store."""
        self._store.close()
