"""Identifiers that sort by the time they were made: ULIDs."""

from __future__ import annotations

from random import Random, SystemRandom
from typing import Final

from partita.runtime._clock import Clock, system_clock

_DIGITS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32: no I, L, O or U


class Ulids:
    """A source of ULIDs: 48 bits of time in milliseconds and 80 random bits, as 26 characters."""

    def __init__(self, clock: Clock = system_clock, random: Random | None = None) -> None:
        self._clock = clock
        self._random = random or SystemRandom()

    def __call__(self) -> str:
        """A new identifier."""
        value = int(self._clock() * 1000) << 80 | self._random.getrandbits(80)
        return "".join(_DIGITS[value >> shift & 31] for shift in range(125, -1, -5))


new_ulid: Final = Ulids()
"""Makes an identifier: `task_id: str = Field(default_factory=new_ulid)`."""
