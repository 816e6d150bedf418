"""The events API: from HTTP to the handlers and back."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Response
from fastapi import Request as HttpRequest
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import Field

from partita import AsyncSession, Procedure
from partita.errors import AlreadyExists
from partita.http import (
    REPLAYED,
    Behind,
    Caller,
    CurrentCaller,
    Db,
    IdempotencyKey,
    Once,
    Paging,
    ProjectedState,
    Refusal,
    Role,
    describe_problems,
    once_by,
    operators_only,
)
from partita.model import instant_text
from partita.recipes.idempotency import Plan, StoredResponse
from partita.service import Projected
from partita_services.events import draw, handlers, live
from partita_services.events.answers import (
    DrawAnswer,
    EventAnswer,
    Events,
    Figures,
    Log,
    RequestAnswer,
    Requests,
    WaitingRequest,
    csv_lines,
)
from partita_services.events.cancelling import cancel
from partita_services.events.handlers import Application, EventDraft
from partita_services.events.model import (
    COMMANDS,
    Event,
    requests_of_event,
    requests_of_user,
)
from partita_services.events.projection import RequestProjection
from partita_services.events.queueing import Desk
from partita_services.events.reading import EventFound
from partita_services.events.reading import show_event as find_event
from partita_services.events.reading import show_request as find_request
from partita_services.events.terms import OPEN, instant

ROUTER: Final = APIRouter()
OPERATORS: Final = Depends(operators_only)
CSV_PAGE: Final = 1_000

_IDENTIFIER: Final = "01K9ZQ3V7M2Y8R4C6T1XWNB5HD"
EventId = Annotated[str, Path(max_length=64, examples=[_IDENTIFIER])]
RequestId = Annotated[str, Path(max_length=64, examples=[_IDENTIFIER])]
_ONCE: Final = once_by(COMMANDS)
OnceByCaller = Annotated[Once, Depends(_ONCE)]
Pages = Annotated[Paging, Query()]
_ONE_EVENT: Final = {
    "type": "object",
    "properties": {"data": {"type": "string", "contentMediaType": "application/json"}},
    "required": ["data"],
}
STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Server-sent events; the data of each is JSON, as the route without `/stream` answers it.",
        "content": {live.MEDIA_TYPE: {"schema": _ONE_EVENT}},
    }
}


class MyRequests(Paging):
    """Which page of the caller's requests, and in which order."""

    order: Literal["queue", "newest"] = Field(default="queue", description="as in the queue, or the newest first")


async def _now(db: Db) -> datetime:
    return instant(db.context.clock())


def _desk_of(app: FastAPI) -> Desk:
    """The one desk of this server, which is made for the first request."""
    if not hasattr(app.state, "desk"):
        app.state.desk = Desk(app.state.session, app.state.resources)
    desk: Desk = app.state.desk
    return desk


async def _desk(request: HttpRequest) -> Desk:
    return _desk_of(request.app)


async def _figured(request: HttpRequest) -> RequestProjection | None:
    """The figures, where this server keeps them up."""
    projected: Projected | None = request.app.state.projected
    return projected.sink if projected is not None else None


Figured = Annotated[RequestProjection | None, Depends(_figured)]
Now = Annotated[datetime, Depends(_now)]
Counter = Annotated[Desk, Depends(_desk)]


@ROUTER.post(
    "/events",
    status_code=201,
    response_model=EventAnswer,
    dependencies=[OPERATORS],
    responses=describe_problems(403, 409),
)
async def create_event(once: OnceByCaller, now: Now, draft: EventDraft, request: HttpRequest) -> Response:
    """Create an event. A lottery publishes the hash of the seed that its draw will use."""
    root = request.scope["root_path"]

    def created(found: EventFound) -> StoredResponse:
        location = {"Location": f"{root}/events/{found.event.event_id}"}
        return StoredResponse.of(EventAnswer.of(found, now), status=201, headers=location)

    return await once(handlers.open_event(draft, now, secrets.token_bytes(32)), created)


@ROUTER.get("/events", responses=describe_problems(400))
async def list_events(caller: CurrentCaller, db: Db, now: Now, paging: Pages) -> Events:  # noqa: ARG001 - 401
    """All events, those that open last first."""
    page = await db.run(handlers.list_events(paging.limit, paging.cursor))
    return Events(items=tuple(EventAnswer.of(found, now) for found in page), next_cursor=page.next_cursor)


@ROUTER.get("/events/{event_id}", responses=describe_problems(404))
async def show_event(caller: CurrentCaller, db: Db, now: Now, event_id: EventId) -> EventAnswer:  # noqa: ARG001 - 401
    """One event with its seats."""
    return EventAnswer.of(await db.run(find_event(event_id)), now)


