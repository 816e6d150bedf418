"""A limit of capacity units a second, which all threads of a transfer share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """A bucket that holds the units of one second. Who takes more than is there waits until it is filled again."""

    def __init__(
        self,
        per_second: float | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        """Begin with a full bucket.

        Args:
            per_second: units a second; None for any number.
            clock: the time in seconds.
            pause: waits for seconds.
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
        """Take so many more, or give back where negative: what was taken was an estimate."""
        with self._lock:
            self._left -= units
