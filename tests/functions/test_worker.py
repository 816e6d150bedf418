"""Messages of SQS, processed by the ordinary worker of a service, which knows nothing about Lambda."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.functions.recorded import Context, recorded

from partita import Session
from partita.errors import EventRefused, StoreUnavailable
from partita.functions import WorkerHandler
from partita.functions._worker import Round
from partita.queue import (
    Acknowledge,
    Create,
    GetStats,
    Message,
    Postpone,
    Queue,
    QueuePolicy,
    QueueRequest,
    QueueStats,
    Receive,
    Send,
)
from partita.service import Installation, Service, WorkerContext

ANN_1, BOB_1, ANN_2 = (f"{n}{n}d6ee51-4cc7-4302-9e22-7cd8afdaadf5" for n in (1, 2, 3))


class SqsAsSeen:
    """A queue that records the requests that reach it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[QueueRequest[Any]] = []

    def execute(self, request: QueueRequest[Any]) -> Any:
        self.asked.append(request)
        return QueueStats(1, 2, 0, None) if isinstance(request, GetStats) else ()

    async def execute_async(self, request: QueueRequest[Any]) -> Any:
        return self.execute(request)

    def close(self) -> None:
        self.asked.append(Create())


class Post:
    """A service whose worker receives up to `limit` letters at a time."""

    def __init__(self, limit: int = 10) -> None:
        self.limit = limit
        self.read: list[str] = []
        self.refused: Callable[[Message], bool] = lambda _: False
        self.rounds = 0
        self.sqs: dict[str, SqsAsSeen] = {}

    @contextmanager
    def open(self, installation: Installation) -> Iterator[tuple[Queue, Queue]]:
        with (
            closing(installation.open_queue("letters", QueuePolicy())) as letters,
            closing(installation.open_queue("parcels", QueuePolicy())) as parcels,
        ):
            letters.execute(Create())
            yield letters, parcels

    def work(self, context: WorkerContext[tuple[Queue, Queue]]) -> None:
        letters, parcels = context.resources
        while not context.stop.is_set():
            self.rounds += 1
            for message in letters.execute(Receive(self.limit, wait=20.0)):
                if self.refused(message):
                    letters.execute(Postpone((message.receipt,), 2.0**message.receives))
                else:
                    self.read.append(message.body)
                    letters.execute(Acknowledge((message.receipt,)))
            assert parcels.execute(Receive()) == ()

    def handler(self, db: Session) -> WorkerHandler:
        def open_queue(name: str, policy: QueuePolicy) -> Queue:
            return self.sqs.setdefault(name, SqsAsSeen(name))

        queues = {"letters": QueuePolicy(), "parcels": QueuePolicy()}
        service = Service(
            "post",
            "Post",
            "Letters.",
            (),
            resources=self.open,
            worker=self.work,
            queues=queues,
        )
        return WorkerHandler(service, db, Installation(Path(), str.encode, open_queue))


def failures(*ids: str) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": each} for each in ids]}


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_a_worker_reads_the_messages_of_an_event_in_order(partita_db: Session, limit: int) -> None:
    post = Post(limit)
    assert post.handler(partita_db)(recorded("sqs-fifo"), Context()) == failures()
    assert [body for body in post.read if "ann" in body] == ["first of ann", "second of ann"]
    assert sorted(post.read) == ["first of ann", "first of bob", "second of ann"]
    assert post.sqs["letters"].asked == []


def test_a_message_has_all_that_a_queue_says_of_it(partita_db: Session) -> None:
    post = Post()
    seen: list[Message] = []

    def keep(message: Message) -> bool:
        seen.append(message)
        return False

    post.refused = keep
    post.handler(partita_db)(recorded("sqs-fifo"), Context())
    assert seen[1] == Message(
        BOB_1, "AQEBBX8nesZEXmkhsmZeyIE8iQAMig7qw2", "first of bob", "bob", 18849496460467696129, 1573251510.775, 2
    )


def test_what_fails_comes_again_and_holds_back_its_group(partita_db: Session) -> None:
    post = Post(limit=1)
    post.refused = lambda message: message.body == "first of ann"
    assert post.handler(partita_db)(recorded("sqs-fifo"), Context()) == failures(ANN_1, ANN_2)
    assert post.read == ["first of bob"]
    assert post.sqs["letters"].asked == [Postpone(("AQEBBX8nesZEXmkhsmZeyIE8iQAMig7qw1",), 2.0)]


