"""Mistakes of callers: every queue refuses them with an error of Partita that has a hint."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from partita.errors import ModelError, OperationError, PartitaError, PoisonMessage, ValidationFailed
from partita.queue import (
    Acknowledge,
    Body,
    BodyDecoder,
    Discard,
    GetStats,
    MeteredQueue,
    Postpone,
    Queue,
    QueuePolicy,
    QueueRequest,
    ReadDead,
    Receive,
    Redrive,
    Send,
    encode_body,
    open_queue,
    queue_file,
)
from partita.queue.sqs import SqsQueue
from partita.store.remote import Credentials

pytestmark = pytest.mark.req("E02")


def refusal(call: Callable[[], object], kind: type[PartitaError]) -> str:
    """The message of the error that a call raises, which must have a hint."""
    with pytest.raises(kind) as raised:
        call()
    assert type(raised.value) is kind
    assert raised.value.hint
    return str(raised.value)


@pytest.fixture(params=["embedded", "sqs", "metered"])
def queue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Queue]:
    """A queue of each kind; nothing listens where that of SQS sends to."""
    if request.param == "sqs":
        queue: Queue = SqsQueue("q", "http://127.0.0.1:1", credentials=Credentials("test", "test"))
    else:
        queue = open_queue(tmp_path, "q")
        queue = MeteredQueue(queue) if request.param == "metered" else queue
    with closing(queue):
        yield queue


NAN, INF, HUGE = float("nan"), float("inf"), 10**400

WRONG: list[tuple[type[QueueRequest[Any]], str, list[Any]]] = [
    (Send, "body", [object(), None, b"a", {"a": 1}, "\ud800"]),
    (Send, "group", [object(), None, 5, "\ud800"]),
    (Send, "deduplication_id", [object(), None, 5, "\ud800"]),
    (Receive, "limit", [object(), None, "3", 1.5, True, 0, -1, HUGE]),
    (Receive, "wait", [object(), None, "1", True, -1, NAN, INF, HUGE]),
    (Receive, "visibility", [object(), None, "1", -1, NAN, INF, HUGE]),
    (Acknowledge, "receipts", [object(), None, "1.1", (1,), (object(),)]),
    (Postpone, "receipts", [object(), None, "1.1", (1,), (object(),)]),
    (Postpone, "seconds", [object(), None, "1", -1, NAN, INF, HUGE]),
    (ReadDead, "limit", [object(), None, "3", 1.5, -1, HUGE]),
    (Redrive, "ids", [object(), "12", (1,), (HUGE,)]),
    (Discard, "ids", [object(), "12", (1,), (HUGE,)]),
]
"""Values that no queue accepts, by request and field."""

RIGHT: dict[type[QueueRequest[Any]], dict[str, Any]] = {
    Send: {"body": "a", "group": "g", "deduplication_id": "1"},
    Acknowledge: {"receipts": ("1.1",)},
    Postpone: {"receipts": ("1.1",), "seconds": 1},
}


@pytest.mark.parametrize(("kind", "field", "values"), WRONG, ids=lambda value: getattr(value, "__name__", None))
def test_requests_with_wrong_values_are_refused(
    queue: Queue, kind: type[QueueRequest[Any]], field: str, values: list[Any]
) -> None:
    for value in values:
        request = kind(**{**RIGHT.get(kind, {}), field: value})
        for call in (partial(queue.execute, request), partial(in_task, queue, request)):
            assert f"{field} of {kind.__name__}" in refusal(call, ValidationFailed)


def in_task(queue: Queue, request: QueueRequest[Any]) -> Any:
    return asyncio.run(queue.execute_async(request))


@pytest.mark.parametrize("request_", [QueueRequest(), GetStats, "Receive()", None], ids=str)
def test_anything_that_is_not_a_request_is_refused(queue: Queue, request_: Any) -> None:
    assert "is not a request to a queue" in refusal(lambda: queue.execute(request_), OperationError)
    assert "is not a request to a queue" in refusal(partial(in_task, queue, request_), OperationError)


@pytest.mark.parametrize("receipt", ["nonsense", "", "1", f"{10**30}.1", "1.1.1", "1_0.1"])
def test_a_receipt_of_another_queue_is_refused(tmp_path: Path, receipt: str) -> None:
    with closing(open_queue(tmp_path, "q")) as queue:
        assert "not a receipt" in refusal(lambda: queue.execute(Acknowledge((receipt,))), ValidationFailed)


@pytest.mark.parametrize("max_receives", [0, -1, 1001, 10**30, 1.5, "5", None, True])
def test_a_policy_is_checked_when_it_is_created(max_receives: Any) -> None:
    assert "max_receives" in refusal(lambda: QueuePolicy(max_receives), OperationError)


@pytest.mark.parametrize("name", ["", "a/b", "../b", "a\0b", "a\\b", None, 3])
@pytest.mark.parametrize("address", ["folder", "sqs://eu-west-1"])
def test_a_name_that_cannot_be_a_file_is_refused(tmp_path: Path, address: str, name: Any) -> None:
    place = tmp_path if address == "folder" else address
    assert "is not the name of a queue" in refusal(lambda: open_queue(place, name), OperationError)
    assert "is not the name of a queue" in refusal(lambda: queue_file(tmp_path, name), OperationError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", [None, 3, "http://[", "redis://127.0.0.1"])
def test_what_is_not_an_address_is_refused(address: Any) -> None:
    refusal(lambda: open_queue(address, "q"), OperationError)


def test_what_is_not_a_policy_or_a_queue_is_refused(tmp_path: Path) -> None:
    policy: Any = {"max_receives": 3}
    assert "is not a policy" in refusal(lambda: open_queue(tmp_path, "q", policy), OperationError)
    assert "is not a policy" in refusal(lambda: open_queue("sqs://eu-west-1", "q", policy), OperationError)
    wrong: Any
    for wrong in (None, SqsQueue):
        assert "is not a queue" in refusal(partial(MeteredQueue, wrong), OperationError)


class Admit(Body, frozen=True):
    kind = "admit"
    request_id: Any


class WithoutKind(Body, frozen=True):
    request_id: str


class WithKindAsField(Body, frozen=True):
    kind: str = "admit"  # type: ignore[misc]


class WithVersionAsField(Body, frozen=True):
    kind = "admit"
    v: int


class WithTwoTexts(Body, frozen=True):
    kind = "admit"
    request_id: str | bytes


@pytest.mark.parametrize("body", [{}, None, "admit", Admit])
def test_only_a_body_is_encoded(body: Any) -> None:
    assert "is an instance of Body" in refusal(lambda: encode_body(body), OperationError)


@pytest.mark.parametrize("value", [object(), "\ud800", 1j])
def test_a_value_that_json_cannot_hold_is_refused(value: Any) -> None:
    assert "Admit cannot be encoded" in refusal(lambda: encode_body(Admit(value)), OperationError)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (WithoutKind, "needs a kind"),
        (WithKindAsField, "without annotations"),
        (WithVersionAsField, "fields v of WithVersionAsField would replace"),
        (WithTwoTexts, "cannot be decoded from JSON"),
        (Body, "needs a kind"),
        ({}, "not a subclass of Body"),
    ],
)
def test_a_body_that_is_declared_wrongly_is_refused(body: Any, words: str) -> None:
    assert words in refusal(lambda: BodyDecoder(body), ModelError)


def test_a_body_that_is_declared_wrongly_is_not_encoded() -> None:
    assert "needs a kind" in refusal(lambda: encode_body(WithoutKind("r1")), ModelError)
    assert "would replace" in refusal(lambda: encode_body(WithVersionAsField(3)), ModelError)


@pytest.mark.parametrize("text", ['{"v":1,"kind":"admit","request_id":' + "[" * 100_000, '"\ud800"'])
def test_text_that_cannot_be_decoded_at_all_is_poison(text: str) -> None:
    refusal(lambda: BodyDecoder(Admit).decode(text), PoisonMessage)


@pytest.mark.parametrize("text", [None, b"{}", {}])
def test_only_text_is_decoded(text: Any) -> None:
    assert "message.body" in refusal(lambda: BodyDecoder(Admit).decode(text), OperationError)
