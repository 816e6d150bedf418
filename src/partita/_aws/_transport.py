"""The interface to HTTP: one request, one response, and whether a failed request was sent at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct


class HttpRequest(Struct, frozen=True):
    """One signed POST. Its headers contain credentials, so its `repr` omits them."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"HttpRequest({self.url!r}, {len(self.body)} bytes)"


class HttpResponse(Struct, frozen=True):
    """A complete response."""

    status: int
    body: Any
    """A bytes-like object."""
    header: Callable[[str], str | None]
    """Returns a header by its case-insensitive name."""
    closes: bool = False
    """Whether the server closes the connection after this response."""


class RequestNotSent(Exception):
    """No connection was made: the request was certainly not executed. `hint` says what may help."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


class ResponseLost(Exception):
    """The request may have arrived, but no complete response was received."""


class Transport(Protocol):
    """Sends requests. Safe for any number of threads and event loops at once. Never sends a request twice."""

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and wait for the complete response.

        Raises:
            RequestNotSent: the request was certainly not executed.
            ResponseLost: the request may have been executed.
        """
        ...

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Do the same without blocking the event loop."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class Limits(Struct, frozen=True):
    """Limits for waiting (in seconds), for connections, for response sizes and for tries."""

    connect: float = 2.0
    read: float = 10.0
    """The longest silence while waiting for a response; in that time, 16 KiB of it, or all the rest, must arrive."""
    connections: int = 100
    """The limit for concurrent requests of all threads, and of the tasks of each event loop; other requests wait."""
    wait: float = 10.0
    """The longest wait for a connection while all are in use."""
    idle: float = 20.0
    """A connection that was idle for longer than this is not used again."""
    tries: int = 3
    """How often one call is sent at most; the session retries in addition."""
    response_bytes: int = 134_217_728
    """The longest body of a response, 128 MiB: DynamoDB sends at most 16 MB of items, which are longer as JSON."""
