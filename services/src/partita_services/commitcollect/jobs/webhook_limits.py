"""The limits of the webhook for wrong requests and for events of one athlete: token buckets in memory.

Each server process has its own, and they are lost when it ends. The reads of Strava that events cause are counted in
the store, for all workers: see `looks.py`.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

LOOKS_PER_QUARTER: Final = 50
LOOKS_PER_DAY: Final = 500
"""How many reads of Strava the events of one athlete may cause: a quarter of the 200 in a quarter of an hour, and of
the 2,000 in a day, that Strava allows an application."""
SECONDS_PER_DAY: Final = 86_400
GUESSES: Final = 60
EVENTS: Final = 500
MAX_NAMES: Final = 10_000


class TokenBuckets:
    """A token bucket for each name: `burst` tokens at once, and then one every `seconds`."""

    def __init__(self, burst: int, seconds: float, *, max_names: int = MAX_NAMES) -> None:
        self._room = (burst - 1) * seconds
        self._seconds = seconds
        self._max_names = max_names
        self._full_at: dict[str, float] = {}
        """When the bucket of a name is full again. The most recently used names are at the end."""

    def take(self, name: str, now: float) -> float:
        """Take a token and return 0; if there is none, return after how many seconds there will be one."""
        full_at = max(self._full_at.get(name, now), now)
        wait = full_at - now - self._room
        if wait > 0:
            return wait
        self._full_at.pop(name, None)
        self._full_at[name] = full_at + self._seconds
        if len(self._full_at) > self._max_names:
            del self._full_at[next(iter(self._full_at))]
        return 0.0


class WebhookLimits(Struct, frozen=True):
    """The limits of the webhook in one process."""

    guesses: TokenBuckets = field(default_factory=lambda: TokenBuckets(GUESSES, 1.0))
    """Requests that are not from Strava, of all clients together."""
    events: TokenBuckets = field(default_factory=lambda: TokenBuckets(EVENTS, SECONDS_PER_DAY / LOOKS_PER_DAY))
    """Events of each athlete: a burst, and then as many as workers process, so no more than the burst wait."""
