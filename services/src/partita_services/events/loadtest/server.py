"""The server that a storm is about: creates an event there, and reads what became of its requests."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from partita.errors import StoreUnavailable
from partita.http import Caller, Identity, Role
from partita_services.events.loadtest.audit import FINAL, Stored

PAGE: Final = 100
LOOK_SECONDS: Final = 0.25
OPERATOR: Final = Caller("storm-operator", Role.OPERATOR)
_SERVER_FAULT: Final = 500
_AN_HOUR: Final = timedelta(hours=1)


class _Page(Struct, frozen=True):
    items: tuple[Stored, ...]
    next_cursor: str | None


class Server:
    """The events API of a running server, which may be away for a while."""

    def __init__(self, url: str, identity: Identity, patience: float) -> None:
        self.api = f"{url.rstrip('/')}/events/api"
        self._identity = identity
        self._patience = patience

    def user_token(self, user_id: str) -> str:
        """The token of a user."""
        return self._identity.token(Caller(user_id))

    def open_event(self, name: str, capacity: int) -> str:
        """Create an event that is open for an hour; gives its id."""
        now = datetime.now(UTC)
        draft = {
            "name": name,
            "eventType": "FIRST_COME",
            "capacityTotal": capacity,
            "opensAt": (now - timedelta(minutes=1)).isoformat(),
            "closesAt": (now + _AN_HOUR).isoformat(),
        }
        event_id: str = self._ask("/events", draft)["eventId"]
        return event_id

    def decided(self, event_id: str, expected: int, progress: Callable[[int], None]) -> list[Stored]:
        """All requests of an event in queue order, when they are decided, or when the patience is at its end."""
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
        """How an event is doing."""
        figures: dict[str, Any] = self._ask(f"/events/{event_id}/figures")
        return figures

    def newest_event(self) -> str | None:
        """The event that opens last."""
        events = self._ask("/events?limit=1")["items"]
        return events[0]["eventId"] if events else None

    def requests(self, event_id: str) -> Iterator[Stored]:
        """The requests of an event in queue order."""
        cursor: str | None = ""
        while cursor is not None:
            query = urlencode({"limit": PAGE, **({"cursor": cursor} if cursor else {})})
            page = msgspec.convert(self._ask(f"/events/{event_id}/requests?{query}"), _Page)
            yield from page.items
            cursor = page.next_cursor

    def _ask(self, path: str, data: Any = None) -> Any:
        """Ask as the operator, again while the server is away."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._ask_once(path, data)
            except urllib.error.HTTPError as error:
                if error.code < _SERVER_FAULT or time.monotonic() > deadline:
                    detail = error.read().decode(errors="replace")
                    raise StoreUnavailable(f"The server answers {error.code} to {path}: {detail}") from error
            except (OSError, HTTPException) as error:
                if time.monotonic() > deadline:
                    raise StoreUnavailable(f"The server does not answer: {error}.", hint="Is it running?") from error
            time.sleep(LOOK_SECONDS)

    def _ask_once(self, path: str, data: Any) -> Any:
        headers = {"Authorization": f"Bearer {self._identity.token(OPERATOR)}", "Content-Type": "application/json"}
        body = None if data is None else msgspec.json.encode(data)
        request = urllib.request.Request(self.api + path, body, headers)  # noqa: S310 - the address that was given
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
            return msgspec.json.decode(answer.read())
