"""Rate limits per quarter of an hour of the clock and per UTC day, for all requests and for reads."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from partita.runtime import Clock
from partita_services.commitcollect.simulator.world import World

QUARTER: Final = 900
DAY: Final = 86_400


class Limit(Struct, frozen=True):
    """The allowed requests in a quarter of an hour and in a day."""

    quarter: int
    day: int

    def __str__(self) -> str:
        return f"{self.quarter},{self.day}"


OVERALL: Final = Limit(400, 4_000)
READS: Final = Limit(200, 2_000)


class _Usage:
    """The number of requests of one kind in the current windows."""

    def __init__(self, kind: str, limit: Limit, clock: Clock, world: World) -> None:
        self.limit = limit
        self._kind = kind
        self._clock = clock
        self._world = world

    def used(self) -> Limit:
        return Limit(*(self._world.requests.get(window, 0) for window in self._windows()))

    def count(self, number: int = 1) -> None:
        counts = {window: self._world.requests.get(window, 0) + number for window in self._windows()}
        self._world.requests = self._others() | counts

    def reset(self) -> None:
        self._world.requests = self._others()

    @property
    def is_exhausted(self) -> bool:
        used = self.used()
        return used.quarter > self.limit.quarter or used.day > self.limit.day

    def _others(self) -> dict[str, int]:
        found = self._world.requests.items()
        return {window: count for window, count in found if not window.startswith(f"{self._kind}/")}

    def _windows(self) -> tuple[str, str]:
        now = int(self._clock())
        return f"{self._kind}/{QUARTER}/{now // QUARTER}", f"{self._kind}/{DAY}/{now // DAY}"


class RateLimits:
    """The limits of one application; the counts are stored in the world."""

    def __init__(self, clock: Clock, world: World, overall: Limit = OVERALL, reads: Limit = READS) -> None:
        self._overall = _Usage("all", overall, clock, world)
        self._reads = _Usage("reads", reads, clock, world)

    def take(self, *, reads: bool) -> bool:
        """Count a request, and return whether it is allowed. Refused requests count, too."""
        counted = [self._overall, self._reads] if reads else [self._overall]
        for usage in counted:
            usage.count()
        return not any(usage.is_exhausted for usage in counted)

    def exhaust(self) -> None:
        """Use up the rest of this quarter of an hour."""
        for usage in (self._overall, self._reads):
            usage.count(max(0, usage.limit.quarter - usage.used().quarter))

    def reset(self) -> None:
        """Reset the counts to zero."""
        self._overall.reset()
        self._reads.reset()

    def headers(self) -> dict[str, str]:
        """Return the headers of every response that report the limits."""
        return {
            "X-RateLimit-Limit": str(self._overall.limit),
            "X-RateLimit-Usage": str(self._overall.used()),
            "X-ReadRateLimit-Limit": str(self._reads.limit),
            "X-ReadRateLimit-Usage": str(self._reads.used()),
        }
