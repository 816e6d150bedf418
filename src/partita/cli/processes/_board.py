"""How many connections each of the processes has, in memory that all of them share."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from mmap import mmap
from typing import Final

_CLOSED: Final = -1
_FORMAT: Final = "i"


class ConnectionBoard:
    """One number for each process. A process writes its own, and reads those of the others.

    Processes that are forked after it was made share it.
    """

    def __init__(self, processes: int) -> None:
        start = array(_FORMAT, [_CLOSED] * processes)
        self._counts = memoryview(mmap(-1, len(start) * start.itemsize)).cast(_FORMAT)
        self._counts[:] = memoryview(start)
        self._begun = [0] * processes
        self._beginning = [0] * processes
        """Those that were accepted and have not begun. Only a process itself knows its own."""

    def get(self, number: int) -> int:
        """How many connections a process has; -1 where it accepts none."""
        return self._counts[number]

    def open(self, number: int) -> None:
        """A process accepts from now on."""
        self._counts[number] = 0

    def accepted(self, number: int) -> None:
        """A process has accepted a connection, which begins later."""
        self._beginning[number] += 1
        self._count(number)

    def update(self, number: int, connections: int) -> None:
        """So many connections of a process have begun and not ended."""
        new = connections - self._begun[number]
        self._begun[number] = connections
        if new > 0:
            self._beginning[number] = max(0, self._beginning[number] - new)
        self._count(number)

    def settle(self, number: int, beginning: int) -> None:
        """At most so many of those that were accepted may still begin: some were refused, or have replaced others."""
        self._beginning[number] = min(self._beginning[number], beginning)
        self._count(number)

    def _count(self, number: int) -> None:
        if self._counts[number] != _CLOSED:
            self._counts[number] = self._begun[number] + self._beginning[number]

    def setter(self, number: int) -> Callable[[int], None]:
        """The same as `update`, for one process."""
        return lambda connections: self.update(number, connections)

    def close(self, number: int) -> None:
        """A process accepts no more: it does not count when others compare themselves."""
        self._counts[number] = _CLOSED

    def has_fewest(self, number: int) -> bool:
        """Whether no other process that accepts has fewer connections than this one."""
        counts = self._counts.tolist()
        return not any(_CLOSED < count < counts[number] for count in counts)
