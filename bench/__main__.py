"""Measure everything, print a table, and fail if a bar is not met."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from bench import cdc, copy, events, imports, ingest, reads, remote, scale, services, wire, writes
from bench._compare import Comparison, duration

SUITES = (reads, writes, imports, scale, cdc, wire, remote, copy, services, events, ingest)


def main(*names: str) -> int:
    """Run every measurement, or those of the named modules; the exit status is 1 if one of them misses its bar."""
    start = time.perf_counter()
    suites = [suite for suite in SUITES if not names or suite.__name__.rpartition(".")[2] in names]
    with tempfile.TemporaryDirectory(prefix="partita-bench-") as folder:
        results = [comparison for suite in suites for comparison in suite.comparisons(Path(folder))]
    print(table(results))
    print("".join(f"\n{result.note}" for result in results if result.note))
    print(f"\n{len(results)} comparisons in {time.perf_counter() - start:.0f} s")
    return 0 if all(result.passed for result in results) else 1


def table(results: list[Comparison]) -> str:
    """The results as text."""
    lines = [f"{'what, to what':<48} {'ours':>10} {'theirs':>10} {'ratio':>7}  {'required':<14}"]
    for result in results:
        times = f"{duration(result.ours):>10} {duration(result.theirs):>10}"
        verdict = "pass" if result.passed else "FAIL"
        lines.append(f"{result.name:<48} {times} {result.ratio:>6.2f}x  {result.bar!s:<14} {verdict}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
