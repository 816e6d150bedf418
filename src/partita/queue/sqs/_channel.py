"""Calls to one SQS queue and its dead-letter queue, whose URLs are looked up once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from partita._aws import QUEUES, ApiCall, ApiClient, Calls
from partita.errors import QueueNotFound
from partita.queue._interface import Create
from partita.runtime import Clock

T = TypeVar("T")

RETENTION_SECONDS: Final = 14 * 24 * 60 * 60
"""How long SQS keeps an unacknowledged message: its maximum."""
_encode: Final = msgspec.json.Encoder().encode


class _QueueUrl(Struct, rename="pascal", frozen=True):
    queue_url: str


class _Attributes(Struct, rename="pascal", frozen=True):
    attributes: dict[str, str] = {}


class _QueueArn(Struct, rename="pascal", frozen=True):
    queue_arn: str


class Channel:
    """A queue and its dead-letter queue on SQS."""

    def __init__(
        self, client: ApiClient, name: str, max_receives: int, clock: Clock, tokens: Callable[[], str]
    ) -> None:
        self.name = f"{name}.fifo"
        self.dead_name = f"{name}-dead.fifo"
        self.max_receives = max_receives
        self.clock = clock
        self.tokens = tokens
        self._client = client
        self._urls: dict[str, str] = {}

    def call(self, action: str, shape: type[T], *, writes: bool = True, **parameters: Any) -> Calls[T]:
        """Make a call to the queue, or to that with the given `QueueUrl`. All calls used here can be repeated."""
        if not {"QueueUrl", "QueueName"} & parameters.keys():
            parameters["QueueUrl"] = yield from self.url(self.name)
        call = ApiCall(action, _encode(parameters), repeatable=True, writes=writes, api=QUEUES)
        body = yield from self._client.send(call)
        return msgspec.json.decode(body or b"{}", type=shape)

    def url(self, name: str) -> Calls[str]:
        """The URL of a queue.

        Raises:
            QueueNotFound: there is no queue of that name.
        """
        if name not in self._urls:
            response = yield from self.call("GetQueueUrl", _QueueUrl, writes=False, QueueName=name)
            self._urls[name] = response.queue_url
        return self._urls[name]

    def attributes(self, name: str, *wanted: str) -> Calls[dict[str, str]]:
        """The requested attributes of a queue."""
        url = yield from self.url(name)
        response = yield from self.call(
            "GetQueueAttributes", _Attributes, writes=False, QueueUrl=url, AttributeNames=wanted
        )
        return response.attributes


def create(channel: Channel, request: Create) -> Calls[None]:  # noqa: ARG001 - has no fields
    """Create both queues if they do not exist, and make the second the dead-letter queue of the first."""
    yield from _find_or_create(channel, channel.dead_name)
    yield from _find_or_create(channel, channel.name)
    dead = msgspec.convert((yield from channel.attributes(channel.dead_name, "QueueArn")), _QueueArn)
    redrive = {"deadLetterTargetArn": dead.queue_arn, "maxReceiveCount": channel.max_receives}
    known = yield from channel.attributes(channel.name, "RedrivePolicy")
    if _redrive_in(known) != redrive:  # callers without permission to change a queue can still use a correct one
        attributes = {"RedrivePolicy": _encode(redrive).decode()}
        yield from channel.call("SetQueueAttributes", dict[str, Any], Attributes=attributes)


def _redrive_in(attributes: dict[str, str]) -> dict[str, Any]:
    """The redrive policy of a queue, whose number some servers send as text."""
    redrive = msgspec.json.decode(attributes.get("RedrivePolicy") or "{}", type=dict[str, Any])
    if "maxReceiveCount" in redrive:
        redrive["maxReceiveCount"] = msgspec.convert(redrive["maxReceiveCount"], int, strict=False)
    return redrive


def _find_or_create(channel: Channel, name: str) -> Calls[None]:
    try:
        yield from channel.url(name)
    except QueueNotFound:
        attributes = {
            "FifoQueue": "true",
            "DeduplicationScope": "messageGroup",
            "FifoThroughputLimit": "perMessageGroupId",
            "MessageRetentionPeriod": str(RETENTION_SECONDS),
        }
        yield from channel.call("CreateQueue", _QueueUrl, QueueName=name, Attributes=attributes)
