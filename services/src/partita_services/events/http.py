"""The HTTP routes of the events API. Its parts have routes of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Query, Response
from fastapi import Request as HttpRequest
from fastapi.responses import StreamingResponse
from pydantic import Field

from partita.errors import PartitaError
from partita.http import (
    CurrentCaller,
    CurrentState,
    Db,
    HttpProblem,
    IdempotencyKey,
    Paging,
    ServiceState,
    add_personal_routes,
    describe_problems,
    known_parameters,
    once_by,
    response_of,
    state_of,
)
from partita.model import instant_text
from partita.recipes.idempotency import CommandOutcome, StoredResponse, run_plan
from partita.recipes.outbox import forward_async
from partita_services.events import handlers
from partita_services.events.cancelling import cancel
from partita_services.events.changes.http import ROUTER as CHANGES
from partita_services.events.changes.model import NOTICES
from partita_services.events.dependencies import NO_KEY, OPERATORS, EventId, Now, RequestId, Sender, reader, sender_of
from partita_services.events.draws.http import ROUTER as DRAWS
from partita_services.events.figures.http import ROUTER as FIGURES
from partita_services.events.handlers import Application, Closed, EventCancelled, NotOpenYet
from partita_services.events.model import COMMANDS, Event, requests_of_event, requests_of_user
from partita_services.events.names.http import ROUTER as NAMES
from partita_services.events.names.naming import NAMELESS, Applicant
from partita_services.events.personal import PERSONAL
from partita_services.events.queueing.batches import as_queued
from partita_services.events.queueing.tools import Tools
from partita_services.events.reading import show_event_in_full
from partita_services.events.responses import EventDetails, Events, EventView, Log, Requests, RequestView, csv_lines
from partita_services.events.terms import instant

ROUTER: Final = APIRouter(dependencies=[Depends(known_parameters)])
add_personal_routes(ROUTER, PERSONAL, "events")
for _part in (CHANGES, FIGURES, DRAWS, NAMES):
    ROUTER.include_router(_part)
CSV_PAGE: Final = 1_000

_ONCE: Final = once_by(COMMANDS)
Pages = Annotated[Paging, Query()]


class MyRequests(Paging):
    """The page of the caller's requests, and their order."""

    order: Literal["queue", "newest"] = Field(default="queue", description="queue order, or newest first")


@ROUTER.get("/events", responses=describe_problems(400))
async def list_events(caller: CurrentCaller, db: Db, now: Now, paging: Pages) -> Events:  # noqa: ARG001 - 401
    """All events, latest opening first."""
    page = await db.run(handlers.list_events(paging.limit, paging.cursor))
    return Events(items=tuple(EventView.of(found, now) for found in page), next_cursor=page.next_cursor)


@ROUTER.get("/events/{event_id}", responses=describe_problems(404))
async def show_event(caller: CurrentCaller, db: Db, now: Now, event_id: EventId) -> EventDetails:  # noqa: ARG001 - 401
    """One event with its seats and its description."""
    return EventDetails.of(await db.run(show_event_in_full(event_id)), now)


