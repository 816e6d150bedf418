"""Runs work that requests started, in one background thread per store; the thread ends when there are no new requests.

    kept as unfinished ── wakes the thread of the store ── lock between processes ── run ── kept as ended

A process that is killed releases the lock. The next process that acquires it (another one, or this one after a restart)
finds the unfinished work and resumes it.
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
"""How often a process checks whether another one, which runs the unfinished work, has finished or died."""
T = TypeVar("T")


class Work(Struct, Generic[T], frozen=True):
    """A kind of work: one item at a time per store, in one of the processes that serve it."""

    name: str
    """The name of the work, in the plural."""
    lock: Callable[[Store], ProcessLock | NoLock]
    """Returns the lock of the process that runs the work; `Background` releases and closes it."""
    unfinished: Callable[[Store], Sequence[T]]
    """Returns the items that are to be run, oldest first."""
    run: Callable[[Store, T], object]
    """Runs one item until it ends or is to stop."""


class Background(Generic[T]):
    """The threads of the stores that `store_of` returns for each region."""

    def __init__(
        self, store_of: Callable[[str], Store], work: Work[T], pause: Callable[[float], object] | None = None
    ) -> None:
        self._store_of = store_of
        self._work = work
        self.stopped: Final = threading.Event()
        """Set when the work must stop after the current write."""
        self.pause = self.stopped.wait if pause is None else pause
        self._lock = threading.Lock()
        self._wanted: set[int] = set()
        self._threads: dict[int, threading.Thread] = {}

    def check_store(self, region: str) -> None:
        """Refuse a store that the work cannot run on.

        Raises:
            OperationError: the store is not an embedded store.
        """
        if not isinstance(self._store_of(region), EmbeddedStore):
            raise OperationError(f"{self._work.name} cannot run on a server that imitates AWS for tests.")

    def wake(self, region: str) -> None:
        """Make the thread of a region's store look for unfinished work."""
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
        """Stop after the current write; the remaining work resumes when it is run again."""
        self.stopped.set()
        self.wait()

    def wait(self) -> None:
        """Wait until all threads have ended."""
        with self._lock:
            threads = [*self._threads.values()]
        for thread in threads:
            thread.join()

    def _run(self, store: Store) -> None:
        """The main function of a thread: run unfinished work until there are no new requests."""
        while self._is_wanted(store):
            try:
                self._run_unfinished(store)
            except StoreClosed:
                self._forget(store)
                return
            except Exception:  # noqa: BLE001 - the server continues after any error
                _LOG.exception("%s cannot run now; they resume with the next request for one.", self._work.name)

    def _is_wanted(self, store: Store) -> bool:
        """Whether there was a new request since the last check; if not, forget the thread in the same step."""
        with self._lock:
            if id(store) in self._wanted and not self.stopped.is_set():
                self._wanted.discard(id(store))
                return True
            del self._threads[id(store)]
            return False

    def _forget(self, store: Store) -> None:
        """Forget the thread of a closed store, because a new store may get the same `id`."""
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
