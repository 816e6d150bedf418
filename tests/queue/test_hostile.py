"""Responses of a broken or hostile server of queues: each is read or refused with an error of Partita."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from tests.queue.test_sqs import SENT, URL, ScriptedQueue
from tests.store.remote.mutations import mutations
from tests.store.remote.scripted import http_response

from partita.errors import PartitaError, StoreUnavailable
from partita.queue import Acknowledge, Create, GetStats, QueueRequest, Receive, Send

MESSAGE = {
    "MessageId": "m",
    "ReceiptHandle": "r",
    "Body": "b",
    "Attributes": {
        "MessageGroupId": "g",
        "SequenceNumber": "18849496460467696128",
        "SentTimestamp": "1767268800000",
        "ApproximateReceiveCount": "1",
    },
}
COUNTS = {"Attributes": {"ApproximateNumberOfMessages": "1", "ApproximateNumberOfMessagesNotVisible": "2"}}
FAILED = {"Id": "0", "Code": "c", "SenderFault": True}
SEND = Send("a", "g", "1")


@pytest.mark.parametrize(
    ("request_", "good"),
    [
        (SEND, {"MessageId": "m", "SequenceNumber": "1"}),
        (Receive(), {"Messages": [MESSAGE]}),
        (Acknowledge(("r",)), {"Failed": [FAILED]}),
        (GetStats(), COUNTS),
        (Create(), {"Attributes": {"QueueArn": "arn", "RedrivePolicy": '{"maxReceiveCount": "3"}'}}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_response_raises_an_error_of_python(request_: QueueRequest[Any], good: Any) -> None:
    policies = ["[]", "x", '{"maxReceiveCount": "x"}', '{"maxReceiveCount": {}}']
    for changed in [*mutations(good), *({"Attributes": {"QueueArn": "arn", "RedrivePolicy": p}} for p in policies)]:
        urls = [URL, URL] if isinstance(request_, Create) else [URL]
        queue = ScriptedQueue(*urls, *[http_response(changed)] * 10)
        with suppress(PartitaError, StopIteration):
            queue.execute(request_)


@pytest.mark.parametrize(
    "body",
    [
        {"Successful": [{"Id": "0", "MessageId": "m", "SequenceNumber": "x"}]},
        {"Successful": [{"Id": "1", "MessageId": "m", "SequenceNumber": "1"}]},
        {"Successful": []},
        {"Failed": [{**FAILED, "Id": "x"}]},
    ],
)
def test_a_batch_without_a_result_for_each_message_is_refused(body: Any) -> None:
    queue = ScriptedQueue(URL, http_response(body))
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        asyncio.run(queue.execute_async(SEND))


def test_the_result_of_an_unknown_receipt_is_refused() -> None:
    with pytest.raises(StoreUnavailable, match="unknown message"):
        ScriptedQueue(URL, http_response({"Failed": [{**FAILED, "Id": "7"}]})).execute(Acknowledge(("r",)))


def test_good_responses_are_read() -> None:
    assert ScriptedQueue(URL, SENT).execute(SEND).sequence == 18_849_496_460_467_696_128
    [message] = ScriptedQueue(URL, http_response({"Messages": [MESSAGE]})).execute(Receive())
    assert (message.sent_at, message.receives, message.group) == (1_767_268_800.0, 1, "g")
    stats = ScriptedQueue(URL, http_response(COUNTS), URL, http_response(COUNTS)).execute(GetStats())
    assert (stats.waiting, stats.in_flight, stats.dead) == (1, 2, 3)
