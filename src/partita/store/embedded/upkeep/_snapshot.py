"""A store as it was at one instant: reads in one SQLite transaction, which do not see later writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from partita.store._requests import Request
from partita.store.embedded._connection import Reader

R = TypeVar("R")


class StoreSnapshot:
    """Executes read requests. All threads share one connection, so only one thread reads at a time."""

    def __init__(self, reader: Reader, reads: Mapping[type, Callable[[Reader, Any], Any]]) -> None:
        self._reader = reader
        self._reads = reads
        self._lock = threading.Lock()

    def execute(self, request: Request[R]) -> R:
        """Execute the request.

        Raises:
            TypeError: it is not a read request. RequestError: it was refused.
        """
        read = self._reads.get(type(request))
        if read is None:
            raise TypeError(f"{type(request).__name__} is not a request that a snapshot can execute.")
        with self._lock:
            return read(self._reader, request)  # type: ignore[no-any-return]

    async def execute_async(self, request: Request[R]) -> R:
        """Execute the request in the current thread, without waiting."""
        return self.execute(request)

    def close(self) -> None:
        """Do nothing: the store ends the snapshot at the end of its block."""
