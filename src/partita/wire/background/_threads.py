"""Runs what requests began in the background: one thread for each store, which ends when nobody has asked again.

    kept as unfinished ── wakes the thread of the store ── lock between processes ── run ── kept as ended

A process that is killed releases the lock. Whoever has it next, another process or this one after a restart, finds
what is unfinished and goes on with it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

from partita._sqlite import NoLock, ProcessLock
from partita.errors import OperationError, StoreClosed
from partita.store import Store
from partita.store.embedded import EmbeddedStore

_LOG: Final = logging.getLogger("partita.wire")
WAIT_SECONDS: Final = 0.25
"""How often a process looks whether another one, which runs what is unfinished, is done or gone."""
T = TypeVar("T")


class Work(Struct, Generic[T], frozen=True):
    """What is run: one at a time for each store, in one of the processes that serve it."""

    name: str
    """What it is called, in the plural."""
    lock: Callable[[Store], ProcessLock | NoLock]
    """The lock of the process that runs it; released and closed here."""
    unfinished: Callable[[Store], Sequence[T]]
    """What is to be run, the oldest first."""
    run: Callable[[Store, T], object]
    """Runs one, to its end or until it is to stop."""


class Background(Generic[T]):
    """The threads of the stores that `store_of` gives by region."""

    def __init__(
        self, store_of: Callable[[str], Store], work: Work[T], pause: Callable[[float], object] | None = None
    ) -> None:
        self._store_of = store_of
        self._work = work
        self.stopped: Final = threading.Event()
        """Set when the work is to end after what is being written."""
        self.pause = self.stopped.wait if pause is None else pause
        self._lock = threading.Lock()
        self._wanted: set[int] = set()
        self._threads: dict[int, threading.Thread] = {}

    def check_store(self, region: str) -> None:
        """Refuse a store that this cannot be run on.

        Raises:
            OperationError: it is not an embedded store.
        """
        if not isinstance(self._store_of(region), EmbeddedStore):
            raise OperationError(f"{self._work.name} are not run by a server that behaves as AWS does, for tests.")

    def wake(self, region: str) -> None:
        """Have the thread of a region's store look for what is to be run."""
        store = self._store_of(region)
        with self._lock:
            if self.stopped.is_set():
                return
            self._wanted.add(id(store))
            if id(store) not in self._threads:
                thread = threading.Thread(target=self._run, args=(store,), name=self._work.name, daemon=True)
                self._threads[id(store)] = thread
                thread.start()

    def stop(self) -> None:
        """Stop after what is being written; the rest goes on when it is run again."""
        self.stopped.set()
        self.wait()

    def wait(self) -> None:
        """Wait until nothing is run here."""
        with self._lock:
            threads = [*self._threads.values()]
        for thread in threads:
            thread.join()

    def _run(self, store: Store) -> None:
        """What the thread does: until nobody has asked again."""
        while self._is_wanted(store):
            try:
                self._run_unfinished(store)
            except StoreClosed:
                self._forget(store)
                return
            except Exception:  # noqa: BLE001 - whatever it is, the server goes on
                _LOG.exception("%s cannot be run now; they go on when the next request asks for one.", self._work.name)

    def _is_wanted(self, store: Store) -> bool:
        """Whether somebody has asked since this was looked at; where not, the thread is forgotten at once."""
        with self._lock:
            if id(store) in self._wanted and not self.stopped.is_set():
                self._wanted.discard(id(store))
                return True
            del self._threads[id(store)]
            return False

    def _forget(self, store: Store) -> None:
        """A closed store has no thread, and another may be made at its address."""
        with self._lock:
            self._wanted.discard(id(store))
            del self._threads[id(store)]

    def _run_unfinished(self, store: Store) -> None:
        work = self._work
        lock = work.lock(store)
        try:
            while not self.stopped.is_set() and work.unfinished(store):
                if not lock.acquire(blocking=False):
                    self.pause(WAIT_SECONDS)
                    continue
                try:
                    for each in work.unfinished(store):  # another process may have run some meanwhile
                        if not self.stopped.is_set():
                            work.run(store, each)
                finally:
                    lock.release()
        finally:
            lock.close()
