"""The lazy Strava client of a server: the HTTP client is loaded for the first request, which may never come."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from partita_services.commitcollect.strava.interface import StravaRequest
from partita_services.commitcollect.strava.settings import Settings

if TYPE_CHECKING:
    from partita_services.commitcollect.strava.client import StravaClient

R = TypeVar("R")


class StravaWhenAsked:
    """Sends requests to Strava through a client that the first request creates. Safe for any number of threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: StravaClient | None = None
        self._lock = threading.Lock()

    def execute(self, request: StravaRequest[R]) -> R:
        """Send a request and return the response, as `Strava` specifies."""
        return self._made().execute(request)

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()

    def _made(self) -> StravaClient:
        from partita_services.commitcollect.strava.client import StravaClient  # noqa: PLC0415 - it needs ten megabytes

        with self._lock:
            if self._client is None:
                self._client = StravaClient(self._settings)
            return self._client
