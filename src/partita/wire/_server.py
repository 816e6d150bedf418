"""The server: executes DynamoDB's operations on a store for authorized clients."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from email.utils import formatdate
from functools import lru_cache
from typing import Any, Final

import msgspec

from partita.buckets import Buckets
from partita.errors import SerializationFailed
from partita.runtime import AllowedHosts, Clock, relay, run_async, run_some, system_clock
from partita.store import Json, Request, Store
from partita.store.embedded import READS
from partita.wire._access import PolicyGuard
from partita.wire._execution import Execution, LocatedRequest, RegionStores
from partita.wire._faults import Fault, Response, error_response, outage_log
from partita.wire._operations import operations
from partita.wire._parameters import DEFAULT_REGION, Operation, Parameters, Requests, region_of
from partita.wire._signature import AccessKey, Authorization, check_authorization, check_body
from partita.wire._wording import worded
from partita.wire.bulk import BulkRunner
from partita.wire.connection import Connection, Connections, Head, HttpRequest, Limits
from partita.wire.exports import JobRunner
from partita.wire.tables import fixed

_PREFIXES: Final = ("DynamoDB_20120810.", "DynamoDBStreams_20120810.")
_EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - only compared, never bound
_HEALTHY: Final = fixed({"healthy": "dynamodb"})
_DECODE: Final = msgspec.json.Decoder().decode
_KNOWN_HOSTS: Final = 256

DEFAULT_LIMITS: Final = Limits()
THIS_MACHINE: Final = AllowedHosts()


class WireServer:
    """Serves a store. With `key`, requests must be signed with it; without, every request is executed.

    With `regions`, each region has its own store; the home store is that of us-east-1.
    """

    def __init__(
        self,
        store: Store,
        *,
        key: AccessKey | None = None,
        regions: RegionStores | None = None,
        allowed_hosts: AllowedHosts = THIS_MACHINE,
        limits: Limits = DEFAULT_LIMITS,
        clock: Clock = system_clock,
        timer: Clock = time.monotonic,
        on_connections: Callable[[int], None] | None = None,
    ) -> None:
        """`clock` is wall time, `timer` is monotonic; `on_connections` receives the number of open connections."""
        self.connections = Connections(limits, timer, on_connections)
        self._store = store
        self._key = key
        self._regions = regions
        self._guard = None if key is None else PolicyGuard(key.id, timer)
        self._allows_host = lru_cache(_KNOWN_HOSTS)(allowed_hosts.allows)  # cached: it repeats in every request
        self._allows_origin = allowed_hosts.allows_origin
        self._clock = clock
        self._outages = outage_log(timer)
        self._bulk: BulkRunner | None = None
        self._jobs: JobRunner | None = None
        self._operations = _by_target(operations(clock))
        self._server: asyncio.Server | None = None
        self._date = (0, "")

    def use_buckets(self, buckets: Buckets) -> None:
        """Use these buckets for bulk operations, exports and imports. Call this before the server starts."""
        self._bulk = BulkRunner(self._store_of, buckets, clock=self._clock)
        self._jobs = JobRunner(self._store_of, buckets, clock=self._clock)

    async def start(self, listener: socket.socket) -> None:
        """Start serving on a listening socket."""
        connection = self.begin(listener)
        self._server = await asyncio.get_running_loop().create_server(connection, sock=listener)

    def begin(self, listener: socket.socket) -> Callable[[], asyncio.Protocol]:
        """Start serving connections that the caller accepts; return the protocol factory for them."""
        host, port = listener.getsockname()[:2]
        address = f"{'localhost' if host in _EVERYWHERE else host}:{port}"
        self._operations = _by_target(operations(self._clock, address, self._bulk, self._jobs))
        self.connections.sweep()
        for runner in (self._bulk, self._jobs):
            if runner is not None:
                runner.wake(DEFAULT_REGION)  # a previous server may have left operations unfinished
        return lambda: Connection(self, self.connections)

    async def stop(self) -> None:
        """Stop accepting requests, and finish those that are being executed."""
        if self._server is not None:
            self._server.close()
        await self.connections.finish()
        for runner in (self._bulk, self._jobs):
            if runner is not None:
                await asyncio.to_thread(runner.stop)

    def _store_of(self, region: str) -> Store:
        return self._store if self._regions is None else self._regions.of(region)

    def date(self) -> str:
        """The current time in HTTP date format; clients correct their clocks with it."""
        second = int(self._clock())
        if self._date[0] != second:
            self._date = second, formatdate(second, usegmt=True)
        return self._date[1]

    def check_head(self, head: Head, address: str) -> Authorization | None:
        """Check the head before the body is read: Host, Origin and, with a key, the signature.

        Raises:
            Fault: the request is meant for another server, comes from a foreign page, or is not validly signed.
        """
        host, origin = head.headers.get("host"), head.headers.get("origin")
        if host is not None and not self._allows_host(host, address):
            message = "The name in the Host header is not a name of this server. Allow it with --allowed-host."
            raise Fault("AccessDeniedException", message, status=421)
        if origin is not None and not self._allows_origin(origin, address):
            raise Fault("AccessDeniedException", "Pages of other sites may not call this server.", status=403)
        if self._key is None:
            return None
        return check_authorization(head.method, head.path, head.headers, self._key, self._clock())

    def respond(self, request: HttpRequest) -> Requests[Response]:
        """The response to a request. Reads are executed directly; a write is yielded, to be awaited."""
        try:
            operation = self._operation(request)
            if self._guard is None and self._regions is None:
                return Response(200, (yield from run_some(operation, self._store.execute, READS)))
            region = region_of(request.head.headers)
            store = self._store_of(region)
            execution = Execution(store, self._guard, region, _operation_name(request.head))
            return Response(200, (yield from relay(operation, execution)))
        except Exception as error:  # noqa: BLE001 - the client gets a response for any error
            operation_name = _operation_name(request.head)
            return error_response(worded(error, operation_name, request.body.content), operation_name, self._outages)

    def _operation(self, request: HttpRequest) -> Requests[Json | None]:
        """The running operation that the request names.

        Raises:
            RequestError: the request is refused.
        """
        head, body = request.head, request.body
        if self._key is not None and request.authorization is not None:
            check_body(request.authorization, body.content, self._key)
        if head.method not in ("GET", "POST") or (head.path != "/" and head.path.partition("?")[0] != "/"):
            raise Fault("UnknownOperationException", "", status=404)
        if head.method == "GET":
            return _HEALTHY(Parameters({}))
        encoding = head.headers.get("content-encoding", "identity")
        if encoding != "identity":
            body.unpack(encoding)
        given = _parameters(body.content)
        operation = self._operations.get(head.headers.get("x-amz-target", ""))
        if operation is None:
            raise Fault("UnknownOperationException", "")
        return operation(Parameters(given, head.headers))

    async def finish(self, responding: Requests[Response], write: Request[Any]) -> Response:
        """Execute the write and the rest of the request, and return the response; other connections go on meanwhile."""
        execute: Any = _execute_located if isinstance(write, LocatedRequest) else self._store.execute_async
        return await run_async(responding, execute, write)


async def _execute_located(located: LocatedRequest) -> Any:
    return await located.store.execute_async(located.request)


def _by_target(named: dict[str, Operation]) -> dict[str, Operation]:
    """The operations by the value of their X-Amz-Target header."""
    return {f"{prefix}{name}": operation for prefix in _PREFIXES for name, operation in named.items()}


def _operation_name(head: Head) -> str:
    target = head.headers.get("x-amz-target", "")
    for prefix in _PREFIXES:
        if target.startswith(prefix):
            return target[len(prefix) :]
    return ""


def _parameters(body: bytes | bytearray) -> Json:
    try:
        given = _DECODE(body or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise SerializationFailed("The body is not valid JSON.") from None
    except RecursionError:
        raise SerializationFailed("The body is nested too deeply.") from None
    if type(given) is not dict:
        raise SerializationFailed("The body is not a JSON object.")
    return given
