"""A transport that responds from a script, and records the requests."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec

from partita._aws._credentials import GivenCredentials
from partita._aws._transport import HttpRequest, HttpResponse
from partita.store.remote import Credentials, Limits, Outside, RemoteStore

NOW = 1_767_268_800.0  # noon of 1 January 2026
KEYS = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session-token-of-the-test")

Play = HttpResponse | Exception


def http_response(body: Any = None, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """Return a response with a JSON body and the checksum that AWS sends."""
    encoded = body if isinstance(body, bytes) else msgspec.json.encode(body or {})
    known = {"x-amz-crc32": str(zlib.crc32(encoded)), **(headers or {})}
    return HttpResponse(status, encoded, lambda name: known.get(name.lower()))


def error_response(
    name: str, message: str = "no", *, status: int = 400, date: str = "", **members: Any
) -> HttpResponse:
    """Return an error as AWS sends it."""
    body = {"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": message, **members}
    return http_response(body, status=status, headers={"date": date} if date else None)


class ScriptedTransport:
    """Plays its responses in order, and records the requests."""

    def __init__(self, *plays: Play) -> None:
        self._plays: Iterator[Play] = iter(plays)
        self.sent: list[HttpRequest] = []
        self.is_closed = False

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The decoded bodies of all requests."""
        return [msgspec.json.decode(call.body) for call in self.sent]

    @property
    def names(self) -> list[str]:
        """The operation names of all requests."""
        return [call.headers["X-Amz-Target"].partition(".")[2] for call in self.sent]

    def send(self, call: HttpRequest) -> HttpResponse:
        self.sent.append(call)
        play = next(self._plays)
        if isinstance(play, Exception):
            raise play
        return play

    async def send_async(self, call: HttpRequest) -> HttpResponse:
        return self.send(call)

    def close(self) -> None:
        self.is_closed = True


class ScriptedStore:
    """A remote store on a script, which records its pauses."""

    def __init__(self, *plays: Play, credentials: GivenCredentials = KEYS, tries: int = 3) -> None:
        self.transport = ScriptedTransport(*plays)
        self.pauses: list[float] = []
        self.now = NOW
        numbers = iter(range(1, 100))
        self.store = RemoteStore(
            "http://127.0.0.1:8000",
            region="eu-west-1",
            credentials=credentials,
            limits=Limits(tries=tries),
            transport=self.transport,
            outside=Outside(lambda: self.now, Random(1), self.pauses.append, lambda: f"token-{next(numbers)}"),
        )
