"""Sending, receiving and acknowledging messages on SQS, in batches of ten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any, Final

from msgspec import Struct

from partita._aws import Steps
from partita.errors import PartitaError, StoreUnavailable, ValidationFailed
from partita.queue._interface import (
    Accepted,
    Acknowledge,
    Measure,
    Message,
    Postpone,
    Receive,
    Send,
    Stats,
)
from partita.queue.sqs._channel import Channel

BATCH: Final = 10
MAX_WAIT_SECONDS: Final = 20
_MILLISECONDS: Final = 1000
_ATTRIBUTES: Final = ("ApproximateReceiveCount", "MessageGroupId", "SentTimestamp", "SequenceNumber")


class _Sent(Struct, rename="pascal", frozen=True):
    message_id: str
    sequence_number: str


class _Delivered(Struct, rename="pascal", frozen=True):
    message_id: str
    receipt_handle: str
    body: str
    attributes: dict[str, str]


class _Received(Struct, rename="pascal", frozen=True):
    messages: tuple[_Delivered, ...] = ()


class _Refused(Struct, rename="pascal", frozen=True):
    id: str
    code: str
    sender_fault: bool
    message: str = ""


class _Batched(Struct, rename="pascal", frozen=True):
    failed: tuple[_Refused, ...] = ()


class _SentOne(_Sent, rename="pascal", frozen=True):
    id: str


class _SentMany(_Batched, rename="pascal", frozen=True):
    successful: tuple[_SentOne, ...] = ()


def send(channel: Channel, request: Send) -> Steps[Accepted]:
    """Put a message at the end of its group. SQS does not say when it did: that is told to whoever receives it."""
    answer = yield from channel.ask("SendMessage", _Sent, **_parameters(request))
    return Accepted(answer.message_id, int(answer.sequence_number), channel.clock())


def send_many(channel: Channel, requests: Sequence[Send]) -> Steps[list[Accepted | PartitaError]]:
    """Send up to ten messages by one call; gives for each what became of it."""
    entries = [{"Id": str(number), **_parameters(request)} for number, request in enumerate(requests)]
    answer = yield from channel.ask("SendMessageBatch", _SentMany, Entries=entries)
    at = channel.clock()
    outcomes: dict[int, Accepted | PartitaError] = {int(each.id): _refusal(each) for each in answer.failed}
    outcomes |= {int(each.id): Accepted(each.message_id, int(each.sequence_number), at) for each in answer.successful}
    return [outcomes[number] for number in range(len(requests))]


def _parameters(request: Send) -> dict[str, Any]:
    return {
        "MessageBody": request.body,
        "MessageGroupId": request.group,
        "MessageDeduplicationId": request.deduplication_id,
    }


def _refusal(refused: _Refused) -> PartitaError:
    if refused.sender_fault:
        return ValidationFailed(f"{refused.code}: {refused.message}")
    return StoreUnavailable(f"SQS failed with a message: {refused.code} {refused.message}.")


def receive(channel: Channel, request: Receive) -> Steps[tuple[Message, ...]]:
    """Take messages."""
    url = yield from channel.url(channel.name)
    return (yield from receive_from(channel, url, request))


def receive_from(channel: Channel, url: str, request: Receive) -> Steps[tuple[Message, ...]]:
    """Take messages of this queue or of its dead letters; should the answer get lost, the same ones come again."""
    answer = yield from channel.ask(
        "ReceiveMessage",
        _Received,
        QueueUrl=url,
        MaxNumberOfMessages=min(request.limit, BATCH),
        WaitTimeSeconds=min(ceil(request.wait), MAX_WAIT_SECONDS),
        VisibilityTimeout=ceil(request.visibility),
        MessageSystemAttributeNames=_ATTRIBUTES,
        AttributeNames=_ATTRIBUTES,  # the older name, which is the only one that some servers know
        ReceiveRequestAttemptId=channel.tokens(),
    )
    return tuple(_message(each) for each in answer.messages)


def _message(delivered: _Delivered) -> Message:
    attributes = delivered.attributes
    return Message(
        id=delivered.message_id,
        receipt=delivered.receipt_handle,
        body=delivered.body,
        group=attributes["MessageGroupId"],
        sequence=int(attributes["SequenceNumber"]),
        sent_at=int(attributes["SentTimestamp"]) / _MILLISECONDS,
        receives=int(attributes["ApproximateReceiveCount"]),
    )


def acknowledge(channel: Channel, request: Acknowledge) -> Steps[tuple[str, ...]]:
    """Delete messages."""
    url = yield from channel.url(channel.name)
    return (yield from batched(channel, url, "DeleteMessageBatch", request.receipts))


def postpone(channel: Channel, request: Postpone) -> Steps[tuple[str, ...]]:
    """Change when messages come again."""
    url = yield from channel.url(channel.name)
    hidden = {"VisibilityTimeout": ceil(request.seconds)}
    return (yield from batched(channel, url, "ChangeMessageVisibilityBatch", request.receipts, **hidden))


def batched(
    channel: Channel, url: str, action: str, receipts: Sequence[str], **parameters: Any
) -> Steps[tuple[str, ...]]:
    """Make a call for every receipt, ten at a time; gives the receipts that were too late.

    Raises:
        StoreUnavailable: SQS failed with some of them.
    """
    late: list[str] = []
    for chunk in _chunks(receipts):
        entries = [{"Id": str(n), "ReceiptHandle": receipt, **parameters} for n, receipt in enumerate(chunk)]
        answer = yield from channel.ask(action, _Batched, QueueUrl=url, Entries=entries)
        for refused in answer.failed:
            if not refused.sender_fault:
                raise _refusal(refused)
            late.append(chunk[int(refused.id)])
    return tuple(late)


def _chunks(receipts: Sequence[str]) -> Iterator[Sequence[str]]:
    return (receipts[start : start + BATCH] for start in range(0, len(receipts), BATCH))


def measure(channel: Channel, request: Measure) -> Steps[Stats]:  # noqa: ARG001 - it says all by its type
    """What SQS counts, about."""
    waiting, hidden = "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"
    counts = yield from channel.attributes(channel.name, waiting, hidden)
    dead = yield from channel.attributes(channel.dead_name, waiting, hidden)
    return Stats(int(counts[waiting]), int(counts[hidden]), int(dead[waiting]) + int(dead[hidden]), None)
