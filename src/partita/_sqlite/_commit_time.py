"""How long a commit takes on this disk, as a moving average: by it writers choose who commits, and whether to wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_WEIGHT: Final = 0.2
"""Of the last commit in the average."""
_LONGEST_SECONDS: Final = 0.002
"""A longer wait counts as this: a single one, in which the machine did something else, says little of the disk."""


class CommitTime:
    """Measures commits. It belongs to the thread that holds the write lock."""

    def __init__(self, timer: Callable[[], float] = time.perf_counter) -> None:
        """Nothing was committed yet; `timer` tells the seconds that pass."""
        self.timer = timer
        self.seconds = 0.0
        """What a commit takes."""

    def add(self, seconds: float) -> None:
        """A commit took so long."""
        self.seconds += (min(seconds, _LONGEST_SECONDS) - self.seconds) * _WEIGHT
