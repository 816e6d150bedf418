"""Connections of clients that may be slow: each step of a client has a deadline, and the number of connections a limit.

    a connection   IDLE ────── HEAD ────── BODY ────── RESPONSE ── IDLE …
    takes at most  idle_seconds head_seconds body_seconds, then as long as the client reads

uvicorn would wait forever for the rest of a head or a body, and for a client to read its response. If all connections
are in use, the one that has waited for its client for the longest time is closed to make room.

A client may send a request before it has received the response to the previous one (pipelining). An error in such a
request is not reported in the middle of that response: the connection is closed after the response instead.

A request may ask for another protocol (`Upgrade: h2c`), which is ignored. The parser ends such a request before its
body, and would read the body as the next request.

A connection has one timer for all of its requests. If the deadline has moved when the timer expires, the timer is
restarted for the remaining time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import httptools
from msgspec import Struct, field
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from partita.cli._joined_writes import JoinedWrites
from partita.http import problem_response

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

MAX_PIPELINED: Final = 100
"""How many requests of a connection may wait for earlier responses. If a client sends more, reading stops."""
_FRAMING: Final = (b"content-length", b"transfer-encoding")
"""The headers that say where a body ends."""
_EARLY_SECONDS: Final = 0.01
"""Event loops round their timers, so that a timer may expire slightly early."""
_REFUSED: Final = {"Connection": "close", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class ConnectionLimits(Struct, frozen=True):
    """How long a client may take for each step, and how many connections are allowed."""

    idle_seconds: int = 30
    """Time without a request: before the first one, and between two."""
    head_seconds: float = 10.0
    """From the first byte of a request to the end of its headers."""
    body_seconds: float = 30.0
    """From the end of the headers to the end of the body."""
    send_seconds: float = 30.0
    """Time in which the client must read `send_bytes` of a response, or the rest of it."""
    send_bytes: int = 16_384
    head_bytes: int = 65_536
    """Maximum size of an unfinished head. The app checks the size of finished ones."""
    connections: int = 1_000


class Step(Enum):
    """The current step of a connection."""

    IDLE = auto()
    HEAD = auto()
    BODY = auto()
    RESPONSE = auto()


class WaitingConnections(Struct, frozen=True):
    """The connections of a server that wait for their clients, in the order in which they began to wait."""

    heads: dict[LimitedConnection, None] = field(default_factory=dict)
    """Those that wait for a request, or for the rest of its head."""
    bodies: dict[LimitedConnection, None] = field(default_factory=dict)

    def longest(self) -> LimitedConnection | None:
        """The connection to close if there are too many."""
        return next(chain(self.heads, self.bodies), None)


class TooManyRequests(Exception):
    """A client has sent more requests than may wait for their responses. This stops the parser."""


class LimitedConnection(HttpToolsProtocol):
    """A connection with deadlines, one of a limited number."""

    def __init__(
        self,
        *,
        limits: ConnectionLimits,
        waiting: WaitingConnections,
        on_change: Callable[[int], None] | None = None,
        **given: Any,
    ) -> None:
        """`on_change` is called with the number of connections whenever it changes."""
        super().__init__(**given)
        self._on_change = on_change
        self._limits = limits
        self._waiting = waiting
        self._step = Step.IDLE
        self._requests = 0
        self._waits_for: tuple[int, Step] | None = None
        self._head_bytes = 0
        self._framing = b""
        """The lines that frame a body which the parser has not read because of an upgrade."""
        self._deadline = 0.0
        """When the client must have finished the current step, by the clock of the loop."""
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ends = 0.0
        self._sending: asyncio.TimerHandle | None = None
        self._running: RequestResponseCycle | None = None
        """The request that the app is handling; `cycle` is the last one received, which may wait for it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(JoinedWrites(transport, self.loop))
        self._count()
        if len(self.connections) <= self._limits.connections:
            self._wait()
        elif (longest := self._waiting.longest()) is not None:
            longest.give_way()
            self._wait()
        else:
            self._refuse(503, "too_many_connections", "All connections of this server are in use.")

    def give_way(self) -> None:
        """Close at once, to make room for another connection."""
        self._stop_waiting()
        self._stop_timer()
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_timer()
        self._stop_timing_the_sending()
        super().connection_lost(exc)
        if self._running is not None and not self._running.response_complete:  # uvicorn notifies only the last one
            self._running.disconnected = True
            self._running.message_event.set()
        self._count()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio's; uvicorn's always closes
        """The client sends no more data. It may still read, so if its requests are complete, it gets the responses.

        The connection is closed if a response has begun: that may never end, although the client is gone.
        """
        is_whole = self._step in (Step.RESPONSE, Step.HEAD)  # in HEAD, only a later request is incomplete
        if not is_whole or self._running is None or self._running.response_started:
            return False
        self.shutdown()
        return True

    def _count(self) -> None:
        if self._on_change is not None:
            self._on_change(len(self.connections))

    # Received data, and the callbacks of the parser

    def data_received(self, data: bytes) -> None:
        self._parse(data)
        if self.transport.is_closing():
            self._stop_waiting()
        elif self._waits_for != (self._requests, self._step):
            self._wait()
        elif self._step is Step.HEAD:
            self._head_bytes += len(data)
            if self._head_bytes > self._limits.head_bytes:
                self._reject(431, "head_too_large", "The head of the request is too large.")

    def _parse(self, data: bytes) -> None:
        """Parse data. If the parser stops for an upgrade, it goes on with the body, whose head is given to it again."""
        rest = data
        while rest and self.parser is not None:  # uvicorn drops it with the connection
            try:
                self.parser.feed_data(rest)
            except httptools.HttpParserError:  # not valid HTTP, or too many requests
                self._reject(400, "invalid_http", "Invalid HTTP request received.")
            except httptools.HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
                if self._framing:
                    rest = b"POST / HTTP/1.1\r\n%s\r\n%s" % (self._framing, rest)
                continue
            return

    def on_message_begin(self) -> None:
        if self._framing:
            return
        self._step = Step.HEAD
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._step is Step.HEAD:  # a trailer after a body is not a header: the checks of headers are over
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._framing:
            self._framing = b""
            return
        if len(self.pipeline) >= MAX_PIPELINED:
            raise TooManyRequests
        super().on_headers_complete()
        self._step = Step.BODY
        if self.parser is not None and self.parser.should_upgrade():
            self._framing = b"".join(b"%s: %s\r\n" % line for line in self.headers if line[0] in _FRAMING)

    def on_message_complete(self) -> None:
        if self._framing:  # the body follows
            return
        super().on_message_complete()
        self._requests += 1
        # If a body is too large, the response is complete before the body ends.
        self._step = Step.IDLE if self.cycle.response_complete else Step.RESPONSE

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    # Responses of the app

    def on_response_complete(self) -> None:
        """As in uvicorn, except for its timer of idle connections: this class has its own deadlines."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            self._stop_waiting()
            self._time_the_sending()
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        if self._step is Step.RESPONSE and self.cycle.response_complete:
            self._step = Step.IDLE
            self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._time_the_sending()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_timing_the_sending()

    # Deadlines

    def _wait(self) -> None:
        """Start the deadline of the current step, and join the end of the queue of connections that wait."""
        self._stop_waiting()
        self._waits_for = self._requests, self._step
        self._head_bytes = 0
        if self._step is not Step.RESPONSE:
            (self._waiting.bodies if self._step is Step.BODY else self._waiting.heads)[self] = None
            self._deadline = self.loop.time() + self._seconds()
            if self._timer is None or self._timer_ends > self._deadline:
                self._start_timer(self._seconds())

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer_ends = self.loop.time() + seconds
        self._timer = self.loop.call_later(seconds, self._look_at_deadline)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_at_deadline(self) -> None:
        """Expire if the deadline has passed. Otherwise, restart the timer if the connection still waits."""
        self._timer = None
        if self not in self._waiting.heads and self not in self._waiting.bodies:
            return
        left = self._deadline - self.loop.time()
        if left > _EARLY_SECONDS:
            self._start_timer(left)
        else:
            self._expire()

    def _seconds(self) -> float:
        if self._step is Step.IDLE:
            return self._limits.idle_seconds
        return self._limits.head_seconds if self._step is Step.HEAD else self._limits.body_seconds

    def _stop_waiting(self) -> None:
        self._waiting.heads.pop(self, None)
        self._waiting.bodies.pop(self, None)

    def _expire(self) -> None:
        if self._step is Step.IDLE:
            self._close()
        else:
            part = "head" if self._step is Step.HEAD else "body"
            self._reject(408, "request_timeout", f"The {part} of the request did not arrive in time.")

    def _reject(self, status: int, code: str, detail: str) -> None:
        """Refuse an incomplete request, but not in the middle of a response, and not after its own response."""
        is_responding = self.cycle is not None and not self.cycle.response_complete
        if self._step is Step.BODY:
            if is_responding and not self.cycle.response_started and not self.pipeline:
                self._refuse(status, code, detail)
            else:
                self._close()
        elif is_responding:
            self.shutdown()  # closes the connection after the earlier requests are finished
        else:
            self._refuse(status, code, detail)

    def _refuse(self, status: int, code: str, detail: str) -> None:
        response = problem_response(status, code, detail, headers=_REFUSED)
        headers = [part for name, value in response.raw_headers for part in (name, b": ", value, b"\r\n")]
        self.transport.write(b"".join([STATUS_LINE[status], *headers, b"\r\n", response.body]))
        self._close()

    def _close(self) -> None:
        self._stop_waiting()
        self._stop_timer()
        self.transport.close()
        self._time_the_sending()

    def _time_the_sending(self) -> None:
        # A closed transport still waits until everything is sent, which is forever if the client does not read.
        if self._sending is None:
            unsent = self.transport.get_write_buffer_size()
            self._sending = self.loop.call_later(self._limits.send_seconds, self._check_sending, unsent)

    def _check_sending(self, unsent: int) -> None:
        self._sending = None
        if self.transport.get_write_buffer_size() > unsent - self._limits.send_bytes:
            self.transport.abort()
        else:
            self._time_the_sending()

    def _stop_timing_the_sending(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
