"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

NOON: Final = 1_767_268_800.0
"""The initial time of a fake clock: 2026-01-01T12:00:00Z."""


class FakeClock:
    """A clock for tests: calling it returns the seconds since the epoch, and the test moves it."""

    def __init__(self, now: float = NOON) -> None:
        self._now = now

    def __call__(self) -> float:
        """Return the time, in seconds since the epoch."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock forward by a number of seconds; a negative number moves it back, as happens to real clocks."""
        self._now += seconds

    def set(self, instant: float | datetime) -> None:
        """Move the clock to an instant: seconds since the epoch, or a datetime with a time zone."""
        if isinstance(instant, datetime):
            if instant.tzinfo is None:
                raise ValueError(f"{instant!r} has no time zone: use one such as datetime(2026, 1, 1, tzinfo=UTC).")
            instant = instant.timestamp()
        self._now = instant
