"""The webhook that Strava calls: an event is queued before the response is sent, and a worker processes it later."""

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
"""A name or a text of an update. The limit ensures that all updates fit into one message of the queue."""


class StravaEvent(BaseModel):
    """An event that Strava sends: a hint that something has changed."""

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
    """Check that a request uses the webhook's secret address, which only Strava knows; a dependency of all routes here.

    Raises:
        HttpProblem: 404, the address is wrong; 429, too many requests were wrong.
    """
    if not hmac.compare_digest(address.encode(), tools.application.settings.webhook_key.encode()):
        raise _refused(tools, 404, "not_found", "There is no such address.")


def _refused(tools: Tools, status: int, code: str, detail: str) -> HttpProblem:
    """Return the problem for a request that is not from Strava; 429 after too many of them."""
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
    """Confirm the webhook to Strava; 403 if the verification token is wrong."""
    expected: str = tools.application.settings.verify_token
    if mode != "subscribe" or not hmac.compare_digest(verify_token.encode(), expected.encode()):
        raise _refused(tools, 403, "forbidden", "The verification token is wrong.")
    return Handshake(challenge=challenge)


@ROUTER.post("/webhooks/strava/{address}", dependencies=[Depends(at_our_address)])
async def receive_event(db: Db, tools: Resources[Tools], trace: CurrentTrace, event: StravaEvent) -> dict[str, Any]:
    """Queue an event, which a worker processes later; 403 if the subscription is not the service's own.

    Events of athletes who are not users are dropped; 429 after too many events of one athlete.
    """
    known = await db.run(subscription_of(tools.application.settings.client_id))
    if known is None or known.subscription_id != event.subscription_id:
        raise _refused(tools, 403, "forbidden", "The subscription is not the one of this service.")
    owner_id = str(event.owner_id)
    # An athlete who is signing in right now misses nothing: all activities are read after the owner was written.
    if (await db.run(owner_of(owner_id).consistent())) is None:
        return {}
    if wait := tools.webhook_limits.events.take(owner_id, tools.application.clock()):
        raise _too_many(wait)
    job = EventJob(trace.request_id, trace.correlation_id, **event.model_dump())
    await do_async(send(job, owner_id, tools.application.new_id()), db, tools)
    return {}
