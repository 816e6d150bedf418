"""A server that sleeps while there are no requests.

uvicorn checks ten times a second whether it has to stop, and renews the `Date` header of responses once a second. Here,
stopping is an event, and the header is renewed for the first response in a second.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from email.utils import formatdate

import uvicorn
from uvicorn.server import ServerState

Headers = list[tuple[bytes, bytes]]


class DatedState(ServerState):
    """The state that all connections share. The default headers always have the current time."""

    def __init__(self, others: Callable[[], Headers], clock: Callable[[], float] = time.time) -> None:
        self._others = others
        self._clock = clock
        self._second = -1
        self._headers: Headers = []
        super().__init__()

    @property
    def default_headers(self) -> Headers:
        """The headers of a response that is sent now."""
        second = int(self._clock())
        if second != self._second:
            self._headers = [(b"date", formatdate(second, usegmt=True).encode()), *self._others()]
            self._second = second
        return self._headers

    @default_headers.setter
    def default_headers(self, headers: Headers) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Ignore the initial headers that uvicorn sets; they are empty."""


class QuietServer(uvicorn.Server):
    """A server without a periodic timer."""

    def __init__(self, config: uvicorn.Config) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = asyncio.Event()
        self._should_exit = False
        super().__init__(config)
        self.server_state = DatedState(lambda: config.encoded_headers)

    @property
    def should_exit(self) -> bool:
        """Whether the server has to stop. Any thread and any signal handler may set this."""
        return self._should_exit

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        self._should_exit = value
        if value and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ended.set)

    async def main_loop(self) -> None:
        """Serve until `should_exit` is set."""
        self._loop = asyncio.get_running_loop()
        if not self._should_exit:
            await self._ended.wait()
