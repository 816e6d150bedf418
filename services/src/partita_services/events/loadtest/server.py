"""The server under load: creates an event there, and reads the outcome of its requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import msgspec
from msgspec import Struct

from partita.errors import StoreUnavailable
from partita.http import Caller, Identity, Role
from partita_services.events.loadtest.audit import FINAL, WON, StoredRequest

PAGE: Final = 100
LOOK_SECONDS: Final = 0.25
OPERATOR: Final = Caller("storm-operator", Role.OPERATOR)
_TIMEOUT_SECONDS: Final = 30.0
_AN_HOUR: Final = timedelta(hours=1)


class _Page(Struct, frozen=True):
    items: tuple[StoredRequest, ...]
    next_cursor: str | None


class Server:
    """The events API of a running server, which may be unavailable for a while."""

    def __init__(self, url: str, identity: Identity, patience: float) -> None:
        self.api = f"{url.rstrip('/')}/events/api"
        self._identity = identity
        self._patience = patience
        self._client = httpx.Client(timeout=_TIMEOUT_SECONDS)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def user_token(self, user_id: str) -> str:
        """The token of a user."""
        return self._identity.token(Caller(user_id))

    def open_event(self, name: str, capacity: int) -> str:
        """Create an event that is open for an hour. Return its id."""
        now = datetime.now(UTC)
        draft = {
            "name": name,
            "eventType": "FIRST_COME",
            "capacityTotal": capacity,
            "opensAt": (now - timedelta(minutes=1)).isoformat(),
            "closesAt": (now + _AN_HOUR).isoformat(),
        }
        event_id: str = self._ask("POST", "/events", json=draft)["eventId"]
        return event_id

    def decided(self, event_id: str, expected: int, progress: Callable[[int], None]) -> list[StoredRequest]:
        """Return all requests of an event in queue order, when they are decided or the time to wait is over."""
        deadline = time.monotonic() + self._patience
        shown = 0
        while True:
            figures = self.figures(event_id)
            decided = figures["requests"] - figures["backlog"]
            progress(decided - shown)
            shown = decided
            is_late = time.monotonic() > deadline
            if decided >= expected or is_late:
                stored = list(self.requests(event_id))
                if is_late or sum(each.status in FINAL for each in stored) >= expected:
                    return stored
            time.sleep(LOOK_SECONDS)

    def figures(self, event_id: str) -> dict[str, Any]:
        """The figures of an event."""
        figures: dict[str, Any] = self._ask("GET", f"/events/{event_id}/figures")
        return figures

    def newest_event(self) -> str | None:
        """The id of the event with the latest opening; None if there is no event."""
        events = self._ask("GET", "/events", params={"limit": 1})["items"]
        return events[0]["eventId"] if events else None

    def requests(self, event_id: str) -> Iterator[StoredRequest]:
        """The requests of an event in queue order."""
        cursor: str | None = ""
        while cursor is not None:
            params = {"limit": PAGE, **({"cursor": cursor} if cursor else {})}
            page = msgspec.convert(self._ask("GET", f"/events/{event_id}/requests", params=params), _Page)
            yield from page.items
            cursor = page.next_cursor

    def winners(self, event_id: str) -> Iterator[StoredRequest]:
        """The current winners in queue order, up to the first page without a winner."""
        cursor: str | None = ""
        while cursor is not None:
            params = {"limit": PAGE, **({"cursor": cursor} if cursor else {})}
            page = msgspec.convert(self._ask("GET", f"/events/{event_id}/requests", params=params), _Page)
            won = [each for each in page.items if each.status == WON]
            yield from won
            cursor = page.next_cursor if won else None

    def cancel(self, request_id: str, user_id: str) -> None:
        """Cancel a request as its user; retry while the server is unavailable."""
        self._ask("DELETE", f"/requests/{request_id}", caller=Caller(user_id))

    def _ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        caller: Caller = OPERATOR,
    ) -> Any:
        """Send a request as the operator, or as another caller; retry while the server is unavailable.

        Raises:
            StoreUnavailable: the server refuses, or is still unavailable when the time to wait is over.
        """
        deadline = time.monotonic() + self._patience
        while True:
            headers = {"Authorization": f"Bearer {self._identity.token(caller)}"}
            try:
                response = self._client.request(method, self.api + path, params=params, json=json, headers=headers)
            except httpx.TransportError as error:
                if time.monotonic() > deadline:
                    raise StoreUnavailable(f"The server does not respond: {error}.", hint="Is it running?") from error
            else:
                if response.is_success:
                    return response.json()
                if not response.is_server_error or time.monotonic() > deadline:
                    raise StoreUnavailable(f"The server responds {response.status_code} to {path}: {response.text}")
            time.sleep(LOOK_SECONDS)
