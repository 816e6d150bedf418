"""Identifiers that sort by the time of their creation: ULIDs."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from random import Random, SystemRandom
from typing import Final

from partita.runtime._clock import Clock, system_clock

_DIGITS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32: no I, L, O or U
_PAIRS: Final = tuple(first + second for first in _DIGITS for second in _DIGITS)


RANDOM_BITS: Final = 80
"""The number of random bits in an identifier; the rest is time."""
_RANDOM_SHIFTS: Final = range(RANDOM_BITS - 10, -1, -10)
_TIME_SHIFTS: Final = range(40, -1, -10)
_STEP_BITS: Final = 64
_MAX_STEP_BACK: Final = 1_000


class Ulids:
    """A source of ULIDs: 48 bits of time in milliseconds and 80 random bits, as 26 characters.

    Each sorts after all previous ones of the same source, even within a millisecond or if the clock is set back by
    up to a second. Thread-safe.
    """

    def __init__(self, clock: Clock = system_clock, random: Random | None = None) -> None:
        self._clock = clock
        self._random = random or SystemRandom()
        self._lock = threading.Lock()
        self._last = 0
        self._time = 0, _text(0, _TIME_SHIFTS)
        """The last time and its encoded text, cached because many identifiers are created within a millisecond."""

    def __call__(self) -> str:
        """Return a new identifier."""
        with self._lock:
            value = self._last = self._next_value()
        time = value >> RANDOM_BITS
        known, text = self._time
        if known != time:
            text = _text(time, _TIME_SHIFTS)
            self._time = time, text  # assigned as one tuple, because other threads read it without the lock
        return text + _text(value, _RANDOM_SHIFTS)

    @contextmanager
    def using(self, clock: Clock, random: Random) -> Iterator[None]:
        """Inside the block, create identifiers from this clock and these random numbers, for repeatable simulations."""
        before = self._clock, self._random, self._last
        self._clock, self._random, self._last = clock, random, 0
        try:
            yield
        finally:
            self._clock, self._random, self._last = before

    def _next_value(self) -> int:
        now, last = int(self._clock() * 1000), self._last >> RANDOM_BITS
        if last - _MAX_STEP_BACK <= now <= last:
            return self._last + 1 + self._random.getrandbits(_STEP_BITS)  # random: no id reveals the next
        return now << RANDOM_BITS | self._random.getrandbits(RANDOM_BITS)


def _text(value: int, shifts: Iterable[int]) -> str:
    return "".join([_PAIRS[value >> shift & 1023] for shift in shifts])


new_ulid: Final = Ulids()
"""Creates an identifier: `task_id: str = Field(default_factory=new_ulid)`."""