@ROUTER.get("/events/{event_id}/figures", responses=describe_problems(404))
async def show_figures(
    caller: CurrentCaller,  # noqa: ARG001 - 401
    db: Db,
    now: Now,
    projected: ProjectedState,
    event_id: EventId,
) -> Figures:
    """How many requests an event has in each status, how long they wait, and how many are decided a second."""
    found = await db.run(find_event(event_id))
    behind = await Behind.now(projected)
    return await run_in_threadpool(live.figures, found, projected.sink, behind, now)


@ROUTER.get(
    "/events/{event_id}/figures/stream",
    response_class=StreamingResponse,
    responses={**STREAM, **describe_problems(404)},
)
async def stream_figures(
    request: HttpRequest, caller: CurrentCaller, db: Db, projected: ProjectedState, event_id: EventId
) -> StreamingResponse:
    """The figures of an event as server-sent events, whenever they change."""

    async def look() -> Figures:
        return await show_figures(caller, db, instant(db.context.clock()), projected, event_id)

    await look()  # what is missing is told before the stream begins
    return _streamed(live.news(look, lambda _: False, request.app.state.stopping))


@ROUTER.post(
    "/events/{event_id}/requests",
    status_code=202,
    response_model=RequestAnswer,
    responses={
        200: {"model": RequestAnswer, "description": "The request that the caller has already."},
        **describe_problems(404, 409),
    },
)
async def apply(
    request: HttpRequest, caller: CurrentCaller, event_id: EventId, idempotency_key: IdempotencyKey = None
) -> Response:
    """Apply for an event. Who has applied already gets the same request again, also when it is closed."""
    # All applicants of an event come at once. What this route needs it takes from the app itself: to have it handed
    # over by FastAPI would take longer than the transaction.
    db: AsyncSession = request.app.state.session
    desk = _desk_of(request.app)
    event, now = await desk.event(event_id), instant(db.context.clock())
    root = request.scope["root_path"]

    def answered(application: Application) -> StoredResponse:
        applied = application.request
        location = {"Location": f"{root}/requests/{applied.request_id}"}
        return StoredResponse.of(RequestAnswer.of(applied), status=202 if application.is_new else 200, headers=location)

    if idempotency_key is not None:
        once = await _ONCE(request, db, caller, idempotency_key)
        plans = (_while_open(event, now, plan) for plan in handlers.applications(event, caller.user_id, now))
        return await _apply_once(once, plans, answered, desk)
    application = await db.run(_applied(event, caller.user_id, now))
    if application.is_new:
        await desk.hand_over(application.request)
    answer = answered(application)
    return Response(answer.body, answer.status, dict(answer.headers), "application/json")


def _applied(event: Event, user_id: str, now: datetime) -> Procedure[Application]:
    """The user's request. An earlier one is looked for when the event is closed; before, the write finds it."""
    earlier = None if now < event.closes_at else (yield from handlers.earlier_application(event, user_id))
    if earlier is not None:
        return earlier
    _check_open(event, now)
    return (yield from handlers.apply(event, user_id, now))


def _while_open(event: Event, now: datetime, plan: Procedure[Plan[Application]]) -> Procedure[Plan[Application]]:
    """The same plan; a new request is refused unless the event is open. What is remembered is answered without it."""
    planned = yield from plan
    if planned.result.is_new:
        _check_open(event, now)
    return planned


async def _apply_once(
    once: Once,
    plans: Iterator[Procedure[Plan[Application]]],
    answered: Callable[[Application], StoredResponse],
    desk: Desk,
) -> Response:
    """The same for a call that is remembered: what is answered and what is written are one transaction."""
    made: list[Application] = []

    def noting(application: Application) -> StoredResponse:
        made.append(application)
        return answered(application)

    for plan in plans:
        with suppress(AlreadyExists):  # the user's other call was first, and its request is found the next time
            response = await once(plan, noting)
            if REPLAYED not in response.headers and made[-1].is_new:
                await desk.hand_over(made[-1].request)
            return response
    raise Refusal(409, "already_exists", "Another call of yours was always first.", hint="Try again.")


@ROUTER.get("/events/{event_id}/requests", dependencies=[OPERATORS], responses=describe_problems(400, 403, 404))
async def list_requests(db: Db, desk: Counter, event_id: EventId, paging: Pages) -> Requests:
    """An event's requests that have their place, in queue order."""
    await desk.event(event_id)
    page = await db.run(requests_of_event(event_id).page(paging.limit, after=paging.cursor))
    return Requests.of(page, page.next_cursor)


