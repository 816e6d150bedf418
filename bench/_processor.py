"""The processor time of a server, beside the time that passes: other work on the machine disturbs it less."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench._compare import Side

_PROC: Final = Path("/proc")
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Processor:
    """A side that also notes the processor time of one request, by the server that was started on a port."""

    def __init__(self, side: Side, port: int, requests: int) -> None:
        self._side = side
        self._server = _server_on(port)
        self._requests = requests
        self._used: list[float] = []

    def __call__(self) -> float:
        """One repetition."""
        before = self._seconds()
        seconds = self._side()
        self._used.append((self._seconds() - before) / self._requests)
        return seconds

    @property
    def seconds(self) -> float:
        """The median over all repetitions; 0 where the system does not count it."""
        return median(self._used)

    def _seconds(self) -> float:
        return 0.0 if self._server is None else sum(map(_used, _tree(self._server)))


def _server_on(port: int) -> int | None:
    """The process that this one has started with the port as its last argument."""
    if not (_PROC / "self" / "stat").exists():
        return None
    started = (pid for pid in _tree(os.getpid()) if (_PROC / str(pid) / "cmdline").read_bytes().endswith(_last(port)))
    return next(started, None)


def _last(port: int) -> bytes:
    return f"\0{port}\0".encode()


def _tree(pid: int) -> Iterator[int]:
    """A process and all that it has started."""
    yield pid
    for task in (_PROC / str(pid) / "task").iterdir():
        for child in (task / "children").read_text().split():
            yield from _tree(int(child))


def _used(pid: int) -> float:
    """Seconds of all threads of a process, also of those that have ended."""
    fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
