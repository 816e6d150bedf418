"""What an idle server costs: all services, with their worker.

Its memory is measured on a new folder after the first start, which creates tables and writes sample data, and on the
same folder after the next start. Then its processor time is measured, too, for half a minute.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench._compare import Bar, Comparison, Skipped
from bench._processor import can_be_counted, process_tree, used
from bench._resident import megabytes

WATCHED_SECONDS: Final = 30.0
SETTLE_SECONDS: Final = 10.0
"""The wait after the start, during which sample data reaches the projections and the first sweep runs."""
ALLOWED: Final = 0.005
"""The allowed share of a core."""
ALLOWED_MEGABYTES: Final = 150.0
"""The allowed memory of all processes; see `bench._resident`."""

_SERVE: Final = "from partita.cli import main; main()"
_AT_MOST: Final = Bar("at most", 1)


def comparisons(folder: Path) -> Iterator[Comparison | Skipped]:
    """All measurements of this module."""
    if not can_be_counted():
        yield Skipped("serve --all while nobody asks, to 0.5 % of a core and 150 MB", "requires Linux")
        return
    for processes, name in ((1, "one process"), (2, "two processes")):
        data = folder / f"{processes}"
        with _at_rest(data, processes) as server:
            yield _memory(f"{name} of serve --all, first start", server)
        with _at_rest(data, processes) as server:
            yield _memory(f"{name} of serve --all, next start", server)
            yield _processor_time(f"{name} of serve --all at rest", server)


def _memory(name: str, server: int) -> Comparison:
    taken = megabytes(process_tree(server))
    ratio = taken / ALLOWED_MEGABYTES
    return Comparison(f"{name}, to 150 MB", taken, ALLOWED_MEGABYTES, ratio, _AT_MOST, unit="megabytes")


def _processor_time(name: str, server: int) -> Comparison:
    before = {pid: used(pid) for pid in process_tree(server)}
    time.sleep(WATCHED_SECONDS)
    after = {pid: used(pid) for pid in before}
    seconds = sum(after[pid][0] - before[pid][0] for pid in before)
    wakes = sum(after[pid][1] - before[pid][1] for pid in before) / WATCHED_SECONDS
    allowed = ALLOWED * WATCHED_SECONDS
    note = f"{name}: {wakes:.1f} wakes a second"
    return Comparison(f"{name}, to 0.5 %", seconds, allowed, seconds / allowed, _AT_MOST, note)


@contextmanager
def _at_rest(data: Path, processes: int) -> Iterator[int]:
    """Start a server, and yield its process id after it has settled."""
    command = [sys.executable, "-c", _SERVE, "serve", "--all", "--port", "0", "--data", str(data)]
    command += ["--processes", str(processes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if re.search(r"serves at (http://\S+)/", line))
        time.sleep(SETTLE_SECONDS)
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
