"""The webhook that Strava calls: an event is queued before the response is sent, and a worker looks into it later."""

from __future__ import annotations

import hmac
import math
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field

from partita.http import Db, HttpProblem, Resources, describe_problems
from partita_services.commitcollect.jobs.ingest import EventJob
from partita_services.commitcollect.model import owner_of
from partita_services.commitcollect.signin.browser import CurrentTrace, same_site
from partita_services.commitcollect.strava.model import subscription_of
from partita_services.commitcollect.work import Tools, do_async, send

ROUTER: Final = APIRouter(dependencies=[Depends(same_site)], responses=describe_problems(403, 404, 429))

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


async def at_our_address(
    tools: Resources[Tools],
    address: Annotated[str, Path(max_length=64, examples=["5d41402abc4b2a76b9719d911017c592"])],
) -> None:
    """A dependency of all routes here: the address has an end that Strava alone was told.

    Raises:
        HttpProblem: 404, it is another address; 429, so were many.
    """
    if not hmac.compare_digest(address.encode(), tools.application.settings.webhook_key.encode()):
        raise _refused(tools, 404, "not_found", "There is nothing here.")


def _refused(tools: Tools, status: int, code: str, detail: str) -> HttpProblem:
    """The problem of a request that is not Strava's; after many of them, that there were too many."""
    wait = tools.webhook_limits.guesses.take("", tools.application.clock())
    return _too_many(wait) if wait else HttpProblem(status, code, detail)


def _too_many(wait: float) -> HttpProblem:
    seconds = math.ceil(wait)
    headers = {"Retry-After": str(seconds)}
    return HttpProblem(429, "rate_limited", "Too many requests.", hint=f"Wait {seconds} s.", headers=headers)


@ROUTER.get("/webhooks/strava/{address}", dependencies=[Depends(at_our_address)])
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
        raise _refused(tools, 403, "forbidden", "This is not the token that was agreed on.")
    return Handshake(challenge=challenge)


@ROUTER.post("/webhooks/strava/{address}", dependencies=[Depends(at_our_address)])
async def receive_event(db: Db, tools: Resources[Tools], trace: CurrentTrace, event: StravaEvent) -> dict[str, Any]:
    """Queue an event before the response is sent; a worker reads it later. 403 where the subscription is not ours.

    An event of an athlete whom nobody here is costs nothing more; 429 where one athlete has too many.
    """
    known = await db.run(subscription_of(tools.application.settings.client_id))
    if known is None or known.subscription_id != event.subscription_id:
        raise _refused(tools, 403, "forbidden", "This is not our subscription.")
    owner_id = str(event.owner_id)
    # Who logs in right now is not missed: all of their activities are read after their owner was written.
    if (await db.run(owner_of(owner_id).consistent())) is None:
        return {}
    if wait := tools.webhook_limits.events.take(owner_id, tools.application.clock()):
        raise _too_many(wait)
    job = EventJob(trace.request_id, trace.correlation_id, **event.model_dump())
    await do_async(send(job, owner_id, tools.application.new_id()), db, tools)
    return {}
