"""A limit of capacity units per second, shared by all threads of a transfer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """A token bucket with the units of one second. A thread that takes more than it contains waits for the refill."""

    def __init__(
        self,
        per_second: float | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        """Start with a full bucket.

        Args:
            per_second: units per second; None for no limit.
            clock: returns the time in seconds.
            pause: waits for a number of seconds.
        """
        self.per_second = per_second
        self._clock = clock
        self._pause = pause
        self._left = per_second or 0.0
        self._at = clock()
        self._lock = threading.Lock()

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self.per_second is not None

    def take(self, units: float) -> None:
        """Take units before they are consumed, and wait until the limit allows them."""
        if self.per_second is None:
            return
        with self._lock:
            now = self._clock()
            self._left = min(self.per_second, self._left + (now - self._at) * self.per_second) - units
            self._at = now
            wait = -self._left / self.per_second
        if wait > 0:
            self._pause(wait)

    def correct(self, units: float) -> None:
        """Take more units, or return some if negative, because the units taken before were an estimate."""
        with self._lock:
            self._left -= units
