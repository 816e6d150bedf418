"""Live figures: what the projection says of an event or a request, once or as server-sent events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from pydantic import BaseModel

from partita.http import LagView
from partita.runtime import Clock
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.model import Request
from partita_services.events.reading import EventFound
from partita_services.events.responses import Figures, Throughput, WaitingRequest
from partita_services.events.terms import OPEN, EventType

M = TypeVar("M", bound=BaseModel)

PACE: Final = timedelta(seconds=5)
SHOWN: Final = timedelta(seconds=60)
EVERY_SECONDS: Final = 0.5
SHARED_SECONDS: Final = 0.4
"""Less than the time between two looks of one watcher, who else would see the same twice."""
SILENT_LOOKS: Final = 30
"""After so many looks without news a comment is sent, so that no proxy on the way closes the connection."""
MEDIA_TYPE: Final = "text/event-stream"
_CLOCK: Final = {"at"}
"""When somebody looked, which is not news."""


def figures(found: EventFound, projection: RequestProjection, lag: LagView, now: datetime) -> Figures:
    """How an event is doing."""
    event_id = found.event.event_id
    counts = projection.counts(event_id)
    oldest = projection.oldest_waiting(event_id)
    return Figures(
        event_id=event_id,
        at=now,
        counts=counts,
        requests=sum(counts.values()),
        backlog=sum(counts[status] for status in OPEN),
        backlog_seconds=0.0 if oldest is None else max(0.0, (now - oldest).total_seconds()),
        decided_per_second=pace(projection, event_id, now),
        capacity_total=found.seats.total,
        capacity_remaining=found.seats.remaining,
        seconds=tuple(
            Throughput(second=second.second, decided=second.decided)
            for second in projection.seconds(event_id, now - SHOWN)
        ),
        lag=lag,
    )


def pace(projection: RequestProjection, event_id: str, now: datetime) -> float:
    """How many requests were decided a second, over the last seconds that are complete."""
    since = now.replace(microsecond=0) - PACE
    decided = sum(s.decided for s in projection.seconds(event_id, since) if s.second < since + PACE)
    return decided / PACE.total_seconds()


def waiting(
    request: Request,
    stored_at: datetime,
    projection: RequestProjection | None,
    now: datetime,
    viewer: str | None = None,
) -> WaitingRequest:
    """A request, and where it is in the queue; only in first come is that a matter of waiting.

    `stored_at` is its `queued_at` as it is stored, by which the projection has it.
    """
    view = WaitingRequest.of(request, is_own=viewer == request.user_id)
    if projection is None or request.status not in OPEN or request.event_type is EventType.LOTTERY:
        return view
    position = max(1, projection.position(request.event_id, stored_at, request.request_id))
    speed = pace(projection, request.event_id, now)
    estimate = round(position / speed, 1) if speed else None
    return view.model_copy(update={"position": position, "estimated_seconds": estimate})


class SharedLook(Generic[M]):
    """One look for all who watch the same: who asks within a part of a second gets what another has seen."""

    def __init__(self, look: Callable[[], Awaitable[M]], clock: Clock) -> None:
        self._look = look
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()
        self._seen: tuple[float, M] | None = None

    async def __call__(self) -> M:
        """What is seen now, or was a part of a second ago."""
        async with self._one_at_a_time:
            now = self._clock()
            if self._seen is None or not 0 <= now - self._seen[0] < SHARED_SECONDS:
                self._seen = now, await self._look()
            return self._seen[1]


async def news(
    look: Callable[[], Awaitable[M]],
    is_last: Callable[[M], bool],
    is_valid: Callable[[], Awaitable[bool]],
    stopping: threading.Event,
) -> AsyncIterator[str]:
    """Server-sent events: what is seen now, and whenever more than the time of it is different.

    They end with the last of it, with the token of who asked, or with the server.
    """
    shown, silent = "", 0
    while not stopping.is_set() and await is_valid():
        seen = await look()
        text = seen.model_dump_json(exclude=_CLOCK)
        silent += 1
        if text != shown:
            shown, silent = text, 0
            yield f"data: {seen.model_dump_json(by_alias=True)}\n\n"
        elif silent >= SILENT_LOOKS:
            silent = 0
            yield ": still here\n\n"
        if is_last(seen):
            return
        await asyncio.sleep(EVERY_SECONDS)
