"""Capacity budgets: what an access pattern may consume each time it runs."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

KB: Final = 1_024


class Budget(Struct, frozen=True):
    """At most so many read and write units, and bytes of vectors searched, for one run of an access pattern."""

    read: float = 0.0
    write: float = 0.0
    searched: float = 0.0
    """Bytes that searches of vector indexes read."""

    def __add__(self, other: Budget) -> Budget:
        return Budget(self.read + other.read, self.write + other.write, self.searched + other.searched)

    def __str__(self) -> str:
        parts = [f"{units:g} {name}" for units, name in ((self.read, "RCU"), (self.write, "WCU")) if units]
        parts += [f"{self.searched / KB:g} KB searched"] if self.searched else []
        return " + ".join(parts) or "nothing"

    def covers(self, read: float, write: float, searched: float = 0.0) -> bool:
        """Whether that consumption is within the budget."""
        return read <= self.read and write <= self.write and searched <= self.searched


def Rcu(units: float) -> Budget:  # noqa: N802 - a unit, written as units are
    """A budget of read units: `Rcu(5)`."""
    return Budget(read=units)


def Wcu(units: float) -> Budget:  # noqa: N802 - a unit, written as units are
    """A budget of write units: `Wcu(6)`."""
    return Budget(write=units)


def SearchedKb(kilobytes: float) -> Budget:  # noqa: N802 - a unit, written as units are
    """A budget of kilobytes that a search of vectors reads: `SearchedKb(64)`."""
    return Budget(searched=kilobytes * KB)
