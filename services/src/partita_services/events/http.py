"""The events API: from HTTP to the handlers and back."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from weakref import WeakValueDictionary

from fastapi import APIRouter, Depends, Path, Query, Response
from fastapi import Request as HttpRequest
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import Field

from partita import Procedure
from partita.errors import PartitaError
from partita.http import (
    Caller,
    CurrentCaller,
    CurrentProjection,
    CurrentState,
    Db,
    FieldProblem,
    HttpProblem,
    IdempotencyKey,
    LagView,
    Once,
    Paging,
    Role,
    ServiceState,
    TokenCheck,
    add_personal_routes,
    describe_problems,
    once_by,
    operators_only,
    response_of,
    state_of,
)
from partita.model import instant_text
from partita.recipes.idempotency import CommandOutcome, Plan, StoredResponse
from partita.recipes.outbox import forward_async
from partita_services.events import handlers
from partita_services.events.cancelling import cancel
from partita_services.events.changes.drafts import EventDraft, EventEdit, InvalidEvent
from partita_services.events.changes.editing import edit
from partita_services.events.changes.event_cancelling import Cancellation, cancel_whole_event
from partita_services.events.changes.model import NOTICES
from partita_services.events.draws import draw
from partita_services.events.figures import live
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.handlers import Application, Closed, EventCancelled, NotOpenYet
from partita_services.events.model import COMMANDS, Event, requests_of_event, requests_of_user
from partita_services.events.personal import PERSONAL
from partita_services.events.queueing.sender import QueueSender
from partita_services.events.queueing.tools import Tools
from partita_services.events.reading import EventFound
from partita_services.events.reading import show_event as find_event
from partita_services.events.reading import show_request as find_request
from partita_services.events.responses import (
    DrawEntropy,
    DrawView,
    Events,
    EventView,
    Figures,
    Log,
    Requests,
    RequestView,
    WaitingRequest,
    csv_lines,
)
from partita_services.events.terms import OPEN, Reason, instant

ROUTER: Final = APIRouter()
add_personal_routes(ROUTER, PERSONAL, "events")
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
        "description": "Server-sent events; the data of each is JSON, as the response of the route without `/stream`.",
        "content": {live.MEDIA_TYPE: {"schema": _ONE_EVENT}},
    }
}


class MyRequests(Paging):
    """Which page of the caller's requests, and in which order."""

    order: Literal["queue", "newest"] = Field(default="queue", description="as in the queue, or the newest first")


async def _now(db: Db) -> datetime:
    return instant(db.context.clock())


def _sender(state: ServiceState[Tools]) -> QueueSender:
    return QueueSender(state.session, state.resources.queue)


def _watched(state: ServiceState[Tools]) -> WeakValueDictionary[str, live.SharedLook[Figures]]:  # noqa: ARG001 - one for each state
    """The events whose figures somebody watches."""
    return WeakValueDictionary()


async def _current_sender(state: CurrentState[Tools]) -> QueueSender:
    return state.singleton(_sender)


async def _projection_if_open(state: CurrentState[Tools]) -> RequestProjection | None:
    """The projection, where this server keeps it up to date."""
    return None if state.projection is None else state.projection.sink


Now = Annotated[datetime, Depends(_now)]
Sender = Annotated[QueueSender, Depends(_current_sender)]
OptionalProjection = Annotated[RequestProjection | None, Depends(_projection_if_open)]


@ROUTER.post(
    "/events",
    status_code=201,
    response_model=EventView,
    dependencies=[OPERATORS],
    responses=describe_problems(403, 409),
)
async def create_event(once: OnceByCaller, now: Now, draft: EventDraft, request: HttpRequest) -> Response:
    """Create an event. A lottery publishes the hash of the seed that its draw will use."""
    root = request.scope["root_path"]

    def created(found: EventFound) -> StoredResponse:
        location = {"Location": f"{root}/events/{found.event.event_id}"}
        return StoredResponse.of(EventView.of(found, now), status=201, headers=location)

    with _valid_event():
        plan = handlers.open_event(draft, now, secrets.token_bytes(32))
    return await once(plan, created)


@ROUTER.get("/events", responses=describe_problems(400))
async def list_events(caller: CurrentCaller, db: Db, now: Now, paging: Pages) -> Events:  # noqa: ARG001 - 401
    """All events, those that open last first."""
    page = await db.run(handlers.list_events(paging.limit, paging.cursor))
    return Events(items=tuple(EventView.of(found, now) for found in page), next_cursor=page.next_cursor)


