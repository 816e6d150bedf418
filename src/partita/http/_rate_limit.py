"""Rate limits for the callers of a service: token buckets in the store, from which each process takes blocks.

A process counts the requests of a caller, and takes a block of tokens from the caller's bucket whenever the count
reaches the size of a block. So most requests cost nothing, and a caller who sends few requests never costs a write.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from partita import AsyncSession
from partita.errors import RateLimited
from partita.recipes.rate_limit import RateLimits

BLOCKS: Final = 10
"""The burst of a limit is divided into this many blocks for each process."""
MAX_CALLERS: Final = 10_000
"""How many callers a process remembers; it forgets the least recent one first."""


class _Count:
    """The requests of one caller that were not yet taken from the bucket, and until when new ones are refused."""

    def __init__(self) -> None:
        self.unpaid = 0
        self.paying = asyncio.Lock()
        self.refused_until = 0.0
        self.why = ""

    def refuse(self, now: float) -> None:
        """Refuse from memory what the bucket would refuse, so that further requests cost no more writes."""
        if now < self.refused_until:
            raise RateLimited(self.why, retry_after=self.refused_until - now)


class CallerLimiter:
    """Limits the requests of callers to one service. All calls must be made in one event loop."""

    def __init__(
        self,
        limits: RateLimits[Any],
        session: AsyncSession,
        *,
        max_callers: int = MAX_CALLERS,
        processes: int = 1,
    ) -> None:
        self._limits = limits
        self._session = session
        self._block = max(1, limits.rate.burst // (BLOCKS * processes))
        self._max_callers = max_callers
        self._counts: dict[str, _Count] = {}

    async def admit(self, caller: str) -> None:
        """Count a request.

        Raises:
            RateLimited: the caller has sent too many requests.
        """
        count = self._count_of(caller)
        count.refuse(self._session.context.clock())
        count.unpaid += 1
        if count.unpaid < self._block:
            return
        try:
            await self._pay(caller, count)
        except BaseException:
            count.unpaid -= 1  # this request is refused; those before it were admitted
            raise

    async def _pay(self, caller: str, count: _Count) -> None:
        """Take a block from the bucket. Concurrent requests wait, and continue if the block covers them too."""
        async with count.paying:
            if count.unpaid < self._block:
                return
            count.refuse(self._session.context.clock())
            try:
                await self._session.run(self._limits.take(caller, self._block))
            except RateLimited as refused:
                count.why = refused.message
                count.refused_until = self._session.context.clock() + refused.retry_after
                raise
            count.unpaid -= self._block

    def _count_of(self, caller: str) -> _Count:
        """The count of a caller, which becomes the most recently used one."""
        count = self._counts.pop(caller, None) or _Count()
        if len(self._counts) >= self._max_callers:
            del self._counts[next(iter(self._counts))]
        self._counts[caller] = count
        return count
