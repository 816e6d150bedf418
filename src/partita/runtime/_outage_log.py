"""Logging of outages: one line when something becomes unavailable, and then counts, not a line for each failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from logging import Logger

OUTAGE_SECONDS: Final = 60.0
"""For this long after a logged failure, failures of the same kind are counted but not logged."""


class OutageLog:
    """Logs the first failure of a kind, and then at intervals the number of further failures."""

    def __init__(self, logger: Logger, clock: Callable[[], float] = time.monotonic) -> None:
        self._logger = logger
        self._clock = clock
        self._lock = threading.Lock()
        self._logged: dict[str, float] = {}
        self._counted: dict[str, int] = {}

    def report(self, code: str, request: str, error: Exception) -> None:
        """Log that a request failed because of an outage, unless the outage was logged recently."""
        with self._lock:
            now = self._clock()
            if now - self._logged.get(code, float("-inf")) < OUTAGE_SECONDS:
                self._counted[code] = self._counted.get(code, 0) + 1
                return
            self._logged[code], others = now, self._counted.pop(code, 0)
        # No traceback: it is the same for every request and does not show the cause.
        more = f" So did {others:,} earlier request{'' if others == 1 else 's'}." if others else ""
        self._logger.error("%s failed: %s%s", request, error, more)
