"""The routes of names: applicants change their own, and everybody sees those of winners who allow it."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from partita.http import CamelModel, CurrentCaller, Db, describe_problems
from partita_services.events.dependencies import NO_KEY, EventId, RequestId, Sender
from partita_services.events.names.naming import MAX_NAMES, Applicant, rename, shown_names
from partita_services.events.responses import RequestView

ROUTER: Final = APIRouter()
_IDENTIFIER: Final = "01K9ZQ3V7M2Y8R4C6T1XWNB5HD"


class WinnerName(CamelModel):
    """A request that has a seat, and the name of its applicant."""

    request_id: str = Field(examples=[_IDENTIFIER])
    display_name: str = Field(examples=["Ann B."])


class WinnerNames(BaseModel):
    """The requests that have a seat and whose applicants allow others to see their names."""

    items: tuple[WinnerName, ...]


class WantedNames(BaseModel):
    """The requests whose names are wanted."""

    model_config = ConfigDict(extra="forbid")

    request: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field(
        min_length=1, max_length=MAX_NAMES, description="ids of requests", examples=[[_IDENTIFIER]]
    )


@ROUTER.patch("/requests/{request_id}", dependencies=[NO_KEY], responses=describe_problems(404, 409))
async def name_request(caller: CurrentCaller, db: Db, request_id: RequestId, applicant: Applicant) -> RequestView:
    """Change or remove the name on a request of the caller. A field that is left out is removed."""
    return RequestView.own(await db.run(rename(request_id, caller.user_id, applicant)))


@ROUTER.get("/events/{event_id}/names", responses=describe_problems(404))
async def list_names(
    caller: CurrentCaller,  # noqa: ARG001 - 401
    db: Db,
    sender: Sender,
    event_id: EventId,
    wanted: Annotated[WantedNames, Query()],
) -> WinnerNames:
    """The names of winners who allow everybody to see them."""
    await sender.event(event_id)
    names = await db.run(shown_names(event_id, wanted.request))
    return WinnerNames(items=tuple(WinnerName(request_id=each, display_name=name) for each, name in names.items()))
