"""How many connections each of the processes has, in memory that all of them share."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import sharedctypes
from typing import Any, Final

_CLOSED: Final = -1


class ConnectionBoard:
    """One number for each process. A process writes its own, and reads those of the others."""

    def __init__(self, processes: int) -> None:
        self._counts: Any = sharedctypes.RawArray("i", [_CLOSED] * processes)

    def set(self, number: int, connections: int) -> None:
        """Say how many connections a process has."""
        self._counts[number] = connections

    def update(self, number: int, connections: int) -> None:
        """The same, unless the process accepts no more."""
        if self._counts[number] != _CLOSED:
            self._counts[number] = connections

    def add(self, number: int) -> None:
        """Say that a process has one more."""
        self._counts[number] += 1

    def setter(self, number: int) -> Callable[[int], None]:
        """The same for one process."""
        return lambda connections: self.update(number, connections)

    def close(self, number: int) -> None:
        """A process accepts no more: it does not count when others compare themselves."""
        self._counts[number] = _CLOSED

    def has_fewest(self, number: int) -> bool:
        """Whether no other process that accepts has fewer connections than this one."""
        counts: list[int] = list(self._counts)
        return not any(_CLOSED < count < counts[number] for count in counts)
