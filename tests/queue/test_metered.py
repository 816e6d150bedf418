"""A metered queue counts the messages that are received from it, and measures their age."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from partita.errors import StoreError
from partita.queue import Acknowledge, GetStats, MeteredQueue, Postpone, QueueUsage, Receive, Send
from partita.queue.embedded import EmbeddedQueue
from partita.testing import FakeClock

pytestmark = pytest.mark.req("X10")


async def test_every_message_is_counted(tmp_path: Path, fake_clock: FakeClock) -> None:
    with closing(EmbeddedQueue(tmp_path / "q.db", "jobs", clock=fake_clock, durable=False)) as queue:
        metered = MeteredQueue(queue, clock=fake_clock)
        for number in range(3):
            metered.execute(Send("a", group=f"g{number}", deduplication_id="1"))
        fake_clock.advance(7)
        one, other, third = metered.execute(Receive(10))
        assert metered.usage == QueueUsage("jobs", received=3, lag_seconds=7.0)
        metered.execute(Acknowledge((one.receipt,)))
        metered.execute(Postpone((other.receipt,), 0))
        assert (await metered.execute_async(GetStats())).dead == 0
        await metered.execute_async(Receive(10))
        expected = QueueUsage("jobs", received=4, redelivered=1, acknowledged=1, postponed=1, lag_seconds=7.0)
        assert metered.usage == expected
        metered.execute(Acknowledge((other.receipt,)))  # too late: the message was delivered again
        assert metered.usage.acknowledged == 1
        assert metered.execute(Receive(10)) == ()
        assert metered.usage.lag_seconds == 0.0
        assert third.receives == 1


def test_trouble_is_counted(tmp_path: Path) -> None:
    queue = EmbeddedQueue(tmp_path / "q.db", "jobs", durable=False)
    metered = MeteredQueue(queue, name="work")
    metered.close()
    with pytest.raises(StoreError):
        metered.execute(GetStats())
    assert metered.usage == QueueUsage("work", failures=1)
