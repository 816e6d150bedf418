"""Reduce a failed run to a smaller one that fails in the same way: fewer faults, and a check after every step."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from tests.simulation._run import Plan, Result

MAX_RUNS: int = 200


def shrink(failed: Result, run: Callable[[Plan], Result]) -> Result:
    """Leave out faults, first many at a time and then fewer, as long as the run fails in the same way (ddmin)."""
    best, runs = failed, 0
    left = [fault.number for fault in failed.faults]
    size = max(len(left) // 2, 1)
    while left and runs < MAX_RUNS:
        smaller = None
        for start in range(0, len(left), size):
            runs += 1
            without = best.plan.without | frozenset(left[start : start + size])
            tried = run(replace(best.plan, without=without))
            if _is_same(tried, failed):
                smaller = tried
                break
        if smaller is not None:
            best, left = smaller, [fault.number for fault in smaller.faults]
            size = max(min(size, len(left) // 2), 1)
        elif size == 1:
            break
        else:
            size //= 2
    earliest = run(replace(best.plan, check_every=1))
    return earliest if _is_same(earliest, failed) else best


def _is_same(result: Result, failed: Result) -> bool:
    return _kind(result.failure) == _kind(failed.failure)


def _kind(failure: str | None) -> str | None:
    """Return the class of the error and the first words of its message."""
    return None if failure is None else " ".join(failure.split()[:4])
