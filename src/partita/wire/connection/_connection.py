"""A client connection on asyncio: requests are executed one at a time, and responses are sent in order."""

from __future__ import annotations

import asyncio
import math
import zlib
from contextlib import suppress
from typing import Any, Final, Protocol, cast

import msgspec

from partita.runtime import accepts_gzip
from partita.store import Request
from partita.wire._faults import Fault, Response, error_response
from partita.wire._parameters import Requests
from partita.wire._signature import Authorization
from partita.wire.connection._body import MIN_PACKED, pack
from partita.wire.connection._connections import Connections
from partita.wire.connection._reader import Head, HttpRequest, RequestReader

_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    413: "Payload Too Large",
    421: "Misdirected Request",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
_BEGINNINGS: Final = {
    status: f"HTTP/1.1 {status} {reason}\r\nserver: partita\r\ncontent-type: application/x-amz-json-1.0\r\ndate: "
    for status, reason in _REASONS.items()
}
_CLOSE: Final = "connection: close\r\n"
_PACKED: Final = "content-encoding: gzip\r\n"
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_LINGER_SECONDS: Final = 2.0
_ENCODE: Final = msgspec.json.Encoder().encode


class Service(Protocol):
    """What a connection needs from its server."""

    def check_head(self, head: Head, address: str) -> Authorization | None:
        """Check the head of a request that arrived at this address; raise Fault to refuse it."""
        ...

    def respond(self, request: HttpRequest) -> Requests[Response]:
        """The response; requests that must be awaited are yielded."""
        ...

    async def finish(self, responding: Requests[Response], write: Request[Any]) -> Response:
        """Execute the write and the rest of the request, and return the response."""
        ...

    def date(self) -> str:
        """The current time in HTTP date format."""
        ...


class Connection(asyncio.Protocol):
    """The connection of one client.

    A request that is refused before it is complete ends the connection. The client may still be sending it, and would
    lose the response if the socket were closed immediately; so further bytes are read and discarded for a while.
    """

    def __init__(self, service: Service, connections: Connections) -> None:
        self.responding: asyncio.Task[None] | None = None
        self.since = connections.timer()
        """When the request that is arriving began, or the last one ended."""
        self._service = service
        self._connections = connections
        self._reader = RequestReader(connections.limits, connections.budget, self._check_head)
        self._address = ""
        self._finishing = False
        self._refused = False
        self._writing_paused = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Add the connection, or close it if there are too many."""
        self._transport = cast("asyncio.Transport", transport)  # always so for TCP; uvloop's is not a subclass
        self._address = transport.get_extra_info("sockname")[0]
        if not self._connections.add(self):
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio passes it by this name
        """Release what the connection uses."""
        self._connections.remove(self)
        self._transport = None
        self._reader.close()

    def data_received(self, data: bytes) -> None:
        """Parse the bytes and serve complete requests; pause reading while a response is pending."""
        if self._refused:
            return
        if not self._reader.is_coming:
            self.since = self._connections.timer()
        self._reader.add(data)
        if self.responding is None and not self._writing_paused:
            self._serve()
        elif self._transport is not None:
            self._transport.pause_reading()  # it resumes when responses have gone out

    def pause_writing(self) -> None:
        """Stop serving requests until the client reads its responses."""
        self._writing_paused = True

    def resume_writing(self) -> None:
        """Resume after the client has read its responses."""
        self._writing_paused = False
        if self.responding is None:
            self._go_on()

    def is_waiting(self) -> bool:
        """Whether closing loses no work: no request is executing, and none has a complete head."""
        return self.responding is None and self._reader.head is None and not self._writing_paused

    def patience(self) -> float:
        """The time limit of its current state, in seconds."""
        limits = self._connections.limits
        if self.responding is not None:
            return math.inf
        if self._refused:
            return _LINGER_SECONDS
        if self._reader.head is not None or self._writing_paused:
            return limits.request_seconds
        return min(limits.head_seconds, limits.request_seconds) if self._reader.is_coming else limits.idle_seconds

    def abort(self) -> None:
        """Close immediately."""
        if self._transport is not None:
            self._transport.abort()

    def finish(self) -> None:
        """Close after the response to the current request is sent."""
        self._finishing = True
        if self.responding is None and self._transport is not None:
            self._transport.close()

    def _check_head(self, head: Head) -> Authorization | None:
        return self._service.check_head(head, self._address)

    def _serve(self) -> None:
        """Execute all complete requests."""
        while self._transport is not None and self.responding is None and not (self._finishing or self._writing_paused):
            try:
                request = self._reader.next_request()
            except Fault as fault:
                self._refuse(fault)
                return
            if request is None:
                if self._reader.head is not None and self._reader.expects_continue():
                    self._transport.write(_CONTINUE)
                return
            self._respond(request)

    def _respond(self, request: HttpRequest) -> None:
        responding = self._service.respond(request)
        try:
            write = next(responding)
        except StopIteration as end:
            self._send_last(request, end.value)
            return
        self.responding = asyncio.get_running_loop().create_task(self._respond_later(request, responding, write))

    async def _respond_later(self, request: HttpRequest, responding: Requests[Response], write: Request[Any]) -> None:
        response = await self._service.finish(responding, write)
        self.responding = None
        self._send_last(request, response)
        self._go_on()

    def _send_last(self, request: HttpRequest, response: Response) -> None:
        """Send the response to a request, and close if it is the last."""
        request.body.release()
        self.since = self._connections.timer()
        keep = request.head.keep_alive and not self._finishing
        self._send(response, keep=keep, with_body=request.head.method != "HEAD", asked_by=request.head)
        if not keep and self._transport is not None:
            self._finishing = True
            self._transport.close()

    def _go_on(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
            self._serve()

    def _refuse(self, fault: Fault) -> None:
        assert self._transport is not None  # noqa: S101 - the caller has checked it
        self._refused = self._finishing = True
        self.since = self._connections.timer()
        self._send(error_response(fault), keep=False, with_body=not self._reader.is_head_method())
        self._reader.close()
        with suppress(OSError):  # the client may have disconnected
            self._transport.write_eof()
        self._transport.resume_reading()

    def _send(self, response: Response, *, keep: bool, with_body: bool, asked_by: Head | None = None) -> None:
        if self._transport is None:
            return
        body = b"" if response.body is None else _ENCODE(response.body)
        packed = len(body) >= MIN_PACKED and asked_by is not None and _accepts_gzip(asked_by)
        if packed:
            body = pack(body)
        head = (
            f"{_BEGINNINGS[response.status]}{self._service.date()}\r\n"
            f"content-length: {len(body)}\r\n"
            f"x-amz-crc32: {zlib.crc32(body)}\r\n"
            f"x-amzn-requestid: {self._connections.ids.next_id()}\r\n"
            f"{_PACKED if packed else ''}{'' if keep else _CLOSE}\r\n"
        )
        self._transport.write(head.encode() + body if with_body else head.encode())


def _accepts_gzip(head: Head) -> bool:
    return accepts_gzip(head.headers.get("accept-encoding", ""))
