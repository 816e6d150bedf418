"""Measure two sides alternately, so that noise of the machine affects both; the result is a ratio with a bar."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from statistics import median, quantiles
from typing import Final, Literal, TypeAlias, TypeVar

from msgspec import Struct

T = TypeVar("T")

Unit: TypeAlias = Literal["seconds", "megabytes"]

Side: TypeAlias = Callable[[], float]
"""One repetition of a measurement: returns the seconds that one call took."""


class Pace(Struct, frozen=True):
    """How many rounds a comparison is measured for."""

    share: float = 1.0
    """The share of its declared rounds that a comparison runs at first."""
    longest: int = 4
    """The maximum factor by which the rounds are extended if noise could decide whether the bar is met."""

    def rounds(self, declared: int) -> int:
        """The number of rounds measured at first: at least three, so that the median means something."""
        return max(FEWEST, round(declared * self.share))


FEWEST: Final = 3
THOROUGH: Final = Pace()
QUICK: Final = Pace(share=0, longest=1)
"""Check that everything works, and give rough figures."""
_pace: Final = ContextVar("pace", default=THOROUGH)


@contextmanager
def measuring(pace: Pace) -> Iterator[None]:
    """Measure the comparisons inside the block at this pace."""
    token = _pace.set(pace)
    try:
        yield
    finally:
        _pace.reset(token)


class Bar(Struct, frozen=True):
    """The requirement on a ratio."""

    sense: Literal["at least", "at most"]
    ratio: float

    def met_by(self, ratio: float) -> bool:
        """Whether the ratio meets the requirement."""
        return ratio >= self.ratio if self.sense == "at least" else ratio <= self.ratio

    def __str__(self) -> str:
        return f"{self.sense} {self.ratio:g}x"


class Comparison(Struct, frozen=True):
    """The result of a comparison: its name, the figure of each side, and their ratio."""

    name: str
    ours: float
    theirs: float
    ratio: float
    bar: Bar
    note: str = ""
    """An explanation of the figures if they depend on the machine."""
    low: float | None = None
    """The lower quartile of the ratios of all rounds; `high` is the upper quartile."""
    high: float | None = None
    rounds: int = 1
    unit: Unit = "seconds"
    """The unit of the figures of both sides."""

    @property
    def passed(self) -> bool:
        """Whether the bar is met."""
        return self.bar.met_by(self.ratio)


class Skipped(Struct, frozen=True):
    """A comparison that was skipped, and why."""

    name: str
    why: str


def compare(name: str, bar: Bar, ours: Side, theirs: Side, *, repetitions: int) -> Comparison:
    """Measure both sides alternately, after one call of each to warm up, and take medians.

    A round should take about the same time on both sides, because on a busy machine the longer one would be
    interrupted more often. The ratio says how many times faster ours is if the bar is "at least", and how many times
    slower if it is "at most". It is the median of the ratios of all rounds. If it is so near to the bar that noise
    would decide, more rounds follow.
    """
    ours(), theirs()
    pace = _pace.get()
    first = pace.rounds(repetitions)
    rounds = [(ours(), theirs()) for _ in range(first)]
    while len(rounds) < first * pace.longest and _is_noise(_ratios(rounds, bar), bar):
        rounds.append((ours(), theirs()))
    ratios = _ratios(rounds, bar)
    low, _, high = quantiles(ratios, method="inclusive")
    return Comparison(
        name,
        median(a for a, _ in rounds),
        median(b for _, b in rounds),
        median(ratios),
        bar,
        low=low,
        high=high,
        rounds=len(rounds),
    )


def _ratios(rounds: Sequence[tuple[float, float]], bar: Bar) -> list[float]:
    return [b / a if bar.sense == "at least" else a / b for a, b in rounds]


def _is_noise(ratios: Sequence[float], bar: Bar) -> bool:
    """Whether the bar lies within the notch of the median, so that another run could reach the opposite verdict."""
    low, middle, high = quantiles(ratios, method="inclusive")
    return abs(middle - bar.ratio) < NOTCH * (high - low) / math.sqrt(len(ratios))


NOTCH: Final = 1.57
"""As in notched box plots: the median is almost certain within this many interquartile ranges, divided by √count."""


def per_call(function: Callable[[T], object], arguments: Sequence[T]) -> Side:
    """A side that calls the function with each argument and returns the mean time."""

    def measure() -> float:
        start = time.perf_counter()
        for argument in arguments:
            function(argument)
        return (time.perf_counter() - start) / len(arguments)

    return measure


def figure(value: float, unit: Unit) -> str:
    """A figure of one side in a readable form."""
    return duration(value) if unit == "seconds" else f"{value:.1f} MB"


def duration(seconds: float) -> str:
    """A duration in a readable unit."""
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"
