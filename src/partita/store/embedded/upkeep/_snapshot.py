"""A store as it was at one instant: reads in one transaction of SQLite, which see nothing that is written meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from partita.store._requests import Request
from partita.store.embedded._connection import Reader

R = TypeVar("R")


class StoreSnapshot:
    """Executes requests that read. All threads share one connection, so one reads at a time."""

    def __init__(self, reader: Reader, reads: Mapping[type, Callable[[Reader, Any], Any]]) -> None:
        self._reader = reader
        self._reads = reads
        self._lock = threading.Lock()

    def execute(self, request: Request[R]) -> R:
        """Execute the request.

        Raises:
            TypeError: it does not read. RequestError: it was refused.
        """
        read = self._reads.get(type(request))
        if read is None:
            raise TypeError(f"{type(request).__name__} is not a request that a snapshot can execute.")
        with self._lock:
            return read(self._reader, request)  # type: ignore[no-any-return]

    async def execute_async(self, request: Request[R]) -> R:
        """The same for a task; it is executed at once."""
        return self.execute(request)

    def close(self) -> None:
        """The store ends it, where its block ends."""
