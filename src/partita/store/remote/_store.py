"""The remote store: one core without I/O, which runs with blocking calls or with `await`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from random import Random, SystemRandom
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypeVar

import msgspec

from partita._aws import (
    ITEMS,
    ApiClient,
    Calls,
    GivenCredentials,
    HttpTransport,
    Limits,
    Runner,
    Transport,
    find_endpoints,
    is_local,
    source_of,
)
from partita.runtime import Clock, system_clock
from partita.store import _points
from partita.store import _requests as rq
from partita.store import _vector_requests as vrq
from partita.store.remote import _bulk, _items, _recovery, _streams, _tables
from partita.store.remote._pages import PageDecoder
from partita.store.remote._streams import Iterators

R = TypeVar("R")

Handler: TypeAlias = Callable[[ApiClient, Any], Calls[Any]]

HANDLERS: Final[Mapping[type, Handler]] = {
    rq.GetItem: _items.get_item,
    rq.PutItem: _items.write_item,
    rq.UpdateItem: _items.write_item,
    rq.DeleteItem: _items.write_item,
    vrq.SearchVectors: _items.search_vectors,
    rq.BatchGetItem: _items.batch_get,
    rq.BatchWriteItem: _items.batch_write,
    rq.TransactGetItems: _items.transact_get,
    rq.CreateTable: _tables.create_table,
    rq.DescribeTable: _tables.describe_table,
    rq.DeleteTable: _tables.delete_table,
    rq.ListTables: _tables.list_tables,
    rq.CreateIndex: _tables.create_index,
    rq.DeleteIndex: _tables.delete_index,
    vrq.CreateVectorIndex: _tables.create_vector_index,
    vrq.DeleteVectorIndex: _tables.delete_vector_index,
    rq.SetTimeToLive: _tables.set_time_to_live,
    rq.SetStream: _tables.set_stream,
    _points.SetRecovery: _recovery.set_recovery,
    _points.DescribeRecovery: _recovery.describe_recovery,
    _points.RestoreTable: _recovery.restore_table,
    _bulk.StartBulkPut: _bulk.start_bulk,
    _bulk.DescribeBulk: _bulk.describe_bulk,
    _bulk.CancelBulk: _bulk.cancel_bulk,
}


def new_token() -> str:
    """A new client request token, for a transaction without one."""
    return str(uuid.uuid4())


class Outside(msgspec.Struct, frozen=True):
    """The external inputs of a store other than responses."""

    clock: Clock = system_clock
    random: Random = msgspec.field(default_factory=SystemRandom)
    """The source of jitter for retries."""
    sleep: Callable[[float], None] | None = None
    """Replaces waiting in real time."""
    tokens: Callable[[], str] = new_token
    """Creates client request tokens."""


class RemoteStore:
    """DynamoDB in an AWS region, or a server at an endpoint that speaks its protocol.

    By default, region, endpoint and credentials come from botocore's chain (environment, profiles, SSO, roles, IMDS).
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        region: str | None = None,
        profile: str | None = None,
        credentials: GivenCredentials | None = None,
        limits: Limits | None = None,
        transport: Transport | None = None,
        outside: Outside | None = None,
    ) -> None:
        """Create a store, which connects on its first request.

        Args:
            endpoint: a URL, for example `http://127.0.0.1:8000`; by default AWS's endpoint for the region.
            region: for example `ap-southeast-2`.
            profile: a profile of the AWS configuration files.
            credentials: a botocore or boto3 session, its credentials, `Credentials`, or a function that returns
                `Credentials` and is called again before they expire; by default those of botocore's chain.
            limits: time-outs, connections and tries.
            transport: sends the calls; tests pass their own.
            outside: time, randomness and tokens; tests pass their own.

        Raises:
            OperationError: neither endpoint nor region is known, or the URL is invalid.
        """
        endpoints = find_endpoints(endpoint, region, profile, credentials)
        limits, outside = limits or Limits(), outside or Outside()
        self.endpoint = endpoints[ITEMS].url
        source = source_of(credentials, profile, outside.clock, is_local=is_local(endpoint))
        self._runner = Runner(transport or HttpTransport(limits), source, outside.sleep)
        self._client = ApiClient(endpoints, source, outside.clock, outside.random, limits.tries)
        self._handlers = _handlers(outside.tokens, Iterators(), PageDecoder())

    def __repr__(self) -> str:
        return f"RemoteStore({self.endpoint!r})"

    def execute(self, request: rq.Request[R]) -> R:
        """Send the request to the endpoint; a write is durable when this returns.

        Raises:
            RequestError: the request was refused and changed nothing.
            StoreUnavailable: it is unknown whether the request was executed.
        """
        return self._runner.run(self._calls(request))

    async def execute_async(self, request: rq.Request[R]) -> R:
        """Send the request without blocking the event loop."""
        return await self._runner.run_async(self._calls(request))

    def _calls(self, request: rq.Request[R]) -> Calls[R]:
        handler = self._handlers.get(type(request))
        if handler is None:
            raise TypeError(f"{type(request).__name__} is not a request that the store can execute.")
        return handler(self._client, request)

    def close(self) -> None:
        """Close the connections. Closing twice does nothing."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _handlers(tokens: Callable[[], str], iterators: Iterators, pages: PageDecoder) -> Mapping[type, Handler]:
    return {
        **HANDLERS,
        rq.QueryTable: lambda client, request: _items.read_page(client, request, pages),
        rq.ScanTable: lambda client, request: _items.read_page(client, request, pages),
        rq.TransactWriteItems: lambda client, request: _items.transact_write(client, request, tokens),
        rq.DescribeStream: lambda client, request: _streams.describe_stream(client, request, iterators),
        rq.ReadStream: lambda client, request: _streams.read_stream(client, request, iterators),
        rq.FindInStream: lambda client, request: _streams.find_in_stream(client, request, iterators),
    }
