"""Capacity budgets: what an access pattern may consume each time it runs."""

from __future__ import annotations

from msgspec import Struct


class Budget(Struct, frozen=True):
    """At most so many read and write units for one run of an access pattern."""

    read: float = 0.0
    write: float = 0.0

    def __add__(self, other: Budget) -> Budget:
        return Budget(self.read + other.read, self.write + other.write)

    def __str__(self) -> str:
        parts = [f"{units:g} {name}" for units, name in ((self.read, "RCU"), (self.write, "WCU")) if units]
        return " + ".join(parts) or "nothing"

    def covers(self, read: float, write: float) -> bool:
        """Whether that consumption is within the budget."""
        return read <= self.read and write <= self.write


def Rcu(units: float) -> Budget:  # noqa: N802 - a unit, written as units are
    """A budget of read units: `Rcu(5)`."""
    return Budget(read=units)


def Wcu(units: float) -> Budget:  # noqa: N802 - a unit, written as units are
    """A budget of write units: `Wcu(6)`."""
    return Budget(write=units)
