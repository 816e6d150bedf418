"""Two sides measured in turn, so that noise of the machine hits both; the result is a ratio with a bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct

T = TypeVar("T")

Side: TypeAlias = Callable[[], float]
"""One repetition of a measurement: the seconds that one call took."""


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
    """What was compared, the seconds of each side, and their ratio."""

    name: str
    ours: float
    theirs: float
    ratio: float
    bar: Bar
    note: str = ""
    """What explains the figures, where they depend on the machine."""

    @property
    def passed(self) -> bool:
        """Whether the bar is met."""
        return self.bar.met_by(self.ratio)


def compare(name: str, bar: Bar, ours: Side, theirs: Side, *, repetitions: int) -> Comparison:
    """Run both sides in turn, after one turn to warm up, and take medians.

    A turn should last about as long on both sides: on a busy machine the longer one would be interrupted more often.
    The ratio says how many times faster ours is where the bar is "at least", how many times dearer where it is
    "at most". It is the median of the ratios of each turn.
    """
    ours(), theirs()
    turns = [(ours(), theirs()) for _ in range(repetitions)]
    ratios = [b / a if bar.sense == "at least" else a / b for a, b in turns]
    return Comparison(name, median(a for a, _ in turns), median(b for _, b in turns), median(ratios), bar)


def per_call(function: Callable[[T], object], arguments: Sequence[T]) -> Side:
    """A side that calls the function with each argument and takes the mean."""

    def measure() -> float:
        start = time.perf_counter()
        for argument in arguments:
            function(argument)
        return (time.perf_counter() - start) / len(arguments)

    return measure


def duration(seconds: float) -> str:
    """Seconds in a readable unit."""
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"
