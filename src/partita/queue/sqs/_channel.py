"""The way to one queue of SQS: its two addresses, looked up once, and its calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from partita._aws import QUEUES, Attempts, Call, Steps
from partita.errors import QueueNotFound
from partita.queue._interface import Create
from partita.runtime import Clock

T = TypeVar("T")

KEPT_SECONDS: Final = 14 * 24 * 60 * 60
"""How long SQS keeps a message that nobody acknowledges; longer it cannot."""
_encode: Final = msgspec.json.Encoder().encode


class _Address(Struct, rename="pascal", frozen=True):
    queue_url: str


class _Attributes(Struct, rename="pascal", frozen=True):
    attributes: dict[str, str] = {}


class Channel:
    """A queue and its dead letters, as SQS knows them."""

    def __init__(
        self, attempts: Attempts, name: str, max_receives: int, clock: Clock, tokens: Callable[[], str]
    ) -> None:
        self.name = f"{name}.fifo"
        self.dead_name = f"{name}-dead.fifo"
        self.max_receives = max_receives
        self.clock = clock
        self.tokens = tokens
        self._attempts = attempts
        self._urls: dict[str, str] = {}

    def ask(self, action: str, shape: type[T], *, writes: bool = True, **parameters: Any) -> Steps[T]:
        """Make a call about the queue, or about the one whose `QueueUrl` is given. All that we make may be repeated."""
        if not {"QueueUrl", "QueueName"} & parameters.keys():
            parameters["QueueUrl"] = yield from self.url(self.name)
        call = Call(action, _encode(parameters), repeatable=True, writes=writes, api=QUEUES)
        answer = yield from self._attempts.send(call)
        return msgspec.json.decode(answer or b"{}", type=shape)

    def url(self, name: str) -> Steps[str]:
        """The address of a queue.

        Raises:
            QueueNotFound: there is none of that name.
        """
        if name not in self._urls:
            answer = yield from self.ask("GetQueueUrl", _Address, writes=False, QueueName=name)
            self._urls[name] = answer.queue_url
        return self._urls[name]

    def attributes(self, name: str, *wanted: str) -> Steps[dict[str, str]]:
        """What SQS says of a queue."""
        url = yield from self.url(name)
        answer = yield from self.ask(
            "GetQueueAttributes", _Attributes, writes=False, QueueUrl=url, AttributeNames=wanted
        )
        return answer.attributes


def create(channel: Channel, request: Create) -> Steps[None]:  # noqa: ARG001 - it says all by its type
    """Make both queues where they are missing, and tell the one of the other."""
    yield from _found_or_made(channel, channel.dead_name)
    yield from _found_or_made(channel, channel.name)
    dead = yield from channel.attributes(channel.dead_name, "QueueArn")
    redrive = {"deadLetterTargetArn": dead["QueueArn"], "maxReceiveCount": channel.max_receives}
    known = yield from channel.attributes(channel.name, "RedrivePolicy")
    if _redrive_in(known) != redrive:  # who may not change a queue can still use one that is right
        attributes = {"RedrivePolicy": _encode(redrive).decode()}
        yield from channel.ask("SetQueueAttributes", dict[str, Any], Attributes=attributes)


def _redrive_in(attributes: dict[str, str]) -> dict[str, Any]:
    redrive: dict[str, Any] = msgspec.json.decode(attributes.get("RedrivePolicy") or "{}")
    return {name: int(value) if name == "maxReceiveCount" else value for name, value in redrive.items()}


def _found_or_made(channel: Channel, name: str) -> Steps[None]:
    try:
        yield from channel.url(name)
    except QueueNotFound:
        attributes = {
            "FifoQueue": "true",
            "DeduplicationScope": "messageGroup",
            "FifoThroughputLimit": "perMessageGroupId",
            "MessageRetentionPeriod": str(KEPT_SECONDS),
        }
        yield from channel.ask("CreateQueue", _Address, QueueName=name, Attributes=attributes)
