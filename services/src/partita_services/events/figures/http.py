"""The routes of figures and of waiting requests: their current state, and streams of their changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final
from weakref import WeakValueDictionary

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from partita.http import (
    CurrentCaller,
    CurrentProjection,
    CurrentState,
    Db,
    LagView,
    ServiceState,
    TokenCheck,
    describe_problems,
)
from partita_services.events.dependencies import EventId, Now, OptionalProjection, RequestId, reader
from partita_services.events.figures import live
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.queueing.batches import as_queued
from partita_services.events.queueing.tools import Tools
from partita_services.events.reading import show_event as find_event
from partita_services.events.reading import show_request as find_request
from partita_services.events.responses import Figures, WaitingRequest
from partita_services.events.terms import OPEN, Reason, instant

ROUTER: Final = APIRouter()
_ONE_EVENT: Final = {
    "type": "object",
    "properties": {"data": {"type": "string", "contentMediaType": "application/json"}},
    "required": ["data"],
}
STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Server-sent events; the data of each is the JSON response of the route without `/stream`.",
        "content": {live.MEDIA_TYPE: {"schema": _ONE_EVENT}},
    }
}


def _watched(state: ServiceState[Tools]) -> WeakValueDictionary[str, live.SharedLook[Figures]]:  # noqa: ARG001 - one for each state
    """The events whose figures somebody watches."""
    return WeakValueDictionary()


@ROUTER.get("/events/{event_id}/figures", responses=describe_problems(404))
async def show_figures(
    caller: CurrentCaller,  # noqa: ARG001 - 401
    db: Db,
    now: Now,
    projection: CurrentProjection[RequestProjection],
    event_id: EventId,
) -> Figures:
    """How many requests an event has in each status, how long they wait, and how many are decided per second."""
    found = await db.run(find_event(event_id))
    lag = await LagView.of(projection)
    return await run_in_threadpool(live.figures, found, projection.sink, lag, now)


@ROUTER.get(
    "/events/{event_id}/figures/stream",
    response_class=StreamingResponse,
    responses={**STREAM, **describe_problems(404)},
)
async def stream_figures(
    state: CurrentState[Tools],
    caller: CurrentCaller,
    db: Db,
    projection: CurrentProjection[RequestProjection],
    event_id: EventId,
    is_valid: TokenCheck,
) -> StreamingResponse:
    """The figures of an event as server-sent events, whenever they change, until the token expires."""

    async def look() -> Figures:
        return await show_figures(caller, db, instant(db.context.clock()), projection, event_id)

    # Kept while somebody watches: all watchers of an event share it.
    shared = state.singleton(_watched).setdefault(event_id, live.SharedLook(look, db.context.clock))
    await shared()  # an event that does not exist is a 404, not a stream
    return _streamed(live.news(shared, lambda _: False, is_valid, state.stopping))


@ROUTER.get("/requests/{request_id}", responses=describe_problems(404))
async def show_request(
    caller: CurrentCaller, db: Db, now: Now, projection: OptionalProjection, request_id: RequestId
) -> WaitingRequest:
    """One request, with its place in the queue. For its user and for operators."""
    found = await db.run(find_request(request_id, reader(caller)))
    [shown] = await db.run(as_queued([found]))
    return await run_in_threadpool(live.waiting, shown, found.queued_at, projection, now, caller.user_id)


@ROUTER.get(
    "/requests/{request_id}/stream",
    response_class=StreamingResponse,
    responses={**STREAM, **describe_problems(404)},
)
async def stream_request(
    state: CurrentState[Tools],
    caller: CurrentCaller,
    db: Db,
    projection: OptionalProjection,
    request_id: RequestId,
    is_valid: TokenCheck,
) -> StreamingResponse:
    """A request as server-sent events, whenever it changes, until it is decided and not on a waiting list.

    The stream also ends when the token expires.
    """
    known = await db.run(find_request(request_id, reader(caller)))
    [shown] = await db.run(as_queued([known]))

    async def look() -> WaitingRequest:
        """Read the table only if the projection shows that the request has changed, because many may be waiting."""
        nonlocal known, shown
        heard = await run_in_threadpool(projection.status, request_id) if projection else None
        if projection is None or heard not in (None, shown.status):
            known = await db.run(find_request(request_id, reader(caller)))
            [shown] = await db.run(as_queued([known]))
        now = instant(db.context.clock())
        return await run_in_threadpool(live.waiting, shown, known.queued_at, projection, now, caller.user_id)

    return _streamed(live.news(look, _is_final, is_valid, state.stopping))


def _is_final(seen: WaitingRequest) -> bool:
    """Whether the request is final; one on a waiting list may still get a seat."""
    return seen.status not in OPEN and seen.error_code != Reason.WAITING_LIST


def _streamed(news: AsyncIterator[str]) -> StreamingResponse:
    return StreamingResponse(news, media_type=live.MEDIA_TYPE, headers={"Cache-Control": "no-store"})
