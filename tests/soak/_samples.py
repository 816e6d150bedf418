"""Samples of running servers, and a check that they stay flat."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, quantiles
from typing import Final

from msgspec import Struct
from tests.cli.processes.servers import children_of

FEWEST: Final = 9
"""The number of samples that a verdict needs: a third to warm up, a third to compare with, and a third to compare."""


class Sample(Struct, frozen=True):
    """The state of the servers at one instant; latencies are those since the previous sample, in milliseconds."""

    seconds: float
    memory_mb: float
    descriptors: float
    log_mb: float
    median_ms: float
    p99_ms: float


class Measure(Struct, frozen=True):
    """One line of the plot: the field of a sample, its name, and the factor by which it may grow between two thirds."""

    field: str
    name: str
    growth: float
    slack: float
    """Additional growth that is allowed, in the unit of the measure, because small figures vary at random."""


MEASURES: Final = (
    Measure("memory_mb", "memory of all processes, MB", 1.10, 8),
    Measure("descriptors", "open files of all processes", 1.10, 8),
    Measure("log_mb", "logs of all databases, MB", 1.25, 64),
    Measure("median_ms", "median latency, ms", 1.5, 5),
    Measure("p99_ms", "99th percentile of the latency, ms", 2.0, 50),
)


def sampled(seconds: float, root: int, folder: Path, latencies: Sequence[float]) -> Sample:
    """Take a sample of a process with all its descendants, and of the logs in a folder."""
    pids = family(root)
    cuts = quantiles(latencies, n=100) if len(latencies) > 1 else [0.0] * 99
    logs = sum(path.stat().st_size for path in folder.glob("*-wal"))
    memory = sum(_resident_kb(pid) for pid in pids) / 1024
    return Sample(seconds, memory, sum(map(_descriptors, pids)), logs / 2**20, cuts[49] * 1_000, cuts[98] * 1_000)


def family(root: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    return [root, *(pid for child in children_of(root) for pid in family(child))]


def _resident_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:  # the process has just ended
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def _descriptors(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0


def growing(samples: Sequence[Sample]) -> list[str]:
    """Return the measures that grew too much from the second third of the samples to the last; none if all are flat."""
    third = len(samples) // 3
    if len(samples) < FEWEST:
        return [f"there are {len(samples)} samples, and {FEWEST} are needed"]
    found = []
    for measure in MEASURES:
        before, after = (
            fmean(getattr(sample, measure.field) for sample in part)
            for part in (samples[third : 2 * third], samples[2 * third :])
        )
        if after > before * measure.growth + measure.slack:
            found.append(f"{measure.name}: {before:,.1f}, then {after:,.1f}")
    return found
