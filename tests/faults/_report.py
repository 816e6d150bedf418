"""The result of a fault: rounds, acknowledged writes, and what was wrong afterwards."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct, field


class Tally(Struct):
    """The counts of one kind of fault."""

    rounds: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    broken: list[str] = field(default_factory=list)
    """Invariants that did not hold, one line each."""
    skipped: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether nothing was wrong."""
        return not (self.lost or self.doubled or self.broken)

    def expect(self, holds: object, invariant: str) -> None:
        """Record an invariant if it does not hold."""
        if not holds:
            self.broken.append(invariant)

    def compare(self, acknowledged: Sequence[str], found: Sequence[str]) -> None:
        """Count acknowledged writes that are missing, and writes that are there twice."""
        self.lost += len(set(acknowledged) - set(found))
        self.doubled += len(found) - len(set(found))


Run: TypeAlias = Callable[[Path, int, random.Random, Tally], None]
"""Runs a number of rounds in a folder, and counts the results in the tally."""


class Fault(Struct, frozen=True):
    """One kind of fault: its name, a description in one line, its default number of rounds, and its function."""

    name: str
    about: str
    rounds: int
    run: Run


HEAD: Final = ("fault", "rounds", "acknowledged", "lost", "duplicated", "broken", "result")


def table(tallies: dict[str, Tally]) -> str:
    """Return the tallies as a table."""
    rows = [HEAD, *(_row(name, tally) for name, tally in tallies.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) if number in (0, 6) else cell.rjust(width) for number, (cell, width) in each)
        for each in (list(enumerate(zip(row, widths, strict=True))) for row in rows)
    )


def _row(name: str, tally: Tally) -> tuple[str, ...]:
    counts = (tally.rounds, tally.acknowledged, tally.lost, tally.doubled, len(tally.broken))
    result = f"skipped: {tally.skipped}" if tally.skipped else "held" if tally.is_sound else "FAILED"
    return (name, *(f"{count:,}" for count in counts), result)