@ROUTER.get("/events/{event_id}", responses=describe_problems(404))
async def show_event(caller: CurrentCaller, db: Db, now: Now, event_id: EventId) -> EventView:  # noqa: ARG001 - 401
    """One event with its seats."""
    return EventView.of(await db.run(find_event(event_id)), now)


@ROUTER.patch("/events/{event_id}", dependencies=[OPERATORS], responses=describe_problems(403, 404, 409))
async def edit_event(db: Db, now: Now, sender: Sender, event_id: EventId, change: EventEdit) -> EventView:
    """Edit an event, within rules that take nothing from those who have applied. Seats are added to who waits."""
    with _valid_event():
        found = await db.run(edit(event_id, change, now))
    sender.forget(event_id)
    return EventView.of(found, now)


@ROUTER.post("/events/{event_id}/cancel", dependencies=[OPERATORS], responses=describe_problems(403, 404, 409))
async def cancel_event(db: Db, now: Now, sender: Sender, event_id: EventId, why: Cancellation) -> EventView:
    """Cancel an event: nobody gets a seat any more, and workers tell everybody who applied."""
    found = await db.run(cancel_whole_event(event_id, why.reason, now))
    sender.forget(event_id)
    return EventView.of(found, now)


@ROUTER.get("/events/{event_id}/figures", responses=describe_problems(404))
async def show_figures(
    caller: CurrentCaller,  # noqa: ARG001 - 401
    db: Db,
    now: Now,
    projection: CurrentProjection[RequestProjection],
    event_id: EventId,
) -> Figures:
    """How many requests an event has in each status, how long they wait, and how many are decided a second."""
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
    """The figures of an event as server-sent events, whenever they change. They end with the token."""

    async def look() -> Figures:
        return await show_figures(caller, db, instant(db.context.clock()), projection, event_id)

    # Kept while somebody watches: all watchers of an event share it.
    shared = state.singleton(_watched).setdefault(event_id, live.SharedLook(look, db.context.clock))
    await shared()  # an event that does not exist is a 404, and not a stream
    return _streamed(live.news(shared, lambda _: False, is_valid, state.stopping))


@ROUTER.post(
    "/events/{event_id}/requests",
    status_code=202,
    response_model=RequestView,
    responses={
        200: {"model": RequestView, "description": "The request that the caller has already."},
        **describe_problems(404, 409),
    },
)
async def apply(
    request: HttpRequest, caller: CurrentCaller, event_id: EventId, idempotency_key: IdempotencyKey = None
) -> Response:
    """Apply for an event. Who has applied already gets the same request again, also when it is closed."""
    # All applicants of an event come at once. What this route needs it takes from the state itself: to have it handed
    # over by FastAPI would take longer than the transaction.
    state: ServiceState[Tools] = state_of(request)
    db, sender, root = state.session, state.singleton(_sender), request.scope["root_path"]
    event, now = await sender.event(event_id), instant(db.context.clock())
    once = await _ONCE(request, db, caller, idempotency_key)

    def respond(application: Application) -> StoredResponse:
        applied = application.request
        location = {"Location": f"{root}/requests/{applied.request_id}"}
        return StoredResponse.of(RequestView.of(applied), status=202 if application.is_new else 200, headers=location)

    def commit(plan: Plan[Application] | Procedure[Plan[Application]]) -> Procedure[CommandOutcome[Application]]:
        return once.command(plan, respond)

    with _opening_hours():
        outcome = await db.run(handlers.apply(event, caller.user_id, now, commit))
    if outcome.result is not None and outcome.result.is_new:
        await sender.hand_over(outcome.result.request)
    return response_of(outcome)


@ROUTER.get("/events/{event_id}/requests", dependencies=[OPERATORS], responses=describe_problems(400, 403, 404))
async def list_requests(db: Db, sender: Sender, event_id: EventId, paging: Pages) -> Requests:
    """An event's requests that have their place, in queue order."""
    await sender.event(event_id)
    page = await db.run(requests_of_event(event_id).page(paging.limit, after=paging.cursor))
    return Requests.of(page, page.next_cursor)


