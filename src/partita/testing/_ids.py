"""Identifiers that are the same in every run of a test."""

from __future__ import annotations

import random

from partita.runtime import RANDOM_BITS, Clock, Ulids


class _Counting(random.Random):
    """A random source that counts, so that identifiers created in one instant are consecutive."""

    def __init__(self) -> None:
        super().__init__(0)
        self._count = 0

    def getrandbits(self, k: int, /) -> int:
        """The next number for the random part of an identifier; zero for a step, so that steps are of one."""
        self._count += 1
        return self._count if k == RANDOM_BITS else 0


def counted_ulids(clock: Clock) -> Ulids:
    """A source of ULIDs whose random part counts 1, 2, 3: the same in every run, and ascending."""
    return Ulids(clock, _Counting())
