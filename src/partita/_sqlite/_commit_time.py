"""How long a commit takes on this disk: by it writers choose who commits, and whether to wait."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

_COMMITS: Final = 32
"""So many of the last ones are remembered."""
_RECENT: Final = 8
"""So many of them say what the next one is likely to take."""


class CommitTime:
    """Measures commits. It belongs to the thread that holds the write lock.

    Who has waited for the disk may have to wait for the interpreter, too, which other threads have: then a commit seems
    to take several times as long. A disk that is slow makes all of them long, and other threads only some.
    """

    def __init__(self, timer: Callable[[], float] = time.perf_counter) -> None:
        """Nothing was committed yet; `timer` tells the seconds that pass."""
        self.timer = timer
        self._last = deque([0.0], maxlen=_COMMITS)
        self.add = self._last.append
        """A commit took so many seconds."""

    @property
    def seconds(self) -> float:
        """What a commit takes: the lower quartile of the last few; nothing until some were measured."""
        recent = sorted(list(self._last)[-_RECENT:])
        return recent[len(recent) // 4]

    @property
    def least(self) -> float:
        """What the disk alone takes of it, at most: the shortest of the last commits."""
        return min(self._last)
