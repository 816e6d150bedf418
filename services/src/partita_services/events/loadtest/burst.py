"""The burst: very many users apply at once, some of them more than once, and none gives up at the first failure.

Each connection has its own thread and uses `http.client`, which takes 0.2 ms of processor time per request. A client of
httpx with 64 connections takes 5 ms, so the storm would measure the client and not the server.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from random import Random
from threading import Event, Lock
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from partita.errors import RequestError
from partita_services.events.loadtest.audit import ApplyResponse

ACCEPTED: Final = 202
FOUND: Final = 200
_SERVER_FAULT: Final = 500
_PAUSE_SECONDS: Final = 0.1
_TIMEOUT_SECONDS: Final = 30.0


class _Applied(Struct, frozen=True, rename="camel"):
    request_id: str


class Burst(Struct, frozen=True):
    """Who applies, where, and for how long they keep trying."""

    url: str
    """The URL to which applications are sent."""
    applications: Sequence[str]
    """The users, in the order in which they send; a user who sends twice is included twice."""
    token: Callable[[str], str]
    """Returns the token of a user."""
    connections: int
    patience: float
    """For how many seconds a user tries again while the service does not respond."""


def applications(users: Sequence[str], duplicates: float, random: Random) -> list[str]:
    """Every user once and some of them twice, in random order."""
    again = random.sample(users, round(len(users) * duplicates))
    together = [*users, *again]
    random.shuffle(together)
    return together


def user_names(count: int) -> Iterable[str]:
    """The users of a storm."""
    return (f"storm-{number:06}" for number in range(count))


def apply_all(burst: Burst, done: Callable[[int], None]) -> list[ApplyResponse]:
    """Send all applications, one at a time on each connection; `done` is called after each, never concurrently.

    Raises:
        RequestError: the service refuses an application.
    """
    senders = _Senders(burst, done)
    with ThreadPoolExecutor(burst.connections) as pool:
        sending = [pool.submit(senders.send) for _ in range(burst.connections)]
        try:
            wait(sending, return_when=FIRST_EXCEPTION)
        finally:
            senders.stop.set()
    return [response for sender in sending for response in sender.result()]


class _Senders:
    """The senders of a burst, each of which picks the next user who has not applied yet."""

    def __init__(self, burst: Burst, done: Callable[[int], None]) -> None:
        self.stop = Event()
        """Set when one of them has failed, or when all are done."""
        self._burst = burst
        self._path = urlsplit(burst.url).path
        self._done = done
        self._users = iter(burst.applications)
        self._lock = Lock()

    def send(self) -> list[ApplyResponse]:
        """Apply for one user after another over one connection. Return the responses."""
        responses = []
        with closing(_connection(self._burst.url)) as connection:
            while (user := self._next_user()) is not None:
                response = self._apply(connection, user)
                if response is not None:
                    responses.append(response)
                with self._lock:
                    self._done(1)
        return responses

    def _next_user(self) -> str | None:
        with self._lock:
            return None if self.stop.is_set() else next(self._users, None)

    def _apply(self, connection: HTTPConnection, user: str) -> ApplyResponse | None:
        """Send one application, again until there is a response. Return None after the time to keep trying is over."""
        headers = {"Authorization": f"Bearer {self._burst.token(user)}"}
        deadline = time.monotonic() + self._burst.patience
        while time.monotonic() < deadline and not self.stop.is_set():
            began = time.perf_counter()
            try:
                status, body = _post(connection, self._path, headers)
            except (OSError, HTTPException):
                connection.close()  # the next request opens it again
                self.stop.wait(_PAUSE_SECONDS)
                continue
            if status < _SERVER_FAULT:
                return _read(user, status, body, time.perf_counter() - began)
            self.stop.wait(_PAUSE_SECONDS)
        return None


def _connection(url: str) -> HTTPConnection:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=_TIMEOUT_SECONDS)


def _post(connection: HTTPConnection, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
    connection.request("POST", path, headers=headers)
    response = connection.getresponse()
    return response.status, response.read()


def _read(user: str, status: int, body: bytes, seconds: float) -> ApplyResponse:
    if status not in (ACCEPTED, FOUND):
        raise RequestError(f"The service refused an application: {status} {body.decode(errors='replace')[:300]}")
    applied = msgspec.json.decode(body, type=_Applied)
    return ApplyResponse(user, applied.request_id, status == ACCEPTED, seconds)
