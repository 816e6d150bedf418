"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

NOON: Final = 1_767_268_800.0
"""Where a fake clock starts: 2026-01-01T12:00:00Z."""


class FakeClock:
    """A clock for tests: call it for the seconds since the epoch, and move it by hand."""

    def __init__(self, now: float = NOON) -> None:
        self._now = now

    def __call__(self) -> float:
        """The time, in seconds since the epoch."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let so many seconds pass; a negative number steps back, as real clocks sometimes do."""
        self._now += seconds

    def set(self, instant: float | datetime) -> None:
        """Move to an instant: seconds since the epoch, or a datetime with its time zone."""
        if isinstance(instant, datetime):
            if instant.tzinfo is None:
                raise ValueError(f"{instant!r} has no time zone: use one such as datetime(2026, 1, 1, tzinfo=UTC).")
            instant = instant.timestamp()
        self._now = instant
