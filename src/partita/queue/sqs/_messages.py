"""Sending, receiving and acknowledging messages on SQS, in batches of ten."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta, Struct, ValidationError, convert

from partita._aws import Calls
from partita.errors import PartitaError, StoreUnavailable, ValidationFailed
from partita.queue._interface import (
    Acknowledge,
    GetStats,
    Message,
    Postpone,
    QueueStats,
    Receive,
    Send,
    SentMessage,
)
from partita.queue.sqs._channel import Channel
from partita.runtime import chunks

BATCH: Final = 10
MAX_WAIT_SECONDS: Final = 20
_MILLISECONDS: Final = 1000
_ATTRIBUTES: Final = ("ApproximateReceiveCount", "MessageGroupId", "SentTimestamp", "SequenceNumber")


Digits: TypeAlias = Annotated[str, Meta(pattern="^[0-9]{1,39}$")]
"""A number, which SQS sends as text."""


class _SendResult(Struct, rename="pascal", frozen=True):
    message_id: str
    sequence_number: Digits


class _MessageAttributes(Struct, rename="pascal", frozen=True):
    approximate_receive_count: Digits
    message_group_id: str
    sent_timestamp: Digits
    sequence_number: Digits


class _ReceivedMessage(Struct, rename="pascal", frozen=True):
    message_id: str
    receipt_handle: str
    body: str
    attributes: _MessageAttributes


class _ReceiveResult(Struct, rename="pascal", frozen=True):
    messages: tuple[_ReceivedMessage, ...] = ()


class _BatchError(Struct, rename="pascal", frozen=True):
    id: Digits
    code: str
    sender_fault: bool
    message: str = ""


class _BatchResult(Struct, rename="pascal", frozen=True):
    failed: tuple[_BatchError, ...] = ()


class _SendBatchEntry(_SendResult, rename="pascal", frozen=True):
    id: Digits


class _SendBatchResult(_BatchResult, rename="pascal", frozen=True):
    successful: tuple[_SendBatchEntry, ...] = ()


def send(channel: Channel, request: Send) -> Calls[SentMessage]:
    """Put a message at the end of its group. SQS reports the time only to receivers, so `at` is the local time."""
    response = yield from channel.call("SendMessage", _SendResult, **_parameters(request))
    return SentMessage(response.message_id, int(response.sequence_number), channel.clock())


def send_many(channel: Channel, requests: Sequence[Send]) -> Calls[list[SentMessage | PartitaError]]:
    """Send up to ten messages in one call; return the result or error of each."""
    entries = [{"Id": str(number), **_parameters(request)} for number, request in enumerate(requests)]
    response = yield from channel.call("SendMessageBatch", _SendBatchResult, Entries=entries)
    at = channel.clock()
    results: dict[int, SentMessage | PartitaError] = {int(each.id): _error(each) for each in response.failed}
    results |= {
        int(each.id): SentMessage(each.message_id, int(each.sequence_number), at) for each in response.successful
    }
    if results.keys() != set(range(len(requests))):
        raise ValidationError("a batch has not one result for each message")
    return [results[number] for number in range(len(requests))]


def _parameters(request: Send) -> dict[str, Any]:
    return {
        "MessageBody": request.body,
        "MessageGroupId": request.group,
        "MessageDeduplicationId": request.deduplication_id,
    }


def _error(error: _BatchError) -> PartitaError:
    if error.sender_fault:
        return ValidationFailed(f"{error.code}: {error.message}")
    return StoreUnavailable(f"SQS could not process a message: {error.code} {error.message}.")


def receive(channel: Channel, request: Receive) -> Calls[tuple[Message, ...]]:
    """Receive messages."""
    url = yield from channel.url(channel.name)
    return (yield from receive_from(channel, url, request))


def receive_from(channel: Channel, url: str, request: Receive) -> Calls[tuple[Message, ...]]:
    """Receive messages of this queue or of its dead letters; after a lost response, SQS returns the same ones."""
    response = yield from channel.call(
        "ReceiveMessage",
        _ReceiveResult,
        QueueUrl=url,
        MaxNumberOfMessages=min(request.limit, BATCH),
        WaitTimeSeconds=min(ceil(request.wait), MAX_WAIT_SECONDS),
        VisibilityTimeout=ceil(request.visibility),
        MessageSystemAttributeNames=_ATTRIBUTES,
        AttributeNames=_ATTRIBUTES,  # the older name, the only one that some servers know
        ReceiveRequestAttemptId=channel.tokens(),
    )
    return tuple(_message(each) for each in response.messages)


def _message(received: _ReceivedMessage) -> Message:
    attributes = received.attributes
    return Message(
        id=received.message_id,
        receipt=received.receipt_handle,
        body=received.body,
        group=attributes.message_group_id,
        sequence=int(attributes.sequence_number),
        sent_at=int(attributes.sent_timestamp) / _MILLISECONDS,
        receives=int(attributes.approximate_receive_count),
    )


def acknowledge(channel: Channel, request: Acknowledge) -> Calls[tuple[str, ...]]:
    """Delete messages."""
    url = yield from channel.url(channel.name)
    return (yield from call_in_batches(channel, url, "DeleteMessageBatch", request.receipts))


def postpone(channel: Channel, request: Postpone) -> Calls[tuple[str, ...]]:
    """Change when messages are delivered again."""
    url = yield from channel.url(channel.name)
    hidden = {"VisibilityTimeout": ceil(request.seconds)}
    return (yield from call_in_batches(channel, url, "ChangeMessageVisibilityBatch", request.receipts, **hidden))


def call_in_batches(
    channel: Channel, url: str, action: str, receipts: Sequence[str], **parameters: Any
) -> Calls[tuple[str, ...]]:
    """Make calls for all receipts, ten per call; return the receipts that were too late.

    Raises:
        StoreUnavailable: SQS could not process some of them.
    """
    late: list[str] = []
    for chunk in chunks(receipts, BATCH):
        entries = [{"Id": str(n), "ReceiptHandle": receipt, **parameters} for n, receipt in enumerate(chunk)]
        response = yield from channel.call(action, _BatchResult, QueueUrl=url, Entries=entries)
        for error in response.failed:
            if not error.sender_fault:
                raise _error(error)
            if int(error.id) >= len(chunk):
                raise ValidationError("a batch has the result of an unknown message")
            late.append(chunk[int(error.id)])
    return tuple(late)


class _Counts(Struct, rename="pascal", frozen=True):
    approximate_number_of_messages: Digits
    approximate_number_of_messages_not_visible: Digits

    @property
    def waiting(self) -> int:
        return int(self.approximate_number_of_messages)

    @property
    def hidden(self) -> int:
        return int(self.approximate_number_of_messages_not_visible)


def get_stats(channel: Channel, request: GetStats) -> Calls[QueueStats]:  # noqa: ARG001 - has no fields
    """The approximate counts of SQS."""
    counts = yield from _counts(channel, channel.name)
    dead = yield from _counts(channel, channel.dead_name)
    return QueueStats(counts.waiting, counts.hidden, dead.waiting + dead.hidden, None)


def _counts(channel: Channel, name: str) -> Calls[_Counts]:
    wanted = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
    return convert((yield from channel.attributes(name, *wanted)), _Counts)
