"""The number of connections of each process, in memory that all processes share."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from mmap import mmap
from typing import Final

_CLOSED: Final = -1
_FORMAT: Final = "i"


class ConnectionBoard:
    """One number for each process. A process writes its own number, and reads those of the others.

    Processes that are forked after the board was created share it.
    """

    def __init__(self, processes: int) -> None:
        start = array(_FORMAT, [_CLOSED] * processes)
        self._counts = memoryview(mmap(-1, len(start) * start.itemsize)).cast(_FORMAT)
        self._counts[:] = memoryview(start)
        self._begun = [0] * processes
        self._beginning = [0] * processes
        """The connections that were accepted and have not begun. A process knows only its own number."""

    def get(self, number: int) -> int:
        """The number of connections of a process; -1 if it does not accept connections."""
        return self._counts[number]

    def open(self, number: int) -> None:
        """Record that a process accepts connections from now on."""
        self._counts[number] = 0

    def accepted(self, number: int) -> None:
        """Record that a process has accepted a connection, which begins later."""
        self._beginning[number] += 1
        self._count(number)

    def update(self, number: int, connections: int) -> None:
        """Set the number of connections of a process that have begun and not ended."""
        new = connections - self._begun[number]
        self._begun[number] = connections
        if new > 0:
            self._beginning[number] = max(0, self._beginning[number] - new)
        self._count(number)

    def settle(self, number: int, beginning: int) -> None:
        """Limit the number of accepted connections that may still begin: some were refused, or replaced others."""
        self._beginning[number] = min(self._beginning[number], beginning)
        self._count(number)

    def _count(self, number: int) -> None:
        if self._counts[number] != _CLOSED:
            self._counts[number] = self._begun[number] + self._beginning[number]

    def setter(self, number: int) -> Callable[[int], None]:
        """A function that calls `update` for one process."""
        return lambda connections: self.update(number, connections)

    def close(self, number: int) -> None:
        """Record that a process no longer accepts connections, so that others ignore it in comparisons."""
        self._counts[number] = _CLOSED

    def has_fewest(self, number: int) -> bool:
        """Whether no other process that accepts has fewer connections than this one."""
        counts = self._counts.tolist()
        return not any(_CLOSED < count < counts[number] for count in counts)
