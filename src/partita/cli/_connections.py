"""Connections of clients that may be slow: what a client has to do has a deadline, and their number a bound.

    a connection   IDLE ────── HEAD ────── BODY ────── RESPONSE ── IDLE …
    takes at most  idle_seconds head_seconds body_seconds, then as long as the client reads

uvicorn would wait for ever for the rest of a head or a body, and for a client to read its response. Where all
connections are in use, the one that has waited for its client for the longest time makes room.

A client may send a request before it has the response to the one before. What is wrong with it is not said in the
middle of that response: the connection is closed after it.

A connection has one timer, whatever number of requests it has. Where the deadline has moved on when it expires, it is
set again for the rest of the time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from partita.cli._joined_writes import JoinedWrites
from partita.http import problem_response

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

MAX_PIPELINED: Final = 100
"""Requests of a connection that wait for the responses before theirs. Of a client that sends more, no more is read."""
_EARLY_SECONDS: Final = 0.01
"""A loop rounds its timers, so that one may end a little before its time."""
_REFUSED: Final = {"Connection": "close", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class ConnectionLimits(Struct, frozen=True):
    """How long a client may take, and how many connections there may be."""

    idle_seconds: int = 30
    """Without a request: before the first one, and between two."""
    head_seconds: float = 10.0
    """From the first byte of a request to the end of its headers."""
    body_seconds: float = 30.0
    """From there to the end of its body."""
    send_seconds: float = 30.0
    """In which the client must read `send_bytes` of a response, or all that is left of it."""
    send_bytes: int = 16_384
    head_bytes: int = 65_536
    """Of a head that has not ended; one that has is measured by the app."""
    connections: int = 1_000


class Step(Enum):
    """What a connection is about."""

    IDLE = auto()
    HEAD = auto()
    BODY = auto()
    RESPONSE = auto()


class WaitingConnections(Struct, frozen=True):
    """The connections of a server that wait for their clients, each in the order in which they began to."""

    heads: dict[LimitedConnection, None] = field(default_factory=dict)
    """For a request, or for the rest of its head."""
    bodies: dict[LimitedConnection, None] = field(default_factory=dict)

    def longest(self) -> LimitedConnection | None:
        """The one to close where there are too many."""
        return next(chain(self.heads, self.bodies), None)


class TooManyRequests(Exception):
    """A client has sent more requests than may wait for their responses. The parser ends with it."""


class LimitedConnection(HttpToolsProtocol):
    """A connection with deadlines, one of a bounded number."""

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
        self._deadline = 0.0
        """By when the client must have done what is waited for, by the clock of the loop."""
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ends = 0.0
        self._sending: asyncio.TimerHandle | None = None
        self._running: RequestResponseCycle | None = None
        """The request that the app has; `cycle` is the last one, which may wait for it."""

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
        """Close at once, for another connection."""
        self._stop_waiting()
        self._stop_timer()
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_timer()
        self._stop_timing_the_sending()
        super().connection_lost(exc)
        if self._running is not None and not self._running.response_complete:  # uvicorn says it to the last one alone
            self._running.disconnected = True
            self._running.message_event.set()
        self._count()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio's; uvicorn's always closes
        """The client sends no more. It may still read, where it has sent whole requests: it gets their responses.

        A response that has begun may have no end, and nobody reads it where the client is gone.
        """
        is_whole = self._step in (Step.RESPONSE, Step.HEAD)  # or a second request is not, after one that is
        if not is_whole or self._running is None or self._running.response_started:
            return False
        self.shutdown()
        return True

    def _count(self) -> None:
        if self._on_change is not None:
            self._on_change(len(self.connections))

    # What the parser finds in the bytes

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing():
            self._stop_waiting()
        elif self._waits_for != (self._requests, self._step):
            self._wait()
        elif self._step is Step.HEAD:
            self._head_bytes += len(data)
            if self._head_bytes > self._limits.head_bytes:
                self._reject(431, "head_too_large", "The head of the request is too large.")

    def send_400_response(self, msg: str) -> None:
        """What has come is not HTTP, or too much of it."""
        self._reject(400, "invalid_http", msg)

    def on_message_begin(self) -> None:
        self._step = Step.HEAD
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._step is Step.HEAD:  # a trailer, after a body, is not a header: whoever checks those has not seen it
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= MAX_PIPELINED:
            raise TooManyRequests
        super().on_headers_complete()
        self._step = Step.BODY

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._requests += 1
        # A body that is too large has its response before it ends.
        self._step = Step.IDLE if self.cycle.response_complete else Step.RESPONSE

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    # What the app sends

    def on_response_complete(self) -> None:
        """As in uvicorn, but for its timer of idle connections, which have their deadline here."""
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
        """Start the deadline of what the client has to do now, and stand last among those that wait for the same."""
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
        """The timer has ended: so has the deadline, unless it was for something that the client has done since."""
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
        """Refuse a request that has not come whole, but not in the middle of a response, and not after its own."""
        is_responding = self.cycle is not None and not self.cycle.response_complete
        if self._step is Step.BODY:
            if is_responding and not self.cycle.response_started and not self.pipeline:
                self._refuse(status, code, detail)
            else:
                self._close()
        elif is_responding:
            self.shutdown()  # what was asked for before is finished before the connection is closed
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
        # A transport that is closed still waits until all is sent, and for ever where the client does not read.
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
