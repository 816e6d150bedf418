"""The seam to HTTP: one call out, one answer back, and whether a call that failed was sent at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct


class HttpCall(Struct, frozen=True):
    """One signed request. Its headers hold credentials, so no `repr` shows them."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"HttpCall({self.url!r}, {len(self.body)} bytes)"


class HttpAnswer(Struct, frozen=True):
    """What came back, whole."""

    status: int
    body: Any
    """Anything with bytes in it."""
    header: Callable[[str], str | None]
    """Gives a header by its name, in any case."""
    closes: bool = False
    """Whether the connection ends with it."""


class NotSent(Exception):
    """No connection was made: the call certainly did not happen."""


class AnswerLost(Exception):
    """The call may have arrived, but no whole answer came back."""


class Transport(Protocol):
    """Sends calls. Safe for any number of threads and event loops at once. Never sends a call twice."""

    def send(self, call: HttpCall) -> HttpAnswer:
        """Send and wait for the whole answer.

        Raises:
            NotSent: it certainly did not happen.
            AnswerLost: it may have happened.
        """
        ...

    async def send_async(self, call: HttpCall) -> HttpAnswer:
        """The same, without blocking the event loop."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class Limits(Struct, frozen=True):
    """How long to wait, in seconds, how many connections to keep, and how often to try."""

    connect: float = 2.0
    read: float = 10.0
    """The longest silence while an answer is awaited."""
    connections: int = 100
    """Calls at once, of all threads, and of the tasks of each event loop; others wait."""
    wait: float = 10.0
    """The longest wait for a connection that others use."""
    idle: float = 20.0
    """A connection that was idle for this long is not used again."""
    tries: int = 3
    """How often one request is sent at most; the session has retries of its own around these."""
