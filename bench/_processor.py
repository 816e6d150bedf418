"""The processor time of other processes, as Linux counts it. The load generator's time is not included."""

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
"""The scheduler clock of a process: as in libc's `clock_getcpuclockid`, the upper bits are the inverted process id."""
_WAKES: Final = re.compile(r"^voluntary_ctxt_switches:\s*(\d+)", re.MULTILINE)


def can_be_counted() -> bool:
    """Whether the system counts processor time per process, as Linux does."""
    return PROC.is_dir() and hasattr(time, "clock_gettime")


def process_tree(pid: int) -> Iterator[int]:
    """Yield the ids of a process and of all its descendants."""
    yield pid
    for task in (PROC / str(pid) / "task").iterdir():
        for child in _read(task / "children").split():
            yield from process_tree(int(child))


def used(pid: int) -> tuple[float, int]:
    """The processor seconds of all threads of a process, including ended ones, and how often its threads woke up."""
    wakes = (_WAKES.findall(_read(task / "status")) for task in (PROC / str(pid) / "task").iterdir())
    return time.clock_gettime(~pid << 3 | _SCHEDULED), sum(int(number) for found in wakes for number in found)


def _read(file: Path) -> str:
    """The content of a thread's file; empty if the thread has just ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return file.read_text(encoding="utf-8")
    return ""


class Spent:
    """The processor time per call that a server and its processes use while a side is measured."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seconds = 0.0
        self._calls = 0

    def counting(self, side: Side, calls: int) -> Side:
        """Wrap a side so that the processor time that the server uses for its calls is counted."""

        def measure() -> float:
            before = self._used()
            measured = side()
            self._seconds += self._used() - before
            self._calls += calls
            return measured

        return measure if can_be_counted() else side

    def per_call(self) -> float:
        """The seconds of processor time per call; 0 if the system does not count it."""
        return self._seconds / self._calls if self._calls else 0.0

    def _used(self) -> float:
        return sum(used(pid)[0] for pid in process_tree(self._pid))
