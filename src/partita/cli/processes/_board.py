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
        counts = self._counts.tolist()
        return not any(_CLOSED < count < counts[number] for count in counts)
