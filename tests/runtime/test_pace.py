"""The limit of units per second."""

from __future__ import annotations

from partita.runtime import Pace
from partita.testing import FakeClock


def paced(clock: FakeClock, per_second: float | None) -> tuple[Pace, list[float]]:
    waits: list[float] = []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        clock.advance(seconds)

    return Pace(per_second, clock=clock, pause=pause), waits


def test_one_second_may_be_taken_at_once(fake_clock: FakeClock) -> None:
    pace, waits = paced(fake_clock, 100)
    pace.take(100)
    assert waits == []
    pace.take(50)
    assert waits == [0.5]


def test_so_many_units_take_so_long(fake_clock: FakeClock) -> None:
    pace, waits = paced(fake_clock, 100)
    for _ in range(41):
        pace.take(25)
    assert round(sum(waits), 6) == 41 * 25 / 100 - 1


def test_what_was_taken_too_much_is_given_back(fake_clock: FakeClock) -> None:
    pace, waits = paced(fake_clock, 100)
    pace.take(100)
    pace.correct(-100)
    pace.take(100)
    assert waits == []
    pace.correct(100)
    pace.take(50)
    assert waits == [1.5]


def test_without_a_limit_nobody_waits(fake_clock: FakeClock) -> None:
    pace, waits = paced(fake_clock, None)
    pace.take(1e9)
    assert (waits, pace.is_limited) == ([], False)
