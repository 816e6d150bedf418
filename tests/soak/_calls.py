"""The calls of a soak: all services in turn, with as many deletions as additions, as in a long-running service."""

from __future__ import annotations

import itertools
import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from tests.cli.processes.servers import Client
from tests.faults._load import FROM, OWNER, TO, Load

from partita import Session
from partita.recipes.web_sessions import new_session_id
from partita_services.commitcollect.signin.browser import DEVELOPMENT
from partita_services.commitcollect.signin.sessions import SESSIONS

READS: Final = (
    "/todo/api/tasks",
    "/todo/api/tasks/search?q=task",
    "/accounts/api/accounts",
    "/events/api/events",
    "/countries/api/countries",
    "/commitcollect/api/milestones",
    "/healthz",
)
TASKS: Final = 200
"""The maximum number of tasks of the caller; beyond it, the oldest is deleted for each that is added."""
REQUESTS: Final = 400
"""The maximum number of users with a request; beyond it, the first of them cancels for each that applies."""
FAILED: Final = 400
GONE: Final = (404, 409)
"""The responses if a request can no longer be cancelled, because it was rejected in the meantime."""

Call: TypeAlias = Callable[[Client], None]


class Failed(Exception):
    """A call was refused; the message has the call and its response."""


def log_in(db: Session) -> str:
    """Create a browser session for the caller, and return the header with its cookie."""
    session_id = new_session_id()
    db.run(SESSIONS.create(session_id, OWNER))
    return f"Cookie: {DEVELOPMENT}={session_id}\r\n"


class Calls:
    """Calls all services in turn, and records what was acknowledged."""

    def __init__(self, load: Load, connect: Callable[[str], Client]) -> None:
        self.load, self.connect = load, connect
        self._turns = itertools.cycle((*map(_read, READS), self._add_task, self._transfer, self._apply))
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._tasks: deque[tuple[str, str]] = deque()
        self._requests: deque[tuple[str, str]] = deque()
        with connect(OWNER) as client:
            listed = client.json("GET", "/events/api/events")["items"]
        self._events = [each["eventId"] for each in listed if each["status"] == "OPEN"]

    def next(self) -> Call:
        """Return the next call."""
        with self._lock:
            return next(self._turns)

    def _add_task(self, client: Client) -> None:
        title = f"task {next(self._numbers)}"
        made = json.loads(_sent(client, "POST", "/todo/api/tasks", {"title": title}))
        self.load.titles.append(title)
        self._tasks.append((made["task_id"], title))
        if len(self._tasks) > TASKS:
            task, title = self._tasks.popleft()
            _sent(client, "DELETE", f"/todo/api/tasks/{task}")
            self.load.titles.remove(title)
            self.load.deleted.append(title)

    def _transfer(self, client: Client) -> None:
        """Transfer money in alternating directions, so that there is always money to move."""
        ends = (FROM, TO) if next(self._numbers) % 2 else (TO, FROM)
        _sent(client, "POST", "/accounts/api/transfers", {"from": ends[0], "to": ends[1], "amount": 1})
        self.load.transfers += 1

    def _apply(self, _: Client) -> None:
        number = next(self._numbers)
        user, event = f"user{number}", self._events[number % len(self._events)]
        made = json.loads(self._sent_by(user, "POST", f"/events/api/events/{event}/requests"))
        self.load.requests.append(made["requestId"])
        self._requests.append((user, made["requestId"]))
        if len(self._requests) > REQUESTS:
            user, request = self._requests.popleft()
            self._sent_by(user, "DELETE", f"/events/api/requests/{request}", but=GONE)

    def _sent_by(self, user: str, method: str, path: str, but: Sequence[int] = ()) -> bytes:
        with self.connect(user) as client:
            return _sent(client, method, path, but=but)


def _read(path: str) -> Call:
    def read(client: Client) -> None:
        _sent(client, "GET", path)

    return read


def _sent(client: Client, method: str, path: str, body: object = None, but: Sequence[int] = ()) -> bytes:
    """Send a request, and return its response.

    Raises:
        Failed: the status is an error other than those in `but`.
    """
    status, response = client.send(method, path, body)
    if status >= FAILED and status not in but:
        raise Failed(f"{method} {path}: {status} {response!r:.100}")
    return response
