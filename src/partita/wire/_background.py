"""Runs what requests began in the background: one thread for each store, which ends when nobody has asked again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from partita.errors import StoreClosed
from partita.store import Store

_LOG: Final = logging.getLogger("partita.wire")


class Background:
    """The threads of the stores that `store_of` gives by region; `work` does what is unfinished in one of them."""

    def __init__(self, store_of: Callable[[str], Store], work: Callable[[Store], object], what: str) -> None:
        self._store_of = store_of
        self._work = work
        self._what = what
        self.stopped: Final = threading.Event()
        """Set when the work is to end after what is being written."""
        self._lock = threading.Lock()
        self._wanted: set[int] = set()
        self._threads: dict[int, threading.Thread] = {}

    def wake(self, region: str) -> None:
        """Have the thread of a region's store look for what is to be run."""
        store = self._store_of(region)
        with self._lock:
            if self.stopped.is_set():
                return
            self._wanted.add(id(store))
            if id(store) not in self._threads:
                thread = threading.Thread(target=self._run, args=(store,), name=self._what, daemon=True)
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
        while True:
            with self._lock:
                if id(store) not in self._wanted or self.stopped.is_set():
                    del self._threads[id(store)]
                    return
                self._wanted.discard(id(store))
            try:
                self._work(store)
            except StoreClosed:
                return
            except Exception:  # noqa: BLE001 - whatever it is, the server goes on
                _LOG.exception("%s cannot be run now; they go on when the next request asks for one.", self._what)
