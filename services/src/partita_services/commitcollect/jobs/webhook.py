"""The webhook that Strava calls: an event is queued before the response is sent, and a worker looks into it later."""

from __future__ import annotations

import hmac
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from partita.http import Db, HttpProblem, Resources, describe_problems
from partita_services.commitcollect.jobs.ingest import EventJob
from partita_services.commitcollect.model import subscription_of
from partita_services.commitcollect.signin.browser import CurrentTrace, same_site
from partita_services.commitcollect.work import Tools, do_async, send

ROUTER: Final = APIRouter(dependencies=[Depends(same_site)], responses=describe_problems(403))

UpdateText = Annotated[str, Field(max_length=1_000)]
"""A name or a text of an update: all of them together have room in a message of the queue."""


class StravaEvent(BaseModel):
    """What Strava says has changed."""

    object_type: str = Field(max_length=40, examples=["activity"])
    object_id: int = Field(ge=0, le=2**63 - 1, examples=[1_360_128_428])
    aspect_type: str = Field(max_length=40, examples=["create"])
    owner_id: int = Field(ge=0, le=2**63 - 1, examples=[134_815])
    subscription_id: int = Field(ge=0, le=2**63 - 1, examples=[120_475])
    event_time: int = Field(ge=0, le=2**63 - 1, examples=[1_516_126_040])
    updates: dict[UpdateText, UpdateText | bool | int | float | None] = Field(
        default={}, max_length=20, examples=[{"title": "Messy"}]
    )


class Handshake(BaseModel):
    """The response to Strava's verification of the webhook."""

    challenge: str = Field(serialization_alias="hub.challenge")


@ROUTER.get("/webhooks/strava")
async def shake_hands(
    tools: Resources[Tools],
    mode: Annotated[str, Query(alias="hub.mode", max_length=40, examples=["subscribe"])],
    challenge: Annotated[
        str, Query(alias="hub.challenge", max_length=200, examples=["15f7d1a91c1f40f8a748fd134752feb3"])
    ],
    verify_token: Annotated[str, Query(alias="hub.verify_token", max_length=200)],
) -> Handshake:
    """Confirm to Strava that this webhook is meant; 403 for anybody who does not know the token."""
    expected: str = tools.application.settings.verify_token
    if mode != "subscribe" or not hmac.compare_digest(verify_token.encode(), expected.encode()):
        raise HttpProblem(403, "forbidden", "This is not the token that was agreed on.")
    return Handshake(challenge=challenge)


@ROUTER.post("/webhooks/strava")
async def receive_event(db: Db, tools: Resources[Tools], trace: CurrentTrace, event: StravaEvent) -> dict[str, Any]:
    """Queue an event before the response is sent; a worker reads it later. 403 where the subscription is not ours."""
    known = await db.run(subscription_of(tools.application.settings.client_id))
    if known is None or known.subscription_id != event.subscription_id:
        raise HttpProblem(403, "forbidden", "This is not our subscription.")
    job = EventJob(trace.request_id, trace.correlation_id, **event.model_dump())
    await do_async(send(job, str(event.owner_id), tools.application.new_id()), db, tools)
    return {}
