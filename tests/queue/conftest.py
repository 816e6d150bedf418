"""The queues that the contract suite runs on: the embedded queue, and SQS, which two servers emulate."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from tests.referee import moto

from partita.queue import Create, Queue, QueuePolicy
from partita.queue.embedded import EmbeddedQueue
from partita.queue.sqs import SqsQueue
from partita.store.remote import Credentials
from partita.testing import FakeClock

KEYS = Credentials("test", "test")

KNOWN_MOTO_DIFFERENCES = {
    "test_a_deduplication_id_belongs_to_its_group": "knows no scope of deduplication",
    "test_a_deduplication_id_is_remembered_when_its_message_is_done": "forgets it",
    "test_a_message_without_a_body_is_refused": "accepts it",
    "test_a_position_sorts_as_text_as_the_queue_does": "gives sequence numbers at random",
    "test_a_receipt_is_too_late_when_the_message_was_handed_out_again": "accepts old receipts",
    "test_messages_come_in_the_order_in_which_they_were_accepted": "gives sequence numbers at random",
    "test_tasks_send_and_receive_too": "gives sequence numbers at random",
    "test_the_same_deduplication_id_is_sent_once_with_the_same_response": "responds with a new sequence number",
}

_numbers = count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name, _, parameter = item.name.partition("[")
        if "tests/queue" in item.nodeid and parameter == "moto]" and name in KNOWN_MOTO_DIFFERENCES:
            item.add_marker(pytest.mark.skip(reason=f"moto {KNOWN_MOTO_DIFFERENCES[name]}"))


@pytest.fixture(scope="session")
def moto_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a second SQS server, which is started once."""
    with moto(tmp_path_factory.mktemp("moto")) as url:
        yield url


@pytest.fixture(
    params=[
        "embedded",
        pytest.param("ministack", marks=pytest.mark.xdist_group("referee")),
        pytest.param("moto", marks=pytest.mark.xdist_group("moto")),
    ]
)
def queue(request: pytest.FixtureRequest, tmp_path: Path, fake_clock: FakeClock) -> Iterator[Queue]:
    """An empty queue, which delivers each message at most twice."""
    name, policy = f"contract-{os.getpid()}-{next(_numbers)}", QueuePolicy(max_receives=2)
    if request.param == "embedded":
        queue: Queue = EmbeddedQueue(tmp_path / "queue.db", name, policy=policy, clock=fake_clock, durable=False)
    else:
        queue = SqsQueue(name, request.getfixturevalue(f"{request.param}_url"), policy=policy, credentials=KEYS)
    with closing(queue):
        queue.execute(Create())
        yield queue
