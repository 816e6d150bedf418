"""A response that comes drop by drop is not waited for, although no silence in it is long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PACE_BYTES: Final = 16_384
"""So much of a response must come in the longest silence that is allowed, or all that is left of it."""


class Pace:
    """The pace of one response, from its first piece on."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._until: float | None = None
        self._bytes = 0

    def check(self, size: int) -> None:
        """A piece of this size has come, and is not the last.

        Raises:
            ValueError: they come too slowly.
        """
        now = self._clock()
        self._bytes += size
        if self._until is None or self._bytes >= PACE_BYTES:
            self._until, self._bytes = now + self._seconds, 0
        elif now > self._until:
            raise ValueError("the response comes too slowly")
