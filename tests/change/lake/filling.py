"""A process that fills a lake until it is killed, and prints a line for each batch.

All these processes share the lake, so that the next one does not wait for the lease of a killed one.
"""

from __future__ import annotations

from tests.change.model import TABLE

from partita import EmbeddedStore
from partita.change import Consumer
from partita.change.lake import Lake


def main(store: str, lake: str) -> None:
    """Fill the lake in small batches forever."""
    consumer = Consumer(EmbeddedStore(store), TABLE, Lake(lake, TABLE, shared_by=store), batch=20)
    while True:
        print(consumer.step(), flush=True)  # noqa: T201 - the test that kills this process reads it
