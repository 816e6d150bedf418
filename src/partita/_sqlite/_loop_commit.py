"""Whether an event loop commits by itself, or leaves that to the writer thread.

To hand a write to another thread, and its result back, takes more of the processor than the write itself. But an event
loop that waits for the disk serves nobody meanwhile. So it commits by itself only where the wait is short:

| the event loop commits by itself | the writer thread commits |
| --- | --- |
| writes of items, and few of them | whatever may take long: a new index, a load, many writes at once |
| the disk took less than half a millisecond for the last commits | it took longer |
| the log is far from being brought into the file | this commit would do it |
| no other thread or process writes | one does |
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Final

import apsw

MAX_WAIT_SECONDS: Final = 0.0005
"""About what it takes to hand a write to another thread and back."""
MAX_WRITES: Final = 32
CHECKPOINT_PAGES: Final = 4_000
"""So long a log is brought into the file; SQLite finds as many pages in it with a single look."""
_ROOM_PAGES: Final = 500
"""More than so few writes add to the log."""
_WEIGHT: Final = 0.2
"""Of the last commit in the average."""
_LONGEST_SECONDS: Final = 4 * MAX_WAIT_SECONDS
"""A longer wait counts as this: a single one, in which the machine did something else, says little of the disk."""


class LoopCommits:
    """Says whether an event loop may commit. It belongs to the thread that holds the write lock."""

    def __init__(self, requests: Collection[type], timer: Callable[[], float] = time.perf_counter) -> None:
        """Nothing was committed yet.

        Args:
            requests: what an event loop may commit by itself.
            timer: tells how long a commit takes; tests pass their own.
        """
        self.requests = requests
        self.timer = timer
        self.seconds = 0.0
        """What a commit takes, as a moving average."""

    def committed(self, seconds: float) -> None:
        """A commit took so long."""
        self.seconds += (min(seconds, _LONGEST_SECONDS) - self.seconds) * _WEIGHT

    def is_short(self, connection: apsw.Connection) -> bool:
        """Whether a commit is short, by all that is known."""
        if self.seconds > MAX_WAIT_SECONDS:
            return False
        pages, in_file = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        return pages < CHECKPOINT_PAGES - _ROOM_PAGES or pages == in_file
