"""Requests to Strava as values, and their responses: a unit of work yields them, and its runner sends them."""

from __future__ import annotations

from collections.abc import Generator
from datetime import datetime
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

SCOPES: Final = ("read", "activity:read")
"""The scopes that are requested; without the second, activities cannot be read."""


class StravaRequest(Struct, Generic[R_co], frozen=True):
    """A request to Strava, whose response is an `R_co`. In a unit of work, `yield from` sends it."""

    is_read: ClassVar[bool] = True
    """Whether it counts towards Strava's limits of reads."""

    def __iter__(self) -> Generator[StravaRequest[Any], Any, R_co]:
        return (yield self)  # type: ignore[no-any-return]


class Athlete(Struct, frozen=True):
    """A Strava athlete."""

    id: int
    firstname: str | None = None
    lastname: str | None = None
    username: str | None = None

    @property
    def name(self) -> str:
        """The name to show."""
        return " ".join(part for part in (self.firstname, self.lastname) if part) or self.username or "Athlete"


class Tokens(Struct, frozen=True):
    """The tokens that allow reading an athlete's data."""

    access_token: str
    refresh_token: str
    expires_at: int


class Grant(Tokens, frozen=True, kw_only=True):
    """The tokens of an athlete who has just authorized the application."""

    athlete: Athlete


class Owner(Struct, frozen=True):
    """The athlete to whom an activity belongs."""

    id: int


class Activity(Struct, frozen=True):
    """A workout at Strava, with the fields that are used."""

    id: int
    athlete: Owner
    name: str
    sport_type: str
    start_date: datetime
    start_date_local: datetime
    distance: float = 0
    moving_time: int = 0
    total_elevation_gain: float = 0
    manual: bool = False
    flagged: bool = False
    private: bool = False
    visibility: str | None = None

    @property
    def is_private(self) -> bool:
        """Whether only the athlete may see it."""
        return self.private or self.visibility == "only_me"


class Exchange(StravaRequest[Grant], frozen=True):
    """Exchange the code of an athlete's authorization for tokens."""

    is_read = False
    code: str


class Refresh(StravaRequest[Tokens], frozen=True):
    """Exchange a refresh token, which this uses up, for new tokens."""

    is_read = False
    refresh_token: str


class Deauthorize(StravaRequest[None], frozen=True):
    """Revoke the athlete's grant."""

    is_read = False
    access_token: str


class ReadAthlete(StravaRequest[Athlete], frozen=True):
    """Read the athlete to whom the tokens belong."""

    access_token: str


class ReadActivity(StravaRequest[Activity | None], frozen=True):
    """Read an activity; None if it does not exist, or may not be read."""

    access_token: str
    activity_id: str


class ListActivities(StravaRequest[tuple[Activity, ...]], frozen=True):
    """Read a page of the athlete's activities that began after an instant, oldest first."""

    access_token: str
    after: int
    page: int
    per_page: int


class Subscribe(StravaRequest[int], frozen=True):
    """Return the id of the subscription of an address to webhook events, which is created if necessary."""

    is_read = False
    callback_url: str


class Event(Struct, frozen=True):
    """A webhook event: a hint that something has changed, from anyone who knows the address."""

    object_type: str
    object_id: int
    aspect_type: str
    owner_id: int
    subscription_id: int
    event_time: int
    updates: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def revokes(self) -> bool:
        """Whether the event reports that the athlete has withdrawn the authorization."""
        return self.object_type == "athlete" and str(self.updates.get("authorized")).lower() == "false"


class StravaError(Exception):
    """A request to Strava failed."""


class Unauthorized(StravaError):
    """Strava refuses the tokens or the code."""


class LimitReached(StravaError):
    """Strava's rate limit is used up."""

    def __init__(self, open_at: datetime) -> None:
        super().__init__(f"Strava's rate limit is used up until {open_at:%H:%M}.")
        self.open_at = open_at


class StravaUnavailable(StravaError):
    """Strava cannot be reached, or does not respond properly."""


class Strava(Protocol):
    """Executes requests."""

    def execute(self, request: StravaRequest[R]) -> R:
        """Send a request and return the response.

        Raises:
            Unauthorized: Strava refuses the tokens or the code.
            LimitReached: the rate limit is used up.
            StravaUnavailable: Strava cannot be reached, or does not respond properly.
        """
        ...
