"""The duration of a commit on this disk, by which writers choose which thread commits and whether to wait."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

_COMMITS: Final = 32
"""How many of the latest commits are remembered."""
_RECENT: Final = 8
"""How many of them predict the duration of the next one."""


class CommitTime:
    """Measures commits. It belongs to the thread that holds the write lock.

    A thread that returns from a disk wait may also have to wait for the GIL while other threads hold it. The commit
    then seems to take several times as long. A slow disk makes all commits long; contention for the GIL, only some of
    them. So low quantiles are used, not the mean.
    """

    def __init__(self, timer: Callable[[], float] = time.perf_counter) -> None:
        """Start without measurements; `timer` returns seconds, like `time.perf_counter`."""
        self.timer = timer
        self._last = deque([0.0], maxlen=_COMMITS)
        self.add = self._last.append
        """Add the duration of a commit, in seconds."""

    @property
    def seconds(self) -> float:
        """The expected duration of a commit: the lower quartile of the last few; 0 until several were measured."""
        recent = sorted(list(self._last)[-_RECENT:])
        return recent[len(recent) // 4]

    @property
    def least(self) -> float:
        """The shortest of the last commits: an upper bound for the time of the disk alone. 0 until 32 were measured."""
        return min(self._last)
