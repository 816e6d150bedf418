"""The figures of a process: what it consumed by access pattern, and what it did with the messages of queues."""

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
"""Of so many access patterns a report speaks, the busiest: a report is an item, and an item is bounded."""


class ProcessFigures(Struct, frozen=True):
    """What one process, or several together, have counted."""

    usage: tuple[Usage, ...] = ()
    queues: tuple[QueueUsage, ...] = ()

    def plus(self, other: ProcessFigures) -> ProcessFigures:
        """Both added up."""
        queues = {queue.name: queue for queue in self.queues}
        for queue in other.queues:
            queues[queue.name] = queues[queue.name].plus(queue) if queue.name in queues else queue
        return ProcessFigures(usage_sum(self.usage, other.usage), tuple(queues[name] for name in sorted(queues)))

    def minus(self, earlier: ProcessFigures) -> ProcessFigures:
        """What was added since some earlier figures of the same."""
        before = {queue.name: queue for queue in earlier.queues}
        queues = (queue.minus(before[queue.name]) if queue.name in before else queue for queue in self.queues)
        return ProcessFigures(usage_since(earlier.usage, self.usage), tuple(queues))

    def without(self, service: str) -> ProcessFigures:
        """The same without what one service consumed."""
        return ProcessFigures(tuple(usage for usage in self.usage if usage.service != service), self.queues)

    def ended(self) -> ProcessFigures:
        """What is left of a process that has ended: its counts, and no lag."""
        return ProcessFigures(self.usage, tuple(replace(queue, lag_seconds=0.0) for queue in self.queues))

    def packed(self) -> bytes:
        """As it is stored: JSON, which a process of another version can read, made smaller."""
        busiest = sorted(self.usage, key=lambda usage: usage.runs, reverse=True)[:MAX_PATTERNS]
        return zlib.compress(msgspec.json.encode(ProcessFigures(tuple(busiest), self.queues)))

    @classmethod
    def unpacked(cls, data: bytes) -> ProcessFigures:
        """From how it is stored."""
        return msgspec.json.decode(zlib.decompress(data), type=cls)


def figures_sum(figures: Iterable[ProcessFigures]) -> ProcessFigures:
    """The figures of several processes, added up."""
    total = ProcessFigures()
    for each in figures:
        total = total.plus(each)
    return total
