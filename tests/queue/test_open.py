"""Opening a queue by its address."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from partita.errors import OperationError
from partita.queue import Receive, Send, open_queue
from partita.queue.sqs import SqsQueue

pytestmark = pytest.mark.req("E02")


@pytest.mark.parametrize(
    ("address", "endpoint"),
    [
        ("sqs://ap-southeast-2", "https://sqs.ap-southeast-2.amazonaws.com/"),
        ("http://127.0.0.1:4566", "http://127.0.0.1:4566/"),
    ],
)
def test_a_queue_of_sqs(address: str, endpoint: str) -> None:
    with closing(open_queue(address, "events")) as queue:
        assert isinstance(queue, SqsQueue)
        assert (queue.name, queue.endpoint) == ("events", endpoint)


def test_embedded_queues_have_a_file_each(tmp_path: Path) -> None:
    with closing(open_queue(tmp_path, "a")) as a, closing(open_queue(str(tmp_path), "b")) as b:
        a.execute(Send("for a", "g", "1"))
        b.execute(Send("for b", "g", "1"))
        assert [each.body for queue in (a, b) for each in queue.execute(Receive())] == ["for a", "for b"]
    assert {path.suffix for path in tmp_path.glob("queue-[ab].db")} == {".db"}


@pytest.mark.parametrize(
    "address", ["redis://127.0.0.1", "sqs://eu-west-1?colour=red", "sqs://eu-west-1/path", "sqs", "localhost:4566"]
)
def test_an_address_that_means_nothing_is_refused(address: str) -> None:
    with pytest.raises(OperationError):
        open_queue(address, "events")
