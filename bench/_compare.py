"""Two sides measured in turn, so that noise of the machine hits both; the result is a ratio with a bar."""

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
"""One repetition of a measurement: the seconds that one call took."""


class Pace(Struct, frozen=True):
    """How long a comparison is measured."""

    share: float = 1.0
    """Of the rounds that it declares."""
    longest: int = 4
    """By how many times more rounds at most, where noise could decide whether its bar is met."""

    def rounds(self, declared: int) -> int:
        """How many rounds are measured at first: at least three, of which the median says something."""
        return max(FEWEST, round(declared * self.share))


FEWEST: Final = 3
THOROUGH: Final = Pace()
QUICK: Final = Pace(share=0, longest=1)
"""Shows that everything works, and roughly how it stands."""
_pace: Final = ContextVar("pace", default=THOROUGH)


@contextmanager
def measuring(pace: Pace) -> Iterator[None]:
    """Comparisons inside are measured at this pace."""
    token = _pace.set(pace)
    try:
        yield
    finally:
        _pace.reset(token)


class Bar(Struct, frozen=True):
    """What is required of a ratio."""

    sense: Literal["at least", "at most"]
    ratio: float

    def met_by(self, ratio: float) -> bool:
        """Whether the ratio is good enough."""
        return ratio >= self.ratio if self.sense == "at least" else ratio <= self.ratio

    def __str__(self) -> str:
        return f"{self.sense} {self.ratio:g}x"


class Comparison(Struct, frozen=True):
    """What was compared, the figure of each side, and their ratio."""

    name: str
    ours: float
    theirs: float
    ratio: float
    bar: Bar
    note: str = ""
    """What explains the figures, where they depend on the machine."""
    low: float | None = None
    """A quarter of the rounds had a lower ratio, and a quarter a higher one than `high`."""
    high: float | None = None
    rounds: int = 1
    unit: Unit = "seconds"
    """Of the figures of both sides."""

    @property
    def passed(self) -> bool:
        """Whether the bar is met."""
        return self.bar.met_by(self.ratio)


class Skipped(Struct, frozen=True):
    """What was not compared, and why."""

    name: str
    why: str


def compare(name: str, bar: Bar, ours: Side, theirs: Side, *, repetitions: int) -> Comparison:
    """Measure both sides in turn, after one turn to warm up, and take medians.

    A round should last about as long on both sides: on a busy machine the longer one would be interrupted more often.
    The ratio says how many times faster ours is where the bar is "at least", how many times dearer where it is
    "at most". It is the median of the ratios of all rounds. Where that is so near to the bar that noise decides, more
    rounds follow.
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
    """Whether the bar lies in the notch of the median: there, another run could say the opposite."""
    low, middle, high = quantiles(ratios, method="inclusive")
    return abs(middle - bar.ratio) < NOTCH * (high - low) / math.sqrt(len(ratios))


NOTCH: Final = 1.57
"""As in box plots: with so many interquartile ranges, by the root of the count, the median is all but sure."""


def per_call(function: Callable[[T], object], arguments: Sequence[T]) -> Side:
    """A side that calls the function with each argument and takes the mean."""

    def measure() -> float:
        start = time.perf_counter()
        for argument in arguments:
            function(argument)
        return (time.perf_counter() - start) / len(arguments)

    return measure


def figure(value: float, unit: Unit) -> str:
    """A figure of one side, as people read it."""
    return duration(value) if unit == "seconds" else f"{value:.1f} MB"


def duration(seconds: float) -> str:
    """Seconds in a readable unit."""
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"
