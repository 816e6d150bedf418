"""A worker that keeps a sink up to date, like `partita serve`: after an error it continues from the sink's position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol, TypeVar

import apsw
from tests.simulation._kernel import Process
from tests.simulation._retrying import PASSING
from tests.simulation._world import World

from partita import Table
from partita.change import Consumer, Sink


class ClosableSink(Sink, Protocol):
    """A sink that has open files."""

    def close(self) -> None:
        """Close the files."""
        ...


S = TypeVar("S", bound=ClosableSink)


@contextmanager
def opened(sink: S) -> Iterator[S]:
    """Yield the sink, and close it at the end."""
    try:
        yield sink
    finally:
        with suppress(apsw.FullError):  # the disk is full; SQLite itself ignores that when it closes a file
            sink.close()


def follow(world: World, process: Process, table: Table, open_sink: Callable[[], ClosableSink]) -> None:
    """Apply the changes of a table to a sink for ever. A process that cannot open the sink ends, and is restarted."""
    with suppress(*PASSING), opened(open_sink()) as sink:
        pause = world.kernel.sleep
        consumer = Consumer(world.store(process), table, sink, batch=5, clock=process.clock, pause=pause)
        while True:
            try:
                consumer.catch_up()
            except PASSING:
                consumer.forget()
            pause(0.5)
