"""Live figures: the state of an event or a request in the projection, once or as server-sent events."""

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
"""Less than the time between two looks of one watcher, who would otherwise see the same result twice."""
SILENT_LOOKS: Final = 30
"""After so many looks without news a comment is sent, so that no proxy closes the connection."""
MEDIA_TYPE: Final = "text/event-stream"
_CLOCK: Final = {"at"}
"""The time of a look, whose change is not news."""


def figures(found: EventFound, projection: RequestProjection, lag: LagView, now: datetime) -> Figures:
    """The figures of an event."""
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
    """How many requests were decided per second, over the last complete seconds."""
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
    """A request; while a first-come request is undecided, with its place in the queue.

    `stored_at` is the stored `queued_at` of the request, by which the projection orders it.
    """
    view = WaitingRequest.of(request, is_own=viewer == request.user_id)
    if projection is None or request.status not in OPEN or request.event_type is EventType.LOTTERY:
        return view
    position = max(1, projection.position(request.event_id, stored_at, request.request_id))
    speed = pace(projection, request.event_id, now)
    estimate = round(position / speed, 1) if speed else None
    return view.model_copy(update={"position": position, "estimated_seconds": estimate})


class SharedLook(Generic[M]):
    """One look for all who watch the same: a call within a fraction of a second gets the result of an earlier one."""

    def __init__(self, look: Callable[[], Awaitable[M]], clock: Clock) -> None:
        self._look = look
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()
        self._seen: tuple[float, M] | None = None

    async def __call__(self) -> M:
        """Return the current state, or the state of a fraction of a second ago."""
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
    """Yield server-sent events: the current state, and each state that differs in more than its time.

    They end after the last state, when the caller's token expires, or when the server stops.
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