@ROUTER.get(
    "/events/{event_id}/requests.csv",
    dependencies=[OPERATORS],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}, **describe_problems(403, 404)},
)
async def export_requests(db: Db, desk: Counter, event_id: EventId) -> StreamingResponse:
    """An event's requests that have their place, in queue order, as a table."""
    await desk.event(event_id)

    async def lines() -> AsyncIterator[str]:
        cursor, is_first = None, True
        while is_first or cursor is not None:
            page = await db.run(requests_of_event(event_id).page(CSV_PAGE, after=cursor))
            yield csv_lines(page, with_header=is_first)
            cursor, is_first = page.next_cursor, False

    headers = {"Content-Disposition": f'attachment; filename="requests-{event_id}.csv"'}
    return StreamingResponse(lines(), headers=headers, media_type="text/csv")


@ROUTER.get("/requests/{request_id}", responses=describe_problems(404))
async def show_request(
    caller: CurrentCaller, db: Db, now: Now, projection: Figured, request_id: RequestId
) -> WaitingRequest:
    """One request, and where it is in the queue. For its user and for operators."""
    found = await db.run(find_request(request_id, _reader(caller)))
    return await run_in_threadpool(live.waiting, found, projection, now)


@ROUTER.get(
    "/requests/{request_id}/stream",
    response_class=StreamingResponse,
    responses={**STREAM, **describe_problems(404)},
)
async def stream_request(
    request: HttpRequest, caller: CurrentCaller, db: Db, projection: Figured, request_id: RequestId
) -> StreamingResponse:
    """A request as server-sent events, whenever it changes, until it is decided."""
    known = await db.run(find_request(request_id, _reader(caller)))

    async def look() -> WaitingRequest:
        """The table is read only when the request is heard of to have changed: many may be waiting."""
        nonlocal known
        heard = await run_in_threadpool(projection.status, request_id) if projection else None
        if projection is None or heard not in (None, known.status):
            known = await db.run(find_request(request_id, _reader(caller)))
        return await run_in_threadpool(live.waiting, known, projection, instant(db.context.clock()))

    return _streamed(live.news(look, lambda seen: seen.status not in OPEN, request.app.state.stopping))


@ROUTER.get("/requests/{request_id}/log", responses=describe_problems(404))
async def show_log(caller: CurrentCaller, db: Db, request_id: RequestId) -> Log:
    """The steps of a request, in order, where its event keeps a log."""
    return Log.of(await db.run(handlers.show_log(request_id, _reader(caller))))


@ROUTER.delete("/requests/{request_id}", responses=describe_problems(404, 409))
async def cancel_request(caller: CurrentCaller, db: Db, now: Now, request_id: RequestId) -> RequestAnswer:
    """Cancel a request: the caller may apply again, and a seat that it had is free."""
    return RequestAnswer.of(await db.run(cancel(request_id, _reader(caller), now)))


@ROUTER.post("/events/{event_id}/draw", dependencies=[OPERATORS], responses=describe_problems(403, 404, 409))
async def hold_draw(db: Db, now: Now, event_id: EventId) -> DrawAnswer:
    """Hold the draw of a lottery that is closed. Held again, it is the same."""
    return DrawAnswer.of(await db.run(draw.hold_draw(event_id, now)))


@ROUTER.get("/events/{event_id}/draw", responses=describe_problems(404, 409))
async def show_draw(caller: CurrentCaller, db: Db, event_id: EventId) -> DrawAnswer:  # noqa: ARG001 - 401
    """The draw of a lottery, with all that is needed to verify it once it is held."""
    return DrawAnswer.of(await db.run(draw.show_draw(event_id)))


@ROUTER.get("/me/requests", responses=describe_problems(400))
async def list_my_requests(caller: CurrentCaller, db: Db, wanted: Annotated[MyRequests, Query()]) -> Requests:
    """The caller's requests in queue order."""
    mine = requests_of_user(caller.user_id)
    mine = mine.reversed() if wanted.order == "newest" else mine
    page = await db.run(mine.page(wanted.limit, after=wanted.cursor))
    return Requests.of(page, page.next_cursor)


def _reader(caller: Caller) -> str | None:
    return None if caller.role is Role.OPERATOR else caller.user_id


def _check_open(event: Event, now: datetime) -> None:
    if event.opens_at <= now < event.closes_at:
        return
    code, detail = ("not_open_yet", "not open yet") if now < event.opens_at else ("closed", "closed")
    times = {"opensAt": instant_text(event.opens_at), "closesAt": instant_text(event.closes_at)}
    raise Refusal(409, code, f"The event is {detail}.", members=times)


def _streamed(news: AsyncIterator[str]) -> StreamingResponse:
    return StreamingResponse(news, media_type=live.MEDIA_TYPE, headers={"Cache-Control": "no-store"})
