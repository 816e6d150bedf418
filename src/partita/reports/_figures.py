"""The figures of a process: its consumption by access pattern, and its work on the messages of queues."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from partita.queue import QueueUsage
from partita.session import Usage, usage_since, usage_sum

MAX_PATTERNS: Final = 1_000
"""The most access patterns in a report, which keeps the busiest, because an item has a maximum size."""


class ProcessFigures(Struct, frozen=True):
    """The counts of one process, or of several together."""

    usage: tuple[Usage, ...] = ()
    queues: tuple[QueueUsage, ...] = ()

    def plus(self, other: ProcessFigures) -> ProcessFigures:
        """The sum of both."""
        queues = {queue.name: queue for queue in self.queues}
        for queue in other.queues:
            queues[queue.name] = queues[queue.name].plus(queue) if queue.name in queues else queue
        return ProcessFigures(usage_sum(self.usage, other.usage), tuple(queues[name] for name in sorted(queues)))

    def minus(self, earlier: ProcessFigures) -> ProcessFigures:
        """The difference to earlier figures of the same processes."""
        before = {queue.name: queue for queue in earlier.queues}
        queues = (queue.minus(before[queue.name]) if queue.name in before else queue for queue in self.queues)
        return ProcessFigures(usage_since(earlier.usage, self.usage), tuple(queues))

    def without(self, service: str) -> ProcessFigures:
        """The same figures without the consumption of one service."""
        return ProcessFigures(tuple(usage for usage in self.usage if usage.service != service), self.queues)

    def ended(self) -> ProcessFigures:
        """The figures of an ended process: its counts, without lag."""
        return ProcessFigures(self.usage, tuple(replace(queue, lag_seconds=0.0) for queue in self.queues))

    def packed(self) -> bytes:
        """The stored form: compressed JSON, which processes of other versions can read."""
        busiest = sorted(self.usage, key=lambda usage: usage.runs, reverse=True)[:MAX_PATTERNS]
        return zlib.compress(msgspec.json.encode(ProcessFigures(tuple(busiest), self.queues)))

    @classmethod
    def unpacked(cls, data: bytes) -> ProcessFigures:
        """Decode the stored form."""
        return msgspec.json.decode(zlib.decompress(data), type=cls)


def figures_sum(figures: Iterable[ProcessFigures]) -> ProcessFigures:
    """The sum of the figures of several processes."""
    total = ProcessFigures()
    for each in figures:
        total = total.plus(each)
    return total
