"""The calls of the queue to SQS: which ones, how they are signed, and which are retried."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import msgspec
import pytest
from tests.store.remote.scripted import KEYS, NOW, Play, ScriptedTransport, error_response, http_response

from partita._aws._transport import HttpRequest, HttpResponse, ResponseLost
from partita.errors import QueueNotFound, StoreUnavailable, Throttled, ValidationFailed
from partita.queue import Acknowledge, Create, QueuePolicy, Receive, Send, SentMessage
from partita.queue.sqs import SqsQueue
from partita.store.remote import Outside

pytestmark = pytest.mark.req("E02")

URL = http_response({"QueueUrl": "http://127.0.0.1/1/q.fifo"})
SENT = http_response({"MessageId": "m", "SequenceNumber": "18849496460467696128"})


class ScriptedQueue(SqsQueue):
    def __init__(self, *plays: Play) -> None:
        self.transport = ScriptedTransport(*plays)
        super().__init__(
            "q",
            "http://127.0.0.1:4566",
            region="eu-west-1",
            policy=QueuePolicy(max_receives=3),
            credentials=KEYS,
            transport=self.transport,
            outside=Outside(lambda: NOW, Random(1), lambda _: None, lambda: "attempt"),
        )


def test_a_call_is_signed_for_sqs() -> None:
    queue = ScriptedQueue(URL, SENT)
    assert queue.execute(Send("body", "g", "id")) == SentMessage("m", 18_849_496_460_467_696_128, NOW)
    call = queue.transport.sent[1]
    assert call.headers["X-Amz-Target"] == "AmazonSQS.SendMessage"
    assert "/20260101/eu-west-1/sqs/aws4_request" in call.headers["Authorization"]
    assert queue.transport.bodies[1] == {
        "QueueUrl": "http://127.0.0.1/1/q.fifo",
        "MessageBody": "body",
        "MessageGroupId": "g",
        "MessageDeduplicationId": "id",
    }


def test_the_address_of_a_queue_is_asked_for_once() -> None:
    queue = ScriptedQueue(URL, SENT, SENT)
    queue.execute(Send("a", "g", "a"))
    queue.execute(Send("b", "g", "b"))
    assert queue.transport.names == ["GetQueueUrl", "SendMessage", "SendMessage"]


def test_a_lost_response_is_asked_for_again_with_the_same_deduplication_id() -> None:
    queue = ScriptedQueue(URL, ResponseLost("reset"), SENT)
    assert queue.execute(Send("a", "g", "id")).id == "m"
    first, again = queue.transport.bodies[1:]
    assert first == again


def test_a_lost_delivery_is_asked_for_again_under_the_same_attempt() -> None:
    queue = ScriptedQueue(URL, ResponseLost("reset"), http_response({}))
    assert queue.execute(Receive(limit=50, wait=0.5, visibility=1.5)) == ()
    first, again = queue.transport.bodies[1:]
    assert first == again
    wanted = {"MaxNumberOfMessages": 10, "WaitTimeSeconds": 1, "VisibilityTimeout": 2}
    assert {name: again[name] for name in wanted} == wanted
    assert again["ReceiveRequestAttemptId"] == "attempt"


def test_a_queue_that_is_not_there_says_how_to_make_it() -> None:
    queue = ScriptedQueue(error_response("QueueDoesNotExist"))
    with pytest.raises(QueueNotFound, match="partita queue create"):
        queue.execute(Receive())


REDRIVE = '{"deadLetterTargetArn":"arn:dead","maxReceiveCount":3}'


def test_creating_makes_what_is_missing_and_sets_the_policy() -> None:
    dead = http_response({"QueueUrl": "dead"})
    arn = http_response({"Attributes": {"QueueArn": "arn:dead"}})
    queue = ScriptedQueue(
        error_response("QueueDoesNotExist"), dead, URL, dead, arn, http_response({}), http_response(b"")
    )
    queue.execute(Create())
    assert queue.transport.names == [
        "GetQueueUrl",
        "CreateQueue",
        "GetQueueUrl",
        "GetQueueUrl",
        "GetQueueAttributes",
        "GetQueueAttributes",
        "SetQueueAttributes",
    ]
    assert queue.transport.bodies[-1]["Attributes"] == {"RedrivePolicy": REDRIVE}


def test_creating_changes_nothing_where_all_is_right() -> None:
    """So a program that may only use queues can start with a queue that was deployed."""
    arn = http_response({"Attributes": {"QueueArn": "arn:dead"}})
    known = http_response({"Attributes": {"RedrivePolicy": REDRIVE.replace("3", '"3"')}})
    queue = ScriptedQueue(http_response({"QueueUrl": "dead"}), URL, arn, known)
    queue.execute(Create())
    assert set(queue.transport.names) == {"GetQueueUrl", "GetQueueAttributes"}


def test_throttling_is_raised_after_all_tries() -> None:
    queue = ScriptedQueue(URL, *[error_response("RequestThrottled")] * 3)
    with pytest.raises(Throttled):
        queue.execute(Send("a", "g", "a"))


def failed(sender_fault: bool) -> HttpResponse:  # noqa: FBT001 - what the test varies
    return http_response({"Failed": [{"Id": "1", "Code": "X", "SenderFault": sender_fault, "Message": "no"}]})


def test_receipts_that_sqs_refuses_were_too_late() -> None:
    assert ScriptedQueue(URL, failed(True)).execute(Acknowledge(("a", "b"))) == ("b",)


def test_what_sqs_fails_with_is_not_taken_for_done() -> None:
    with pytest.raises(StoreUnavailable):
        ScriptedQueue(URL, failed(False)).execute(Acknowledge(("a", "b")))


class Batches:
    """A transport that accepts messages in batches, and refuses those with a certain body."""

    def __init__(self, refused: str = "") -> None:
        self.sizes: list[int] = []
        self._refused = refused

    def send(self, call: HttpRequest) -> HttpResponse:
        raise NotImplementedError

    async def send_async(self, call: HttpRequest) -> HttpResponse:
        if call.headers["X-Amz-Target"].endswith("GetQueueUrl"):
            return URL
        await asyncio.sleep(0)
        entries: list[dict[str, Any]] = msgspec.json.decode(call.body)["Entries"]
        self.sizes.append(len(entries))
        good = [each for each in entries if each["MessageBody"] != self._refused]
        bad = [each for each in entries if each["MessageBody"] == self._refused]
        return http_response(
            {
                "Successful": [
                    {
                        "Id": each["Id"],
                        "MessageId": each["MessageBody"],
                        "SequenceNumber": each["MessageDeduplicationId"],
                    }
                    for each in good
                ],
                "Failed": [{"Id": each["Id"], "Code": "X", "SenderFault": True, "Message": "no"} for each in bad],
            }
        )

    def close(self) -> None:
        pass


def queue_on(transport: Batches) -> SqsQueue:
    return SqsQueue("q", "http://127.0.0.1:4566", credentials=KEYS, transport=transport)


async def test_tasks_share_calls() -> None:
    transport = Batches()
    queue = queue_on(transport)
    accepted = await asyncio.gather(*(queue.execute_async(Send(str(n), "g", str(n))) for n in range(95)))
    assert [each.sequence for each in accepted] == list(range(95))
    assert sorted(transport.sizes) == [5] + [10] * 9


async def test_a_message_that_is_refused_does_not_harm_the_others() -> None:
    queue = queue_on(Batches(refused="1"))
    sends = (queue.execute_async(Send(str(n), "g", str(n))) for n in range(3))
    first, refused, third = await asyncio.gather(*sends, return_exceptions=True)
    assert isinstance(refused, ValidationFailed)
    assert [each.sequence for each in (first, third) if isinstance(each, SentMessage)] == [0, 2]


async def test_large_messages_go_out_in_calls_of_their_own() -> None:
    transport = Batches()
    queue = queue_on(transport)
    large = "1".rjust(100_000, "0")
    await asyncio.gather(*(queue.execute_async(Send(large, "g", str(n))) for n in range(3)))
    assert sorted(transport.sizes) == [1, 2]


async def test_what_a_cancelled_task_would_have_sent_is_not_sent() -> None:
    transport = Batches()
    queue = queue_on(transport)
    tasks = [asyncio.create_task(queue.execute_async(Send(str(n), "g", str(n)))) for n in range(3)]
    await asyncio.sleep(0)  # they are waiting to be sent now
    tasks[0].cancel()
    tasks[2].cancel()
    assert (await tasks[1]).sequence == 1
    assert transport.sizes == [1]


async def test_when_a_call_fails_all_of_its_senders_get_the_error() -> None:
    queue = ScriptedQueue(URL, *[ResponseLost("reset")] * 3)
    sends = (queue.execute_async(Send(str(n), "g", str(n))) for n in range(2))
    outcomes = await asyncio.gather(*sends, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StoreUnavailable, StoreUnavailable]
