"""What a server costs that nobody asks for anything: all services, with their worker, for half a minute."""

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
from bench._processor import PROC, can_be_counted, process_tree, used

WATCHED_SECONDS: Final = 30.0
SETTLE_SECONDS: Final = 10.0
"""After its start: sample data goes into projections, and the first sweep is made."""
ALLOWED: Final = 0.005
"""Of a core."""

_SERVE: Final = "from partita.cli import main; main()"


def comparisons(folder: Path) -> Iterator[Comparison | Skipped]:
    """All measurements of this module."""
    if not can_be_counted():
        yield Skipped("serve --all while nobody asks, to 0.5 % of a core", "only Linux counts it")
        return
    for processes, name in ((1, "one process"), (2, "two processes")):
        with _serving(folder / "idle", processes) as server:
            time.sleep(SETTLE_SECONDS)
            before = {pid: used(pid) for pid in process_tree(server)}
            time.sleep(WATCHED_SECONDS)
            after = {pid: used(pid) for pid in before}
            megabytes = sum(_megabytes(pid) for pid in before)
        seconds = sum(after[pid][0] - before[pid][0] for pid in before)
        wakes = sum(after[pid][1] - before[pid][1] for pid in before) / WATCHED_SECONDS
        allowed = ALLOWED * WATCHED_SECONDS
        note = f"serve --all by {name}: {wakes:.1f} wakes a second, {megabytes} MB"
        bar = Bar("at most", 1)
        yield Comparison(f"{name} of serve --all at rest, to 0.5 %", seconds, allowed, seconds / allowed, bar, note)


@contextmanager
def _serving(data: Path, processes: int) -> Iterator[int]:
    command = [sys.executable, "-c", _SERVE, "serve", "--all", "--port", "0", "--data", str(data)]
    command += ["--processes", str(processes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if re.search(r"serves at (http://\S+)/", line))
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.stdout.read()


def _megabytes(pid: int) -> int:
    """What a process takes of the memory; what several share is divided among them."""
    found = re.findall(r"^Pss:\s*(\d+)", (PROC / str(pid) / "smaps_rollup").read_text(), re.MULTILINE)
    return int(found[0]) * 1024 // 1_000_000
