"""The processor time of other processes, from what Linux counts. The load generator's is not in it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from bench._compare import Side

PROC: Final = Path("/proc")
_SCHEDULED: Final = 2
"""Which clock of a process: as in `clock_getcpuclockid` of libc, the number of the process stands above it."""
_WAKES: Final = re.compile(r"^voluntary_ctxt_switches:\s*(\d+)", re.MULTILINE)


def can_be_counted() -> bool:
    """Whether the system counts it: Linux does."""
    return PROC.is_dir() and hasattr(time, "clock_gettime")


def process_tree(pid: int) -> Iterator[int]:
    """A process and all that it has started."""
    yield pid
    for task in (PROC / str(pid) / "task").iterdir():
        for child in _read(task / "children").split():
            yield from process_tree(int(child))


def used(pid: int) -> tuple[float, int]:
    """Seconds of processor time of all threads of a process, also of those that have ended, and how often they woke."""
    wakes = (_WAKES.findall(_read(task / "status")) for task in (PROC / str(pid) / "task").iterdir())
    return time.clock_gettime(~pid << 3 | _SCHEDULED), sum(int(number) for found in wakes for number in found)


def _read(file: Path) -> str:
    """What a file of a thread says; nothing where the thread has just ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return file.read_text(encoding="utf-8")
    return ""


class Spent:
    """What a server and its processes spend while sides are measured, for each call."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seconds = 0.0
        self._calls = 0

    def counting(self, side: Side, calls: int) -> Side:
        """The same side; what the server spends for its calls is counted."""

        def measure() -> float:
            before = self._used()
            measured = side()
            self._seconds += self._used() - before
            self._calls += calls
            return measured

        return measure if can_be_counted() else side

    def per_call(self) -> float:
        """Seconds of processor time for a call; 0 where nobody counts it."""
        return self._seconds / self._calls if self._calls else 0.0

    def _used(self) -> float:
        return sum(used(pid)[0] for pid in process_tree(self._pid))
