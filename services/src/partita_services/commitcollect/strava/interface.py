"""Requests to Strava as values, and their responses: a piece of work yields them, and whoever runs it sends them."""

from __future__ import annotations

from collections.abc import Generator
from datetime import datetime
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

SCOPES: Final = ("read", "activity:read")
"""What is asked for; without the second there is nothing to collect with."""


class StravaRequest(Struct, Generic[R_co], frozen=True):
    """A request to Strava, whose response is an `R_co`. In a piece of work, `yield from` sends it."""

    is_read: ClassVar[bool] = True
    """Whether it counts towards Strava's limits."""

    def __iter__(self) -> Generator[StravaRequest[Any], Any, R_co]:
        return (yield self)  # type: ignore[no-any-return]


class Athlete(Struct, frozen=True):
    """Somebody on Strava."""

    id: int
    firstname: str | None = None
    lastname: str | None = None
    username: str | None = None

    @property
    def name(self) -> str:
        """How they are called."""
        return " ".join(part for part in (self.firstname, self.lastname) if part) or self.username or "Athlete"


class Tokens(Struct, frozen=True):
    """What lets us read for an athlete."""

    access_token: str
    refresh_token: str
    expires_at: int


class Grant(Tokens, frozen=True, kw_only=True):
    """The tokens of an athlete who has just agreed."""

    athlete: Athlete


class Owner(Struct, frozen=True):
    """Whose activity it is."""

    id: int


class Activity(Struct, frozen=True):
    """A workout, as Strava shows it. Of all that it shows, only this is read."""

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
        """Whether only the athlete is to see it."""
        return self.private or self.visibility == "only_me"


class Exchange(StravaRequest[Grant], frozen=True):
    """Turn the code of an athlete who agreed into tokens."""

    is_read = False
    code: str


class Refresh(StravaRequest[Tokens], frozen=True):
    """A new pair of tokens for an old one, which is used up by this."""

    is_read = False
    refresh_token: str


class Deauthorize(StravaRequest[None], frozen=True):
    """Give up what the athlete has granted."""

    is_read = False
    access_token: str


class ReadAthlete(StravaRequest[Athlete], frozen=True):
    """Who the tokens are of."""

    access_token: str


class ReadActivity(StravaRequest[Activity | None], frozen=True):
    """An activity; None where there is none, or none for us."""

    access_token: str
    activity_id: str


class ListActivities(StravaRequest[tuple[Activity, ...]], frozen=True):
    """A page of the athlete's activities that began after an instant, the oldest first."""

    access_token: str
    after: int
    page: int
    per_page: int


class Subscribe(StravaRequest[int], frozen=True):
    """The subscription to webhook events at an address: the one that there is, or a new one."""

    is_read = False
    callback_url: str


class Event(Struct, frozen=True):
    """What a webhook receives: a hint that something has changed, from whoever knows the address."""

    object_type: str
    object_id: int
    aspect_type: str
    owner_id: int
    subscription_id: int
    event_time: int
    updates: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def revokes(self) -> bool:
        """Whether the athlete is said to have withdrawn."""
        return self.object_type == "athlete" and str(self.updates.get("authorized")).lower() == "false"


class StravaError(Exception):
    """Strava did not do what was requested."""


class Unauthorized(StravaError):
    """Strava does not take these tokens, or this code."""


class LimitReached(StravaError):
    """Strava wants us to wait."""

    def __init__(self, open_at: datetime) -> None:
        super().__init__(f"Strava wants us to wait until {open_at:%H:%M}.")
        self.open_at = open_at


class StravaUnavailable(StravaError):
    """Strava cannot respond at present."""


class Strava(Protocol):
    """Executes requests."""

    def execute(self, request: StravaRequest[R]) -> R:
        """The response.

        Raises:
            Unauthorized: the tokens or the code are not taken.
            LimitReached: Strava wants us to wait.
            StravaUnavailable: it cannot respond at present.
        """
        ...
