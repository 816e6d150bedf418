"""The fake clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from partita.testing import FakeClock


def test_time_stands_still_until_it_is_moved() -> None:
    clock = FakeClock()
    assert clock() == clock() == datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()


def test_time_is_moved_on_and_back() -> None:
    clock = FakeClock(100.0)
    clock.advance(1.5)
    assert clock() == 101.5
    clock.advance(-2)
    assert clock() == 99.5


@pytest.mark.parametrize(
    "instant",
    [7200.0, datetime(1970, 1, 1, 2, tzinfo=UTC), datetime(1970, 1, 1, 3, tzinfo=timezone(timedelta(hours=1)))],
)
def test_time_is_set_to_an_instant(instant: float | datetime) -> None:
    clock = FakeClock()
    clock.set(instant)
    assert clock() == 7200


def test_an_instant_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        FakeClock().set(datetime(2026, 1, 1))  # noqa: DTZ001
