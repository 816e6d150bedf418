"""Gives up on a response that arrives a few bytes at a time, although no single silence in it is long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PACE_BYTES: Final = 16_384
"""How much of a response, or else all the rest of it, must arrive within the longest silence that is allowed."""


class Pace:
    """Measures the pace of one response, from its first piece on."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._until: float | None = None
        self._bytes = 0

    def check(self, size: int) -> None:
        """Record that a piece of this size arrived, which is not the last one.

        Raises:
            ValueError: the pieces arrive too slowly.
        """
        now = self._clock()
        self._bytes += size
        if self._until is None or self._bytes >= PACE_BYTES:
            self._until, self._bytes = now + self._seconds, 0
        elif now > self._until:
            raise ValueError("the response arrives too slowly")
