"""The interface to HTTP: one request out, one response back, and whether a request that failed was sent at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct


class HttpRequest(Struct, frozen=True):
    """One signed POST. Its headers hold credentials, so no `repr` shows them."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"HttpRequest({self.url!r}, {len(self.body)} bytes)"


class HttpResponse(Struct, frozen=True):
    """What came back, complete."""

    status: int
    body: Any
    """Anything with bytes in it."""
    header: Callable[[str], str | None]
    """Gives a header by its name, in any case."""
    closes: bool = False
    """Whether the server closes the connection after it."""


class RequestNotSent(Exception):
    """No connection was made: the request certainly did not happen."""


class ResponseLost(Exception):
    """The request may have arrived, but no complete response came back."""


class Transport(Protocol):
    """Sends requests. Safe for any number of threads and event loops at once. Never sends a request twice."""

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send and wait for the complete response.

        Raises:
            RequestNotSent: it certainly did not happen.
            ResponseLost: it may have happened.
        """
        ...

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """The same, without blocking the event loop."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class Limits(Struct, frozen=True):
    """How long to wait, in seconds, how many connections to use, how much to read, and how often to try."""

    connect: float = 2.0
    read: float = 10.0
    """The longest silence while a response is awaited; in as long, 16 KiB of it must come, or all that is left."""
    connections: int = 100
    """Requests at once, of all threads, and of the tasks of each event loop; others wait."""
    wait: float = 10.0
    """The longest wait for a connection that others use."""
    idle: float = 20.0
    """A connection that was idle for this long is not used again."""
    tries: int = 3
    """How often one call is sent at most; the session has retries of its own around these."""
    response_bytes: int = 134_217_728
    """The longest body of a response, 128 MiB: DynamoDB sends at most 16 MB of items, and JSON makes more of them."""
