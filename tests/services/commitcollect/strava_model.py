"""A fake Strava in memory: it executes the same requests by the same rules, and fails on demand."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

from partita.runtime import Clock
from partita_services.commitcollect.strava.interface import (
    Activity,
    Athlete,
    Deauthorize,
    Exchange,
    Grant,
    LimitReached,
    ListActivities,
    Owner,
    ReadActivity,
    ReadAthlete,
    Refresh,
    StravaRequest,
    StravaUnavailable,
    Subscribe,
    Tokens,
    Unauthorized,
)

R = TypeVar("R")

ATHLETE = 1001
SUBSCRIPTION = 4711
LIFETIME = 21_600


class StravaModel:
    """An application at Strava, and the athletes who authorized it. Safe for threads."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.activities: dict[int, Activity] = {}
        self.tokens: dict[int, Tokens] = {}
        self.refreshes: Counter[str] = Counter()
        """How often each refresh token was used."""
        self.requests: list[StravaRequest[Any]] = []
        self.open_at: datetime | None = None
        self.failures = 0
        """How many of the next requests fail as if Strava were unavailable."""
        self.refuses_reads = False
        """Whether reads of an activity are refused with any token."""
        self.callback_url = ""
        """The URL to which Strava would send events."""
        self._numbers = 0
        self._lock = threading.Lock()

    def execute(self, request: StravaRequest[R]) -> R:
        with self._lock:
            self.requests.append(request)
            if self.failures:
                self.failures -= 1
                raise StravaUnavailable("Strava responded with 503.")
            if request.is_read and self.open_at and self.open_at.timestamp() > self.clock():
                raise LimitReached(self.open_at)
            return cast("R", getattr(self, f"_{type(request).__name__.lower()}")(request))

    def train(self, number: int, **changes: Any) -> Activity:
        """Record or replace an activity of the athlete, and return it."""
        start = datetime.fromtimestamp(self.clock(), UTC) - timedelta(hours=1)
        fields: dict[str, Any] = {
            "id": number,
            "athlete": Owner(ATHLETE),
            "name": f"Run {number}",
            "sport_type": "Run",
            "start_date": start,
            "start_date_local": start,
            "distance": 1000.0,
            "moving_time": 300,
            "total_elevation_gain": 10.0,
        }
        self.activities[number] = Activity(**{**fields, **changes})
        return self.activities[number]

    def expire(self) -> None:
        """Expire all access tokens; refresh tokens stay valid."""
        self.tokens = {
            athlete: Tokens(f"{tokens.access_token}-expired", tokens.refresh_token, tokens.expires_at)
            for athlete, tokens in self.tokens.items()
        }

    def revoke(self, athlete: int = ATHLETE) -> None:
        """Withdraw the authorization of an athlete, which ends the tokens."""
        del self.tokens[athlete]

    def _new_tokens(self, athlete: int) -> Tokens:
        self._numbers += 1
        expires_at = int(self.clock()) + LIFETIME
        self.tokens[athlete] = Tokens(f"access-{self._numbers}", f"refresh-{self._numbers}", expires_at)
        return self.tokens[athlete]

    def _reader(self, access_token: str) -> int:
        for athlete, tokens in self.tokens.items():
            if tokens.access_token == access_token and self.clock() < tokens.expires_at:
                return athlete
        raise Unauthorized("Strava responded with 401.")

    def _exchange(self, request: Exchange) -> Grant:
        if not request.code.startswith("code-"):
            raise Unauthorized("Strava responded with 400.")
        athlete = int(request.code.removeprefix("code-"))
        tokens = self._new_tokens(athlete)
        return Grant(
            tokens.access_token, tokens.refresh_token, tokens.expires_at, athlete=Athlete(athlete, "Alex", "Runner")
        )

    def _refresh(self, request: Refresh) -> Tokens:
        self.refreshes[request.refresh_token] += 1
        for athlete, tokens in self.tokens.items():
            if tokens.refresh_token == request.refresh_token:
                return self._new_tokens(athlete)
        raise Unauthorized("Strava responded with 400.")

    def _deauthorize(self, request: Deauthorize) -> None:
        del self.tokens[self._reader(request.access_token)]

    def _readathlete(self, request: ReadAthlete) -> Athlete:
        return Athlete(self._reader(request.access_token))

    def _readactivity(self, request: ReadActivity) -> Activity | None:
        self._reader("nobody's" if self.refuses_reads else request.access_token)
        return self.activities.get(int(request.activity_id))

    def _listactivities(self, request: ListActivities) -> tuple[Activity, ...]:
        athlete = self._reader(request.access_token)
        own = [activity for activity in self.activities.values() if activity.athlete.id == athlete]
        later = [activity for activity in own if activity.start_date.timestamp() > request.after]
        later.sort(key=lambda activity: activity.start_date)
        first = (request.page - 1) * request.per_page
        return tuple(later[first : first + request.per_page])

    def _subscribe(self, request: Subscribe) -> int:
        self.callback_url = request.callback_url
        return SUBSCRIPTION
