"""Capacity budgets: how much an access pattern may consume each time it runs."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

KB: Final = 1_024


class Budget(Struct, frozen=True):
    """The maximum read units, write units and searched vector bytes for one run of an access pattern.

    How much a search reads depends on the index that serves it, and on AWS differs between two equal calls. Predicted
    and counted figures for a search are therefore ranges, and the upper figure must be within the budget.
    """

    read: float = 0.0
    write: float = 0.0
    searched: float = 0.0
    """The maximum number of bytes that searches of vector indexes read."""
    searched_least: float | None = None
    """The minimum that they can read, if it differs from the maximum."""

    def __add__(self, other: Budget) -> Budget:
        searched = self.searched + other.searched
        least = sum(each.searched if each.searched_least is None else each.searched_least for each in (self, other))
        return Budget(self.read + other.read, self.write + other.write, searched, None if least == searched else least)

    def __str__(self) -> str:
        parts = [f"{units:g} {name}" for units, name in ((self.read, "RCU"), (self.write, "WCU")) if units]
        least = "" if self.searched_least is None else f"{self.searched_least / KB:g} to "
        parts += [f"{least}{self.searched / KB:g} KB searched"] if self.searched else []
        return " + ".join(parts) or "nothing"

    def covers(self, read: float, write: float, searched: float = 0.0) -> bool:
        """Whether a consumption is within the budget."""
        return read <= self.read and write <= self.write and searched <= self.searched


def Rcu(units: float) -> Budget:  # noqa: N802 - a unit, capitalised like other units
    """Return a budget of read units: `Rcu(5)`."""
    return Budget(read=units)


def Wcu(units: float) -> Budget:  # noqa: N802 - a unit, capitalised like other units
    """Return a budget of write units: `Wcu(6)`."""
    return Budget(write=units)


def SearchedKb(kilobytes: float) -> Budget:  # noqa: N802 - a unit, capitalised like other units
    """Return a budget of kilobytes that a vector search reads: `SearchedKb(64)`."""
    return Budget(searched=kilobytes * KB)