@ROUTER.post(
    "/events/{event_id}/requests",
    status_code=202,
    response_model=RequestView,
    responses={
        200: {"model": RequestView, "description": "The request that the caller already has."},
        **describe_problems(404, 409),
    },
)
async def apply(
    request: HttpRequest,
    caller: CurrentCaller,
    event_id: EventId,
    applicant: Applicant = NAMELESS,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Apply for an event, optionally with a name.

    A caller who has already applied gets that request, even after the event has closed.
    """
    # All applicants of an event arrive at once. This route gets its dependencies from the state, because injecting
    # them with FastAPI would take longer than the transaction.
    state: ServiceState[Tools] = state_of(request)
    db, sender, root = state.session, state.singleton(sender_of), request.scope["root_path"]
    event, now = await sender.event(event_id), instant(db.context.clock())

    def respond(application: Application) -> StoredResponse:
        applied = application.request
        location = {"Location": f"{root}/requests/{applied.request_id}"}
        return StoredResponse.of(RequestView.own(applied), status=202 if application.is_new else 200, headers=location)

    try:
        with (batch := sender.batch) as batch_id:
            if idempotency_key is None:
                applied = await db.run(handlers.apply(event, caller.user_id, now, run_plan, applicant, batch_id))
                outcome = CommandOutcome(respond(applied), result=applied)
            else:
                once = await _ONCE(request, db, caller, idempotency_key)
                commit: handlers.Commit[CommandOutcome[Application]] = lambda plan: once.command(plan, respond)  # noqa: E731
                outcome = await db.run(handlers.apply(event, caller.user_id, now, commit, applicant, batch_id))
            if outcome.result is not None and outcome.result.is_new:
                await sender.hand_over(outcome.result.request, batch)
    except (NotOpenYet, Closed, EventCancelled) as refused:
        raise _outside_of_opening_hours(refused) from refused
    return response_of(outcome)


@ROUTER.get("/events/{event_id}/requests", dependencies=[OPERATORS], responses=describe_problems(400, 403, 404))
async def list_requests(db: Db, sender: Sender, event_id: EventId, paging: Pages) -> Requests:
    """The requests of an event that have their final place, in queue order."""
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
    """The requests of an event that have their final place, in queue order, as CSV."""
    await sender.event(event_id)

    async def lines() -> AsyncIterator[str]:
        cursor, is_first = None, True
        while is_first or cursor is not None:
            page = await db.run(requests_of_event(event_id).page(CSV_PAGE, after=cursor))
            yield csv_lines(page, with_header=is_first)
            cursor, is_first = page.next_cursor, False

    headers = {"Content-Disposition": f'attachment; filename="requests-{event_id}.csv"'}
    return StreamingResponse(lines(), headers=headers, media_type="text/csv")


@ROUTER.get("/requests/{request_id}/log", responses=describe_problems(404))
async def show_log(caller: CurrentCaller, db: Db, request_id: RequestId) -> Log:
    """The log of a request, in order; empty if its event keeps no log."""
    return Log.of(await db.run(handlers.show_log(request_id, reader(caller))))


@ROUTER.delete("/requests/{request_id}", dependencies=[NO_KEY], responses=describe_problems(404, 409))
async def cancel_request(
    state: CurrentState[Tools], caller: CurrentCaller, db: Db, now: Now, request_id: RequestId
) -> RequestView:
    """Cancel a request. The user may apply again, and a seat that it had goes to the first on the waiting list."""
    cancelled = await db.run(cancel(request_id, reader(caller), now))
    with suppress(PartitaError):  # a worker forwards the remaining notices
        await forward_async(NOTICES, db, state.resources.notices)
    return RequestView.own(cancelled) if cancelled.user_id == caller.user_id else RequestView.of(cancelled)


@ROUTER.get("/me/requests", responses=describe_problems(400))
async def list_my_requests(caller: CurrentCaller, db: Db, wanted: Annotated[MyRequests, Query()]) -> Requests:
    """The caller's requests in queue order."""
    mine = requests_of_user(caller.user_id)
    mine = mine.reversed() if wanted.order == "newest" else mine
    page = await db.run(mine.page(wanted.limit, after=wanted.cursor))
    shown = await db.run(as_queued(page.items))
    return Requests(items=tuple(map(RequestView.own, shown)), next_cursor=page.next_cursor)


def _outside_of_opening_hours(refused: NotOpenYet | Closed | EventCancelled) -> HttpProblem:
    """The problem of a request outside the opening hours, which includes these hours."""
    event: Event = refused.current
    hours = {"opensAt": instant_text(event.opens_at), "closesAt": instant_text(event.closes_at)}
    return HttpProblem(409, refused.code, refused.message, members=hours)