@ROUTER.get(
    "/events/{event_id}/requests.csv",
    dependencies=[OPERATORS],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}, **describe_problems(403, 404)},
)
async def export_requests(db: Db, sender: Sender, event_id: EventId) -> StreamingResponse:
    """An event's requests that have their place, in queue order, as a table."""
    await sender.event(event_id)

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
    caller: CurrentCaller, db: Db, now: Now, projection: OptionalProjection, request_id: RequestId
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
    state: CurrentState[Tools],
    caller: CurrentCaller,
    db: Db,
    projection: OptionalProjection,
    request_id: RequestId,
    is_valid: TokenCheck,
) -> StreamingResponse:
    """A request as server-sent events, whenever it changes, until it is decided and waits for nothing.

    They end with the token.
    """
    known = await db.run(find_request(request_id, _reader(caller)))

    async def look() -> WaitingRequest:
        """The table is read only when the projection says that the request has changed: many may be waiting."""
        nonlocal known
        heard = await run_in_threadpool(projection.status, request_id) if projection else None
        if projection is None or heard not in (None, known.status):
            known = await db.run(find_request(request_id, _reader(caller)))
        return await run_in_threadpool(live.waiting, known, projection, instant(db.context.clock()))

    return _streamed(live.news(look, _is_final, is_valid, state.stopping))


@ROUTER.get("/requests/{request_id}/log", responses=describe_problems(404))
async def show_log(caller: CurrentCaller, db: Db, request_id: RequestId) -> Log:
    """The steps of a request, in order, where its event keeps a log."""
    return Log.of(await db.run(handlers.show_log(request_id, _reader(caller))))


@ROUTER.delete("/requests/{request_id}", responses=describe_problems(404, 409))
async def cancel_request(
    state: CurrentState[Tools], caller: CurrentCaller, db: Db, now: Now, request_id: RequestId
) -> RequestView:
    """Cancel a request: the caller may apply again, and a seat that it had goes to the first who waits."""
    cancelled = await db.run(cancel(request_id, _reader(caller), now))
    with suppress(PartitaError):  # a worker forwards what is left
        await forward_async(NOTICES, db, state.resources.notices)
    return RequestView.of(cancelled)


@ROUTER.post("/events/{event_id}/draw", dependencies=[OPERATORS], responses=describe_problems(403, 404, 409))
async def hold_draw(db: Db, now: Now, event_id: EventId, outside: DrawEntropy | None = None) -> DrawView:
    """Hold the draw of a lottery that is closed. Held again, it is the same.

    A lottery with a source of entropy freezes its entries, and draws when it is given the value.
    """
    entropy = None if outside is None else outside.entropy
    return DrawView.of(await db.run(draw.hold_draw(event_id, now, entropy)))


@ROUTER.get("/events/{event_id}/draw", responses=describe_problems(404, 409))
async def show_draw(caller: CurrentCaller, db: Db, event_id: EventId) -> DrawView:  # noqa: ARG001 - 401
    """The draw of a lottery, with all that is needed to verify it once it is held."""
    return DrawView.of(await db.run(draw.show_draw(event_id)))


@ROUTER.get("/me/requests", responses=describe_problems(400))
async def list_my_requests(caller: CurrentCaller, db: Db, wanted: Annotated[MyRequests, Query()]) -> Requests:
    """The caller's requests in queue order."""
    mine = requests_of_user(caller.user_id)
    mine = mine.reversed() if wanted.order == "newest" else mine
    page = await db.run(mine.page(wanted.limit, after=wanted.cursor))
    return Requests.of(page, page.next_cursor)


def _reader(caller: Caller) -> str | None:
    return None if caller.role is Role.OPERATOR else caller.user_id


def _is_final(seen: WaitingRequest) -> bool:
    """Whether nothing is left to wait for: those on a waiting list may still get a seat."""
    return seen.status not in OPEN and seen.error_code != Reason.WAITING_LIST


@contextmanager
def _valid_event() -> Iterator[None]:
    """An event that cannot be is a problem of its field."""
    try:
        yield
    except InvalidEvent as invalid:
        problem = FieldProblem(location="body", field=invalid.field, message=invalid.message)
        detail = f"{invalid.field}: {invalid.message}"
        raise HttpProblem(422, "invalid_request", detail, members={"errors": [problem]}) from invalid


@contextmanager
def _opening_hours() -> Iterator[None]:
    """The problem of a request outside of the opening hours says when these are."""
    try:
        yield
    except (NotOpenYet, Closed, EventCancelled) as refused:
        event: Event = refused.current
        hours = {"opensAt": instant_text(event.opens_at), "closesAt": instant_text(event.closes_at)}
        raise HttpProblem(409, refused.code, refused.message, members=hours) from refused


def _streamed(news: AsyncIterator[str]) -> StreamingResponse:
    return StreamingResponse(news, media_type=live.MEDIA_TYPE, headers={"Cache-Control": "no-store"})
