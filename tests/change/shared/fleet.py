"""Workers that share a stream and a clock, and that a test runs step by step."""

from __future__ import annotations

from itertools import count
from typing import Any

from tests.change.model import TABLE

from partita import EmbeddedStore, Session
from partita.change.shared import (
    LEASES_TABLE,
    LeasePolicy,
    Membership,
    Outside,
    ShardOwner,
    SharedConsumer,
    group_of,
    owners_of,
)
from partita.testing import FakeClock

POLICY = LeasePolicy()
SINK = "sink"


class Fleet:
    """Workers with one clock, which a test runs step by step."""

    def __init__(self, store: EmbeddedStore, open_sink: Any, clock: FakeClock) -> None:
        self.store, self.open_sink, self.clock = store, open_sink, clock
        self.leases = Session(store)
        self.leases.create_tables([LEASES_TABLE])
        self.ids = count()
        self.sinks: list[Any] = []

    def worker(self, name: str, **given: Any) -> SharedConsumer:
        sink = self.open_sink()
        self.sinks.append(sink)
        outside = Outside(self.clock, self.clock, lambda: f"life-{next(self.ids)}", self.clock.advance)
        return SharedConsumer(
            self.store, TABLE, sink, Membership(self.leases, SINK, name, POLICY), outside=outside, **given
        )

    def begin(self) -> None:
        """Load the sink, and read the shard that was split to its end, so that all eight others can be read."""
        first = self.worker("begin")
        self.drain(first)
        first.leave()

    def look(self, *workers: SharedConsumer, times: int = 4) -> None:
        """Let time pass, and let each worker send heartbeats and check the group."""
        for _ in range(times):
            self.clock.advance(POLICY.every)
            for worker in workers:
                worker.beat()
                worker.look()

    def drain(self, *workers: SharedConsumer) -> None:
        """Let the workers read until none finds more, including the children of finished shards."""
        for _ in range(4):
            self.look(*workers, times=1)
            for worker in workers:
                while worker.step():
                    pass

    def owners(self) -> dict[str, ShardOwner]:
        return owners_of(self.leases, group_of(SINK, TABLE.name))
