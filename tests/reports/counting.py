"""Processes that count requests without executing any."""

from __future__ import annotations

from msgspec.structs import replace

from partita import Consumption, Meter, Session
from partita.queue import QueueUsage
from partita.reports import ProcessFigures, Reporter
from partita.testing import FakeClock, FaultyStore


class Process:
    """A worker process: its counts, and its reporter."""

    def __init__(self, store: FaultyStore, clock: FakeClock, name: str) -> None:
        self.meter = Meter()
        self.queue = QueueUsage("events")
        session = Session(
            store, clock=clock, secret=b"fake", strict_budgets=True, meter=self.meter, sleep=clock.advance
        )
        self.reporter = Reporter(session, self.counted, name=name, services=("events",))

    def counted(self) -> ProcessFigures:
        return ProcessFigures(self.meter.usage(), (self.queue,))

    def works(self, write: float = 5.0, *, over: bool = False, lag: float = 0.0) -> None:
        """Count one decided request."""
        self.meter.record(Consumption("decide", ("TransactWriteItems",), 0.0, write, over, "events"))
        self.queue = replace(self.queue, received=self.queue.received + 1, lag_seconds=lag)
