"""Faults and their rates: drawn from the seed and numbered, so that each fault can be left out of a run."""

from __future__ import annotations

from collections.abc import Container, Mapping
from random import Random
from typing import Final

from msgspec import Struct

RATES: Final[Mapping[str, float]] = {
    "lose request": 0.06,
    "lose response": 0.08,
    "late request": 0.04,
    "duplicate": 0.08,
    "throttle": 0.05,
    "conflict": 0.05,
    "slow": 0.15,
    "partition": 0.01,
    "kill worker": 0.02,
    "kill server": 0.01,
    "power loss": 0.012,
    "disk full": 0.012,
    "read error": 0.004,
    "slow sync": 0.05,
    "clock skew": 0.3,
    "clock step": 0.003,
    "folder moved": 0.003,
    "clock ahead": 0.4,
}
"""The probability of each kind wherever it may happen, in a run that has this kind; most runs have only some kinds."""

_SHARE: Final = 0.5
"""The share of the kinds that a run has on average, because all kinds at once would hide the effects of a few."""


class Fault(Struct, frozen=True):
    """One fault that happened."""

    number: int
    step: int
    kind: str
    where: str

    def __str__(self) -> str:
        return f"fault {self.number} at step {self.step}: {self.kind}, {self.where}"


class Faults:
    """Decides whether a fault happens. After `heal`, none does."""

    def __init__(self, random: Random, *, without: Container[int] = (), spared: Container[str] = ()) -> None:
        self._random = random
        self._without = without
        self._strength = random.choice((0.0, 0.5, 1.0, 2.0))
        self._kinds = {kind for kind in RATES if random.random() < _SHARE and kind not in spared}
        self._healed = False
        self._number = 0
        self.happened: list[Fault] = []

    def happens(self, kind: str, step: int, where: str) -> bool:
        """Decide whether a fault of this kind happens now, and record it."""
        drawn = self._random.random()
        if self._healed or kind not in self._kinds or drawn >= RATES[kind] * self._strength:
            return False
        self._number += 1
        if self._number in self._without:
            return False
        self.happened.append(Fault(self._number, step, kind, where))
        return True

    def between(self, low: float, high: float) -> float:
        """Return a random duration in seconds between two limits."""
        return self._random.uniform(low, high)

    def heal(self) -> None:
        """Let no more faults happen."""
        self._healed = True

    @property
    def random(self) -> Random:
        """The random generator of the faults, for their details."""
        return self._random
