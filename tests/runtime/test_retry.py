"""The retry policy: pauses grow, are random, and have a maximum."""

from __future__ import annotations

from random import Random

from partita.runtime import RetryPolicy


class Highest(Random):
    """A random generator that always returns the upper limit."""

    def uniform(self, a: float, b: float) -> float:
        return max(a, b)


def test_pauses_double_up_to_their_cap() -> None:
    policy = RetryPolicy(base_seconds=0.5, cap_seconds=3)
    assert [policy.pause_before(attempt, Highest()).seconds for attempt in range(5)] == [0.5, 1, 2, 3, 3]


def test_a_pause_may_be_as_short_as_nothing() -> None:
    pauses = [RetryPolicy().pause_before(9, Random(seed)).seconds for seed in range(200)]
    assert min(pauses) < 0.1
    assert max(pauses) > 4.9
