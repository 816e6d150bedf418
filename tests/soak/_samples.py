"""What is sampled of running servers, and whether it stays what it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, quantiles
from typing import Final

from msgspec import Struct
from tests.cli.processes.servers import children_of

FEWEST: Final = 9
"""Samples that a verdict needs: a third to warm up, a third to compare with, and a third to compare."""


class Sample(Struct, frozen=True):
    """The servers at one instant; latencies are those since the sample before, in milliseconds."""

    seconds: float
    memory_mb: float
    descriptors: float
    log_mb: float
    median_ms: float
    p99_ms: float


class Measure(Struct, frozen=True):
    """One line of the plot: the field of a sample, its name, and how much it may grow from one third to the next."""

    field: str
    name: str
    growth: float
    slack: float
    """What it may grow besides, in its own unit: small figures move by chance."""


MEASURES: Final = (
    Measure("memory_mb", "memory of all processes, MB", 1.10, 8),
    Measure("descriptors", "open files of all processes", 1.10, 8),
    Measure("log_mb", "logs of all databases, MB", 1.25, 64),
    Measure("median_ms", "median of a call, ms", 1.5, 5),
    Measure("p99_ms", "99 of 100 calls within, ms", 2.0, 50),
)


def sampled(seconds: float, root: int, folder: Path, latencies: Sequence[float]) -> Sample:
    """A sample of a process with all below it, and of the logs in a folder."""
    pids = family(root)
    cuts = quantiles(latencies, n=100) if len(latencies) > 1 else [0.0] * 99
    logs = sum(path.stat().st_size for path in folder.glob("*-wal"))
    memory = sum(_resident_kb(pid) for pid in pids) / 1024
    return Sample(seconds, memory, sum(map(_descriptors, pids)), logs / 2**20, cuts[49] * 1_000, cuts[98] * 1_000)


def family(root: int) -> list[int]:
    """A process and all below it."""
    return [root, *(pid for child in children_of(root) for pid in family(child))]


def _resident_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:  # it has just ended
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def _descriptors(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0


def growing(samples: Sequence[Sample]) -> list[str]:
    """What has grown by more than it may from the second third of the samples to the last; nothing if all is flat."""
    third = len(samples) // 3
    if len(samples) < FEWEST:
        return [f"there are {len(samples)} samples, and a verdict needs {FEWEST}"]
    found = []
    for measure in MEASURES:
        before, after = (
            fmean(getattr(sample, measure.field) for sample in part)
            for part in (samples[third : 2 * third], samples[2 * third :])
        )
        if after > before * measure.growth + measure.slack:
            found.append(f"{measure.name}: {before:,.1f}, then {after:,.1f}")
    return found
