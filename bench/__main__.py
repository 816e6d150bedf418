"""Measure everything, print a table, and fail if a bar is not met."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from bench import cdc, imports, reads, scale, wire, writes
from bench._compare import Comparison

SUITES = (reads, writes, imports, scale, cdc, wire)


def main() -> int:
    """Run every measurement; the exit status is 1 if one of them misses its bar."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="partita-bench-") as folder:
        sync = writes.sync_seconds(Path(folder))
        results = [comparison for suite in SUITES for comparison in suite.comparisons(Path(folder))]
    print(table(results))
    seconds = time.perf_counter() - start
    print(f"\n{len(results)} comparisons in {seconds:.0f} s; this disk synchronises in {duration(sync)}")
    return 0 if all(result.passed for result in results) else 1


def table(results: list[Comparison]) -> str:
    """The results as text."""
    lines = [f"{'what, to what':<48} {'ours':>10} {'theirs':>10} {'ratio':>7}  {'required':<13}"]
    for result in results:
        times = f"{duration(result.ours):>10} {duration(result.theirs):>10}"
        verdict = "pass" if result.passed else "FAIL"
        lines.append(f"{result.name:<48} {times} {result.ratio:>6.2f}x  {result.bar!s:<13} {verdict}")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """Seconds in a readable unit."""
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


if __name__ == "__main__":
    sys.exit(main())
