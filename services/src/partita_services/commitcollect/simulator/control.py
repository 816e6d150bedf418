"""The control API of the simulator's page: athletes train, edit, hide, delete and revoke, and the network fails."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from partita_services.commitcollect.simulator.api import Strava
from partita_services.commitcollect.simulator.faults import bad_request, not_found
from partita_services.commitcollect.simulator.strava import SimulatedStrava
from partita_services.commitcollect.simulator.training import SPORTS
from partita_services.commitcollect.simulator.world import Activity, Athlete, Chaos

SHOWN: Final = 40
PAGE: Final = 100
"""How many older activities are in a page."""
MAX_ACTIVITIES: Final = 10**12
"""Greater than every id of an activity."""
JSON: Final = "application/json"


def _only_json(request: Request) -> None:
    """Accept only JSON: pages of other sites cannot send it without a preflight request, which is never allowed."""
    if request.method != "GET" and request.headers.get("Content-Type", "").partition(";")[0] != JSON:
        raise bad_request("Control", "Content-Type")


CONTROL: Final = APIRouter(prefix="/control", dependencies=[Depends(_only_json)])


class ActivityEdit(BaseModel):
    """The fields of an activity. Omitted fields stay, or are generated for a new activity."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    name: str | None = Field(default=None, min_length=1, max_length=200)
    sport_type: Literal["Run", "TrailRun", "Ride", "Hike", "Swim", "Walk"] | None = None
    distance: float | None = Field(default=None, ge=0, le=10_000_000)
    moving_time: int | None = Field(default=None, ge=0, le=31_536_000)
    total_elevation_gain: float | None = Field(default=None, ge=0, le=100_000)
    manual: bool | None = None
    flagged: bool | None = None
    visibility: Literal["everyone", "followers_only", "only_me"] | None = None

    def said(self) -> dict[str, Any]:
        """Return the fields that are set."""
        return self.model_dump(exclude_none=True)


class ChaosEdit(BaseModel):
    """The failures of deliveries."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    duplicates: int = Field(ge=0, le=5)
    spread: float = Field(ge=0, le=60)
    failures: float = Field(ge=0, le=1)


@CONTROL.get("")
async def show_everything(strava: Strava) -> dict[str, Any]:
    """Return everything that the page shows."""
    return {
        "athletes": [_shown(strava, athlete) for athlete in strava.world.athletes.values()],
        "sports": list(SPORTS),
        "subscription": msgspec.to_builtins(strava.world.subscription),
        "limits": strava.limits.headers(),
        "chaos": msgspec.to_builtins(strava.webhook.chaos),
        "underway": len(strava.world.underway),
        "outcomes": msgspec.to_builtins(list(reversed(strava.webhook.outcomes))),
    }


def _shown(strava: SimulatedStrava, athlete: Athlete) -> dict[str, Any]:
    grant = strava.world.grants.get(athlete.id)
    newest = _activities(strava, athlete.id, None, SHOWN)
    return {
        **athlete.shown(),
        "granted": None if grant is None else {"scopes": grant.scopes, "expires_at": grant.expires_at},
        "activities": newest["items"],
        "next_cursor": newest["next_cursor"],
    }


def _activities(strava: SimulatedStrava, athlete_id: int, cursor: int | None, limit: int) -> dict[str, Any]:
    """Return a page of an athlete's activities, newest first. The cursor may be the place of a deleted activity."""
    own = [one for one in strava.world.activities.values() if one.athlete_id == athlete_id]
    own.sort(key=lambda one: (one.started_at, one.id), reverse=True)
    if cursor is not None:
        own = [one for one in own if _place(one) < cursor]
    more = _place(own[limit - 1]) if len(own) > limit else None
    return {"items": [one.shown() for one in own[:limit]], "next_cursor": None if more is None else str(more)}


def _place(activity: Activity) -> int:
    """Return the sort key of an activity among those of its athlete."""
    return activity.started_at * MAX_ACTIVITIES + activity.id


@CONTROL.get("/athletes/{athlete_id}/activities")
async def list_activities(
    strava: Strava, athlete_id: int, cursor: Annotated[int | None, Query(ge=0, le=10**40)] = None
) -> dict[str, Any]:
    """Return a page of an athlete's activities, newest first."""
    _check(strava, athlete_id)
    return _activities(strava, athlete_id, cursor, PAGE)


@CONTROL.post("/athletes/{athlete_id}/activities", status_code=201)
async def train(strava: Strava, athlete_id: int, edit: ActivityEdit) -> dict[str, Any]:
    """Add a workout that has just ended."""
    _check(strava, athlete_id)
    with strava.changing():
        activity = strava.train(athlete_id, **edit.said())
    return activity.shown()


@CONTROL.post("/athletes/{athlete_id}/weeks", status_code=201)
async def train_a_week(strava: Strava, athlete_id: int) -> list[dict[str, Any]]:
    """Add workouts in the last seven days."""
    _check(strava, athlete_id)
    with strava.changing():
        activities = strava.train_a_week(athlete_id)
    return [activity.shown() for activity in activities]


@CONTROL.post("/athletes/{athlete_id}/deauthorize", status_code=204, response_class=Response)
async def deauthorize(strava: Strava, athlete_id: int) -> None:
    """Revoke the athlete's authorization."""
    with strava.changing():
        strava.deauthorize(athlete_id)


@CONTROL.post("/athletes/{athlete_id}/expire", status_code=204, response_class=Response)
async def expire(strava: Strava, athlete_id: int) -> None:
    """Let the athlete's access token expire now, so that it has to be refreshed."""
    if athlete_id not in strava.world.grants:
        raise not_found("Athlete")
    with strava.changing():
        strava.oauth.expire(athlete_id)


@CONTROL.patch("/activities/{activity_id}")
async def change(strava: Strava, activity_id: int, edit: ActivityEdit) -> dict[str, Any]:
    """Edit an activity, flag it, or change who sees it."""
    with strava.changing():
        activity = strava.change(activity_id, **edit.said())
    return activity.shown()


@CONTROL.delete("/activities/{activity_id}", status_code=204, response_class=Response)
async def delete(strava: Strava, activity_id: int) -> None:
    """Delete an activity."""
    with strava.changing():
        strava.delete(activity_id)


@CONTROL.post("/events/resend")
async def resend(strava: Strava) -> dict[str, int]:
    """Send the newest events again."""
    with strava.changing():
        number = strava.send_again(SHOWN)
    return {"events": number}


@CONTROL.put("/chaos")
async def misbehave(strava: Strava, edit: ChaosEdit) -> dict[str, Any]:
    """Set the failures of deliveries."""
    with strava.changing():
        strava.webhook.chaos = Chaos(**edit.model_dump())
    return edit.model_dump()


@CONTROL.post("/limits/{what}", status_code=204, response_class=Response)
async def limit(strava: Strava, what: Literal["exhaust", "reset"]) -> None:
    """Use up the limit of this quarter of an hour, or reset the counts to zero."""
    with strava.changing():
        if what == "exhaust":
            strava.limits.exhaust()
        else:
            strava.limits.reset()


def _check(strava: SimulatedStrava, athlete_id: int) -> None:
    if athlete_id not in strava.world.athletes:
        raise not_found("Athlete")
