"""A queue on SQS: generators of calls, run with blocking calls or with `await`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypeVar

from partita._aws import (
    QUEUES,
    ApiClient,
    Calls,
    GivenCredentials,
    HttpTransport,
    Runner,
    Transport,
    find_endpoints,
    is_local,
    source_of,
)
from partita.errors import PartitaError
from partita.queue import _interface as requests
from partita.queue._checks import check_name, check_request, checked_policy
from partita.queue._interface import QueuePolicy, QueueRequest, Send, SentMessage
from partita.queue.sqs import _channel, _dead, _messages
from partita.queue.sqs._batching import SendBatcher
from partita.queue.sqs._channel import Channel
from partita.store.remote import Limits, Outside

R = TypeVar("R")

Handler: TypeAlias = Callable[[Channel, Any], Calls[Any]]

HANDLERS: Final[Mapping[type, Handler]] = {
    requests.Create: _channel.create,
    requests.Send: _messages.send,
    requests.Receive: _messages.receive,
    requests.Acknowledge: _messages.acknowledge,
    requests.Postpone: _messages.postpone,
    requests.GetStats: _messages.get_stats,
    requests.ReadDead: _dead.read_dead,
    requests.Redrive: _dead.redrive,
    requests.Discard: _dead.discard,
}

LIMITS: Final = Limits(read=_messages.MAX_WAIT_SECONDS + 10.0)
"""A response may take as long as a receiver waits for messages."""


class SqsQueue:
    """A FIFO queue in an AWS region, or at an endpoint with SQS's protocol.

    Region, endpoint and credentials come from botocore's chain (environment, profiles, SSO, roles, IMDS) unless given.
    """

    def __init__(
        self,
        name: str,
        endpoint: str | None = None,
        *,
        region: str | None = None,
        profile: str | None = None,
        policy: QueuePolicy | None = None,
        credentials: GivenCredentials | None = None,
        transport: Transport | None = None,
        outside: Outside | None = None,
    ) -> None:
        """Create a client of the queue; the first request connects.

        Args:
            name: the name of the queue, without the suffix `.fifo`.
            endpoint: a URL, for example `http://127.0.0.1:4566`; by default that of the region on AWS.
            region: for example `ap-southeast-2`.
            profile: a profile of the AWS configuration files.
            policy: the settings for creating the queue.
            credentials: a session of botocore or boto3, its credentials, `Credentials`, or a function that returns
                `Credentials` and is called again before they expire; by default those that the chain finds.
            transport: sends the calls; tests pass their own.
            outside: time, randomness and tokens; tests pass their own.

        Raises:
            OperationError: neither endpoint nor region is known, or the URL or name is invalid.
        """
        check_name(name)
        endpoints = find_endpoints(endpoint, region, profile, credentials, apis=(QUEUES,))
        outside = outside or Outside()
        source = source_of(credentials, profile, outside.clock, is_local=is_local(endpoint))
        client = ApiClient(endpoints, source, outside.clock, outside.random, LIMITS.tries)
        self.name = name
        self.endpoint = endpoints[QUEUES].url
        self._runner = Runner(transport or HttpTransport(LIMITS), source, outside.sleep)
        self._handlers: Mapping[type, Handler] = HANDLERS
        self._batcher = SendBatcher(self._send_many)
        self._channel = Channel(client, name, checked_policy(policy).max_receives, outside.clock, outside.tokens)

    def __repr__(self) -> str:
        return f"SqsQueue({self.name!r}, {self.endpoint!r})"

    def execute(self, request: QueueRequest[R]) -> R:
        """Send the request to SQS; its changes are durable when this returns.

        Raises:
            RequestError: the request was refused and changed nothing. StoreUnavailable: its outcome is unknown.
        """
        check_request(request)
        return self._runner.run(self._calls(request))

    async def execute_async(self, request: QueueRequest[R]) -> R:
        """Execute the request without blocking the event loop; the sends of several tasks share calls."""
        check_request(request)
        if isinstance(request, Send):
            return await self._batcher.send(request)  # type: ignore[return-value]
        return await self._runner.run_async(self._calls(request))

    async def _send_many(self, sends: Sequence[Send]) -> Sequence[SentMessage | PartitaError]:
        return await self._runner.run_async(_messages.send_many(self._channel, sends))

    def _calls(self, request: QueueRequest[R]) -> Calls[R]:
        return self._handlers[type(request)](self._channel, request)

    def close(self) -> None:
        """Close the connections. Closing twice does nothing."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
