"""When a process that has ended is replaced: at once, or after growing pauses if it cannot start.

it served, and was killed     another within a second
it ends before it is ready    after 1, 2, 4, 8, 16, and then every 30 seconds, until one is ready
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

RESTART_SECONDS: Final = 1.0
"""A process that dies is replaced at once, but not more often than this."""
LONGEST_SECONDS: Final = 30.0
"""The longest pause before another one is tried."""
STEADY_SECONDS: Final = 10.0
"""A process that has lived this long counts as started, even without a report; workers send none."""


class Restarts:
    """How long to wait before a process is replaced."""

    def __init__(self) -> None:
        self._failures: dict[Hashable, int] = {}
        """For each process, the number of consecutive failed starts."""

    def pause(self, process: Hashable, lived: float, *, has_begun: bool = False) -> float:
        """The pause before the replacement of a process that has lived `lived` seconds.

        A process and its replacements have the same `process` key.
        """
        if has_begun or lived > STEADY_SECONDS:
            self._failures.pop(process, None)
            return max(0.0, RESTART_SECONDS - lived)
        failures = self._failures.get(process, 0)
        self._failures[process] = failures + 1
        return min(LONGEST_SECONDS, RESTART_SECONDS * 2.0 ** min(failures, 10))