def test_what_a_worker_that_fails_has_not_finished_comes_again(
    partita_db: Session, caplog: pytest.LogCaptureFixture
) -> None:
    post = Post(limit=1)

    def fail(message: Message) -> bool:
        if message.group == "bob":
            raise StoreUnavailable("Nobody is there.")
        return False

    post.refused = fail
    assert post.handler(partita_db)(recorded("sqs-fifo"), Context()) == failures(BOB_1, ANN_2)
    assert "Nobody is there." in caplog.text


def test_a_worker_without_time_leaves_the_rest(partita_db: Session) -> None:
    post = Post()
    assert post.handler(partita_db)(recorded("sqs-fifo"), Context(1)) == failures(ANN_1, BOB_1, ANN_2)


def test_the_next_event_finds_the_same_worker(partita_db: Session) -> None:
    post = Post()
    handler = post.handler(partita_db)
    for _ in range(2):
        assert handler(recorded("sqs-fifo"), Context()) == failures()
    assert len(post.read) == 6
    handler.close()
    assert post.sqs["letters"].asked == [Create()]  # it was closed once


def test_on_a_schedule_a_worker_does_one_round(partita_db: Session) -> None:
    post = Post()
    assert post.handler(partita_db)(recorded("schedule"), Context()) == {}
    assert post.rounds == 1


def test_on_a_schedule_a_worker_that_fails_fails_the_function(partita_db: Session) -> None:
    def work(context: WorkerContext[Any]) -> None:
        raise ZeroDivisionError

    service = Service("post", "Post", "Letters.", (), worker=work)
    handler = WorkerHandler(service, partita_db, Installation(Path(), str.encode, Post().handler))  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        handler(recorded("schedule"), Context())


def test_a_worker_that_would_wait_ends_its_round() -> None:
    current = Round(None)
    assert not current.is_set()
    assert current.wait(3_600)
    assert current.is_set()


def test_the_queue_itself_is_asked_for_all_else(partita_db: Session) -> None:
    post = Post()
    stats: list[QueueStats] = []
    handler = post.handler(partita_db)

    def look(_: Message) -> bool:
        stats.append(handler._queues["letters"].execute(GetStats()))
        return False

    post.refused = look
    handler(recorded("sqs-fifo"), Context())
    handler._queues["letters"].execute(Send("x", "ann", "1"))
    assert post.sqs["letters"].asked[-2:] == [GetStats(), Send("x", "ann", "1")]
    assert stats[0] == QueueStats(1, 2, 0, None)


def test_messages_that_cannot_be_read_come_again_with_all_behind_them(partita_db: Session) -> None:
    post = Post()
    event = recorded("sqs-fifo")
    del event["Records"][1]["attributes"]["MessageGroupId"]  # as from a queue that is not FIFO
    assert post.handler(partita_db)(event, Context()) == failures(BOB_1, ANN_2)
    assert post.read == ["first of ann"]


@pytest.mark.parametrize("event", [None, [], {"Records": []}, {"Records": [{}]}, {"Records": [7]}, "s3", "stream"])
def test_other_events_are_refused(partita_db: Session, event: Any) -> None:
    post = Post()
    with pytest.raises(EventRefused):
        post.handler(partita_db)(recorded(event) if isinstance(event, str) else event, Context())
    assert post.rounds == 0


def test_messages_of_another_queue_are_refused(partita_db: Session) -> None:
    event = recorded("sqs-fifo")
    event["Records"][0]["eventSourceARN"] = "arn:aws:sqs:us-east-2:123456789012:others.fifo"
    with pytest.raises(EventRefused, match=r"others.fifo.*letters.fifo"):
        Post().handler(partita_db)(event, Context())


def test_a_service_without_a_worker_has_no_handler(partita_db: Session) -> None:
    installation = Installation(Path(), str.encode, Post().handler)  # type: ignore[arg-type]
    with pytest.raises(EventRefused, match="post has no worker"):
        WorkerHandler(Service("post", "Post", "Letters.", ()), partita_db, installation)
