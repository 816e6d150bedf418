"""Comparisons: alternating rounds, medians and quartiles, and more rounds if noise could decide."""

from __future__ import annotations

import pytest
from bench._compare import QUICK, Bar, Pace, Side, compare, measuring

AT_LEAST_TWO = Bar("at least", 2)


def side(*seconds: float) -> tuple[Side, list[float]]:
    """Return a side that reports these times cyclically, and the list of the times that it has reported."""
    asked: list[float] = []

    def measure() -> float:
        asked.append(seconds[len(asked) % len(seconds)])
        return asked[-1]

    return measure, asked


def test_both_sides_are_measured_in_turn_after_one_turn_to_warm_up() -> None:
    order: list[str] = []
    sides = [lambda name=name: order.append(name) or 1.0 for name in ("ours", "theirs")]  # type: ignore[func-returns-value]
    compare("x", AT_LEAST_TWO, *sides, repetitions=3)
    assert order == ["ours", "theirs"] * 4


def test_the_ratio_is_the_median_of_the_rounds_with_its_quartiles() -> None:
    ours, _ = side(9, 1, 1, 1, 1, 1)  # the first time belongs to the warm-up round
    theirs, _ = side(9, 10, 30, 20, 50, 40)
    found = compare("x", AT_LEAST_TWO, ours, theirs, repetitions=5)
    assert (found.ratio, found.low, found.high, found.rounds) == (30, 20, 40, 5)
    assert (found.ours, found.theirs, found.passed) == (1, 30, True)


def test_a_ratio_that_must_be_small_is_ours_by_theirs() -> None:
    found = compare("x", Bar("at most", 0.5), side(1)[0], side(4)[0], repetitions=3)
    assert (found.ratio, found.passed) == (0.25, True)


@pytest.mark.parametrize(
    ("theirs", "rounds"),
    [
        ((2.0,), 5),  # no spread
        ((9.0, 11.0), 5),  # far from the bar
        ((1.0, 2.0, 3.0), 20),  # around the bar: the maximum number of rounds
    ],
)
def test_what_noise_could_decide_is_measured_longer(theirs: tuple[float, ...], rounds: int) -> None:
    assert compare("x", AT_LEAST_TWO, side(1)[0], side(*theirs)[0], repetitions=5).rounds == rounds


def test_a_quick_run_has_three_rounds() -> None:
    with measuring(QUICK):
        assert compare("x", AT_LEAST_TWO, side(1)[0], side(1.0, 3.1)[0], repetitions=100).rounds == 3
    assert compare("x", AT_LEAST_TWO, side(1)[0], side(4)[0], repetitions=7).rounds == 7


def test_a_pace_has_its_share_of_the_rounds() -> None:
    assert (Pace(share=0.5).rounds(100), Pace(share=0.5).rounds(2)) == (50, 3)
