"""The client of Strava's HTTP interface, at the address in the settings."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import httpx
import msgspec

from partita.runtime import Clock, system_clock
from partita_services.commitcollect.strava.interface import (
    Activity,
    Athlete,
    Deauthorize,
    Exchange,
    Grant,
    LimitReached,
    ListActivities,
    ReadActivity,
    ReadAthlete,
    Refresh,
    StravaRequest,
    StravaUnavailable,
    Subscribe,
    Tokens,
    Unauthorized,
)
from partita_services.commitcollect.strava.log_redaction import redact_logs
from partita_services.commitcollect.strava.settings import Settings

R = TypeVar("R")

TIMEOUT_SECONDS: Final = 10.0
_LIMITS: Final = ("X-RateLimit", "X-ReadRateLimit")
_QUARTER_HOUR: Final = timedelta(minutes=15)


class _PushSubscription(msgspec.Struct):
    id: int
    callback_url: str = ""


class StravaClient:
    """Sends requests to Strava over HTTP. Safe for any number of threads."""

    def __init__(self, settings: Settings, clock: Clock = system_clock, http: httpx.Client | None = None) -> None:
        redact_logs()
        self._settings = settings
        self._clock = clock
        self._http = http or httpx.Client(timeout=TIMEOUT_SECONDS)
        self._open_at = datetime.fromtimestamp(0, UTC)
        self._lock = threading.Lock()

    def execute(self, request: StravaRequest[R]) -> R:
        """Send a request and return the response, as `Strava` specifies."""
        if request.is_read and self._open_at > self._now():
            raise LimitReached(self._open_at)
        return _METHODS[type(request)](self, request)  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def exchange(self, request: Exchange) -> Grant:
        """Exchange a code for tokens."""
        form = {**self._application(), "grant_type": "authorization_code", "code": request.code}
        return _read(self._call("POST", "/oauth/token", data=form), Grant)

    def refresh(self, request: Refresh) -> Tokens:
        """Exchange a refresh token for new tokens."""
        form = {**self._application(), "grant_type": "refresh_token", "refresh_token": request.refresh_token}
        return _read(self._call("POST", "/oauth/token", data=form), Tokens)

    def deauthorize(self, request: Deauthorize) -> None:
        """Revoke the grant."""
        self._call("POST", "/oauth/deauthorize", token=request.access_token)

    def read_athlete(self, request: ReadAthlete) -> Athlete:
        """Read the athlete to whom the tokens belong."""
        return _read(self._call("GET", "/api/v3/athlete", token=request.access_token), Athlete)

    def read_activity(self, request: ReadActivity) -> Activity | None:
        """Read one activity."""
        response = self._call("GET", f"/api/v3/activities/{request.activity_id}", token=request.access_token)
        return None if response.status_code == httpx.codes.NOT_FOUND else _read(response, Activity)

    def list_activities(self, request: ListActivities) -> tuple[Activity, ...]:
        """Read a page of activities."""
        page = {"after": request.after, "page": request.page, "per_page": request.per_page}
        response = self._call("GET", "/api/v3/athlete/activities", token=request.access_token, params=page)
        return _read(response, tuple[Activity, ...])

    def subscribe(self, request: Subscribe) -> int:
        """Return the id of the subscription to events; an application has at most one."""
        listed = self._call("GET", "/api/v3/push_subscriptions", params=self._application())
        for existing in _read(listed, list[_PushSubscription]):
            if existing.callback_url == request.callback_url:
                return existing.id
            self._call("DELETE", f"/api/v3/push_subscriptions/{existing.id}", params=self._application())
        form = {
            **self._application(),
            "callback_url": request.callback_url,
            "verify_token": self._settings.verify_token,
        }
        return _read(self._call("POST", "/api/v3/push_subscriptions", data=form), _PushSubscription).id

    def _application(self) -> dict[str, str]:
        return {"client_id": self._settings.client_id, "client_secret": self._settings.client_secret}

    def _call(self, method: str, path: str, *, token: str | None = None, **content: Any) -> httpx.Response:
        if self._settings.strava_url is None:
            raise StravaUnavailable("Strava is not set up.")
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        try:
            response = self._http.request(method, self._settings.strava_url + path, headers=headers, **content)
        except httpx.HTTPError as error:
            # Not chained to the error, because its URL may contain the application's secret.
            raise StravaUnavailable(f"Strava did not respond ({type(error).__name__}).") from None
        self._track_limits(response)
        _check(response, self._open_at, is_token=path == "/oauth/token")
        return response

    def _track_limits(self, response: httpx.Response) -> None:
        """Wait for the next window as soon as one is used up, before Strava refuses a request."""
        now = self._now()
        open_at = max(_open_at(response.headers, name, now) for name in _LIMITS)
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            open_at = max(open_at, next_window(now, _QUARTER_HOUR))
        with self._lock:
            self._open_at = max(self._open_at, open_at)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)


_METHODS: Final[Mapping[type[StravaRequest[Any]], Callable[[StravaClient, Any], Any]]] = {
    Exchange: StravaClient.exchange,
    Refresh: StravaClient.refresh,
    Deauthorize: StravaClient.deauthorize,
    ReadAthlete: StravaClient.read_athlete,
    ReadActivity: StravaClient.read_activity,
    ListActivities: StravaClient.list_activities,
    Subscribe: StravaClient.subscribe,
}


def next_window(now: datetime, length: timedelta) -> datetime:
    """Return when the next window of Strava's limits begins: at the quarter of the hour, or at midnight in UTC."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + ((now - midnight) // length + 1) * length


def _open_at(headers: Mapping[str, str], name: str, now: datetime) -> datetime:
    """Return when requests may continue, from headers like `X-RateLimit-Limit: 200,2000`, `X-RateLimit-Usage: 1,2`."""
    limits, usages = (headers.get(f"{name}-{part}", "").split(",") for part in ("Limit", "Usage"))
    open_at = datetime.fromtimestamp(0, UTC)
    for limit, usage, length in zip(limits, usages, (_QUARTER_HOUR, timedelta(days=1)), strict=False):
        if limit.strip().isdecimal() and usage.strip().isdecimal() and int(usage) >= int(limit):
            open_at = max(open_at, next_window(now, length))
    return open_at


def _check(response: httpx.Response, open_at: datetime, *, is_token: bool) -> None:
    status = response.status_code
    if response.is_success or status == httpx.codes.NOT_FOUND:
        return
    if status == httpx.codes.TOO_MANY_REQUESTS:
        raise LimitReached(open_at)
    if status == httpx.codes.UNAUTHORIZED or (is_token and status == httpx.codes.BAD_REQUEST):
        raise Unauthorized(f"Strava responded with {status}.")
    raise StravaUnavailable(f"Strava responded with {status}.")


def _read(response: httpx.Response, kind: type[R]) -> R:
    try:
        return msgspec.json.decode(response.content, type=kind)
    except msgspec.MsgspecError as error:
        raise StravaUnavailable(f"Strava's response cannot be read: {error}.") from error
