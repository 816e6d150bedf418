"""The server: HTTP/1.1 on asyncio, one request after another on each connection, nothing read without a bound."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
import zlib
from email.utils import formatdate
from typing import Any, Final

import msgspec
from msgspec import Struct

from partita.errors import SerializationFailed
from partita.runtime import Clock, relay, run_async, system_clock
from partita.store import Json, Request
from partita.store.embedded import READS, EmbeddedStore
from partita.wire._faults import Fault, Response, error_response
from partita.wire._http import Body, Head, read_head
from partita.wire._operations import operations
from partita.wire._parameters import Parameters, Requests
from partita.wire._signature import AccessKey, SignedRequest, check_signature
from partita.wire._tables import fixed

_PREFIXES: Final = ("DynamoDB_20120810.", "DynamoDBStreams_20120810.")
_EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - compared, not listened on
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    413: "Payload Too Large",
    500: "Internal Server Error",
}
_WINDOWS: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_CLOSE: Final = "connection: close\r\n"
_HEALTHY: Final = fixed({"healthy": "dynamodb"})
_ENCODE: Final = msgspec.json.Encoder().encode
_DECODE: Final = msgspec.json.Decoder().decode


class Limits(Struct, frozen=True):
    """What one connection may ask of the server."""

    head_bytes: int = 16 * 1024
    body_bytes: int = 17 * 1024 * 1024
    request_seconds: float = 30.0
    idle_seconds: float = 300.0
    connections: int = 1_000


DEFAULT_LIMITS: Final = Limits()


class WireServer:
    """Serves a store. With a key, requests must be signed with it; without, every request is executed."""

    def __init__(
        self,
        store: EmbeddedStore,
        *,
        key: AccessKey | None = None,
        limits: Limits = DEFAULT_LIMITS,
        clock: Clock = system_clock,
    ) -> None:
        self.limits = limits
        self.connections: set[Connection] = set()
        self._store = store
        self._key = key
        self._clock = clock
        self._operations = operations(clock)
        self._server: asyncio.Server | None = None
        self._sweeping: asyncio.TimerHandle | None = None
        self._date = (0, "")

    async def start(self, listener: socket.socket) -> None:
        """Begin to serve on a listening socket."""
        loop = asyncio.get_running_loop()
        host, port = listener.getsockname()[:2]
        self._operations = operations(self._clock, f"{'localhost' if host in _EVERYWHERE else host}:{port}")
        self._server = await loop.create_server(lambda: Connection(self), sock=listener)
        self._sweep()

    def _sweep(self) -> None:
        """Close connections that have been silent for too long, every now and then."""
        now = time.monotonic()
        for connection in tuple(self.connections):
            connection.close_if_late(now)
        self._sweeping = asyncio.get_running_loop().call_later(1.0, self._sweep)

    async def stop(self) -> None:
        """Accept no more requests, and finish those that are being executed."""
        if self._server is not None:
            self._server.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in tuple(self.connections):
            connection.finish()
        pending = [connection.responding for connection in self.connections if connection.responding is not None]
        if pending:
            await asyncio.gather(*pending, return_exceptions=True)

    def date(self) -> str:
        """The time as HTTP writes it; clients correct their clocks by it."""
        second = int(self._clock())
        if self._date[0] != second:
            self._date = second, formatdate(second, usegmt=True)
        return self._date[1]

    def respond(self, head: Head, body: bytes) -> Requests[Response]:
        """The response to a request. Reads are executed on the way; a write is yielded, to be awaited."""
        try:
            return Response(200, (yield from relay(self._operation(head, body), self._execute_read)))
        except Exception as error:  # noqa: BLE001 - the client gets a response, whatever it was
            return error_response(error)

    def _operation(self, head: Head, body: bytes) -> Requests[Json]:
        """The operation that the request names, with its parameters.

        Raises:
            RequestError: the request is refused.
        """
        if self._key is not None:
            check_signature(SignedRequest(head.method, head.path, head.headers, body), self._key, self._clock())
        if head.method not in ("GET", "POST") or head.path.partition("?")[0] != "/":
            raise Fault("UnknownOperationException", "", status=404)
        if head.method == "GET":
            return _HEALTHY(Parameters({}))
        given = _parameters(_unpacked(head, body, self.limits.body_bytes))
        operation = self._operations.get(_operation_name(head))
        if operation is None:
            raise Fault("UnknownOperationException", "")
        return operation(Parameters(given))

    def _execute_read(self, request: Request[Any]) -> Requests[Any]:
        """Execute a read at once, on the event loop; pass a write on."""
        if type(request) in READS:
            return self._store.execute(request)
        return (yield request)

    async def finish(self, responding: Requests[Response], write: Request[Any]) -> Response:
        """The response that waits for this write, and maybe for more; other connections go on meanwhile."""
        return await run_async(responding, self._store.execute_async, write)


def _operation_name(head: Head) -> str:
    target = head.headers.get("x-amz-target", "")
    for prefix in _PREFIXES:
        if target.startswith(prefix):
            return target[len(prefix) :]
    return ""


def _unpacked(head: Head, body: bytes, limit: int) -> bytes:
    encoding = head.headers.get("content-encoding", "identity")
    if encoding == "identity":
        return body
    if encoding not in _WINDOWS:
        raise SerializationFailed("The body may be packed with gzip or deflate.")
    try:
        return _unpacked_parts(body, limit, _WINDOWS[encoding])
    except zlib.error:
        raise SerializationFailed(f"The body is not valid {encoding}.") from None


def _unpacked_parts(body: bytes, limit: int, window: int) -> bytes:
    """Everything that was packed; gzip may have several parts."""
    unpacked = b""
    while body:
        unpacking = zlib.decompressobj(wbits=window)
        unpacked += unpacking.decompress(body, limit - len(unpacked) + 1)
        if len(unpacked) > limit:
            raise Fault("RequestEntityTooLargeException", "The body is too large when unpacked.", status=413)
        if not unpacking.eof:
            raise SerializationFailed("The packed body is cut off.")
        body = unpacking.unused_data
    return unpacked


def _parameters(body: bytes) -> Json:
    try:
        given = _DECODE(body or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise SerializationFailed("The body is not valid JSON.") from None
    except RecursionError:
        raise SerializationFailed("The body is nested too deeply.") from None
    if type(given) is not dict:
        raise SerializationFailed("The body is not a JSON object.")
    return given


class Connection(asyncio.Protocol):
    """One client. Requests that come while one is executed wait, so responses keep the order."""

    def __init__(self, server: WireServer) -> None:
        self.responding: asyncio.Task[None] | None = None
        self._server = server
        self._buffer = bytearray()
        self._head: Head | None = None
        self._body: Body | None = None
        self._finishing = False
        self._writing_paused = False
        self._heard = time.monotonic()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected; one too many is sent away."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - TCP has no other
        self._transport = transport
        if len(self._server.connections) >= self._server.limits.connections:
            transport.abort()
            return
        self._server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        """The client is gone."""
        self._server.connections.discard(self)
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        if not self._buffer and self._head is None:
            self._heard = time.monotonic()
        self._buffer += data
        if self.responding is None:
            self._serve()
        if len(self._buffer) > self._server.limits.body_bytes and self._transport is not None:
            self._transport.pause_reading()  # it goes on when responses have gone out

    def pause_writing(self) -> None:
        """The client does not read its responses: no more are made until it does."""
        self._writing_paused = True

    def resume_writing(self) -> None:
        """The client has read."""
        self._writing_paused = False
        if self.responding is None:
            self._go_on()

    def close_if_late(self, now: float) -> None:
        """Close the connection if a request takes too long to come, or none comes at all."""
        if self.responding is not None or self._transport is None:
            return
        limits = self._server.limits
        is_coming = bool(self._buffer) or self._head is not None
        if now - self._heard > (limits.request_seconds if is_coming else limits.idle_seconds):
            self._transport.abort()

    def finish(self) -> None:
        """Close when the response to the current request was sent."""
        self._finishing = True
        if self.responding is None and self._transport is not None:
            self._transport.close()

    def _serve(self) -> None:
        """Execute the requests that are complete."""
        while self._transport is not None and self.responding is None and not (self._finishing or self._writing_paused):
            try:
                request = self._next_request()
            except Fault as fault:
                self._send(error_response(fault), keep=False)
                return
            if request is None:
                return
            self._respond(*request)

    def _next_request(self) -> tuple[Head, bytes] | None:
        limits = self._server.limits
        if self._head is None:
            self._head = read_head(self._buffer, limits.head_bytes, limits.body_bytes)
            if self._head is not None and self._head.headers.get("expect", "").lower() == "100-continue":
                assert self._transport is not None  # noqa: S101 - asked by the caller
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self._body = None if self._head is None else Body(self._head, limits.body_bytes)
        head, body = self._head, None if self._body is None else self._body.read(self._buffer)
        if head is None or body is None:
            return None
        self._head = None
        self._heard = time.monotonic()
        return head, body

    def _respond(self, head: Head, body: bytes) -> None:
        responding = self._server.respond(head, body)
        try:
            write = next(responding)
        except StopIteration as end:
            self._send(end.value, keep=head.keep_alive)
            return
        self.responding = asyncio.get_running_loop().create_task(self._respond_later(head, responding, write))

    async def _respond_later(self, head: Head, responding: Requests[Response], write: Request[Any]) -> None:
        response = await self._server.finish(responding, write)
        self.responding = None
        self._heard = time.monotonic()
        self._send(response, keep=head.keep_alive and not self._finishing)
        self._go_on()

    def _go_on(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
            self._serve()

    def _send(self, response: Response, *, keep: bool) -> None:
        if self._transport is None:
            return
        body = _ENCODE(response.body)
        head = (
            f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Error')}\r\n"
            f"server: partita\r\ndate: {self._server.date()}\r\n"
            "content-type: application/x-amz-json-1.0\r\n"
            f"content-length: {len(body)}\r\n"
            f"x-amz-crc32: {zlib.crc32(body)}\r\n"
            f"x-amzn-requestid: {secrets.token_hex(26).upper()}\r\n"
            f"{'' if keep else _CLOSE}\r\n"
        )
        self._transport.write(head.encode() + body)
        if not keep:
            self._transport.close()
