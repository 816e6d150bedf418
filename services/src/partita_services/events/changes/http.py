"""The routes with which operators create, edit and cancel events."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Response
from fastapi import Request as HttpRequest

from partita.http import Db, FieldProblem, HttpProblem, Once, describe_problems, once_by
from partita.recipes.idempotency import StoredResponse
from partita_services.events import handlers
from partita_services.events.changes.drafts import EventDraft, EventEdit, InvalidEvent
from partita_services.events.changes.editing import edit
from partita_services.events.changes.event_cancelling import Cancellation, cancel_whole_event
from partita_services.events.dependencies import NO_KEY, OPERATORS, EventId, Now, Sender
from partita_services.events.model import COMMANDS
from partita_services.events.reading import EventFound
from partita_services.events.responses import EventDetails, EventView

ROUTER: Final = APIRouter()
OnceByCaller = Annotated[Once, Depends(once_by(COMMANDS))]


@ROUTER.post(
    "/events",
    status_code=201,
    response_model=EventDetails,
    dependencies=[OPERATORS],
    responses=describe_problems(403, 409),
)
async def create_event(once: OnceByCaller, now: Now, draft: EventDraft, request: HttpRequest) -> Response:
    """Create an event. A lottery publishes the hash of the seed that its draw will use."""
    root = request.scope["root_path"]

    def created(found: EventFound) -> StoredResponse:
        location = {"Location": f"{root}/events/{found.event.event_id}"}
        return StoredResponse.of(EventDetails.of(found, now), status=201, headers=location)

    with _valid_event():
        plan = handlers.open_event(draft, now, secrets.token_bytes(32))
    return await once(plan, created)


@ROUTER.patch("/events/{event_id}", dependencies=[OPERATORS, NO_KEY], responses=describe_problems(403, 404, 409))
async def edit_event(db: Db, now: Now, sender: Sender, event_id: EventId, change: EventEdit) -> EventDetails:
    """Edit an event, within rules that protect those who have applied. Added seats go to the waiting list."""
    with _valid_event():
        found = await db.run(edit(event_id, change, now))
    sender.forget(event_id)
    return EventDetails.of(found, now)


@ROUTER.post("/events/{event_id}/cancel", dependencies=[OPERATORS, NO_KEY], responses=describe_problems(403, 404, 409))
async def cancel_event(db: Db, now: Now, sender: Sender, event_id: EventId, why: Cancellation) -> EventView:
    """Cancel an event: nobody gets a seat any more, and workers notify everyone who applied."""
    found = await db.run(cancel_whole_event(event_id, why.reason, now))
    sender.forget(event_id)
    return EventView.of(found, now)


@contextmanager
def _valid_event() -> Iterator[None]:
    """Turn an invalid event into a problem of the field that is wrong."""
    try:
        yield
    except InvalidEvent as invalid:
        problem = FieldProblem(location="body", field=invalid.field, message=invalid.message)
        detail = f"{invalid.field}: {invalid.message}"
        raise HttpProblem(422, "invalid_request", detail, members={"errors": [problem]}) from invalid
