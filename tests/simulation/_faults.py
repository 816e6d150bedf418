"""What goes wrong, and how often: drawn from the seed, and numbered, so that each fault can be left out of a run."""

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
"""How often each kind strikes where it may, in a run that has it; most runs have only some kinds."""

_SHARE: Final = 0.5
"""So many of the kinds a run has. Faults of all kinds at once hide what a few of them would show."""


class Fault(Struct, frozen=True):
    """One thing that went wrong."""

    number: int
    step: int
    kind: str
    where: str

    def __str__(self) -> str:
        return f"fault {self.number} at step {self.step}: {self.kind}, {self.where}"


class Faults:
    """Decides whether something goes wrong here. After `heal`, nothing does."""

    def __init__(self, random: Random, *, without: Container[int] = (), spared: Container[str] = ()) -> None:
        self._random = random
        self._without = without
        self._strength = random.choice((0.0, 0.5, 1.0, 2.0))
        self._kinds = {kind for kind in RATES if random.random() < _SHARE and kind not in spared}
        self._healed = False
        self._number = 0
        self.happened: list[Fault] = []

    def happens(self, kind: str, step: int, where: str) -> bool:
        """Whether this goes wrong, here and now."""
        drawn = self._random.random()
        if self._healed or kind not in self._kinds or drawn >= RATES[kind] * self._strength:
            return False
        self._number += 1
        if self._number in self._without:
            return False
        self.happened.append(Fault(self._number, step, kind, where))
        return True

    def between(self, low: float, high: float) -> float:
        """A random length of time."""
        return self._random.uniform(low, high)

    def heal(self) -> None:
        """From now on nothing goes wrong."""
        self._healed = True

    @property
    def random(self) -> Random:
        """For what else is decided by the way things go wrong."""
        return self._random
