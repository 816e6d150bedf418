"""A process that shares a stream with others until it is killed, and prints a line for each step."""

from __future__ import annotations

import os

from tests.change.model import TABLE
from tests.change.shared.sinks import POLICY, open_sink

from partita import EmbeddedStore, Session
from partita.change.shared import Membership, SharedConsumer


def main(kind: str, store: str, sink: str) -> None:
    """Read in small batches forever."""
    opened = EmbeddedStore(store, durable=False)
    membership = Membership(Session(opened), "group", f"process-{os.getpid()}", POLICY)
    with SharedConsumer(opened, TABLE, open_sink(kind, sink), membership, batch=40) as consumer:
        while True:
            consumer.step()
            print(len(consumer.held), flush=True)  # noqa: T201 - the test that kills this process reads it
