"""Counts the messages of a queue, and measures their age."""

from __future__ import annotations

import threading
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import PartitaError
from partita.queue._checks import check_queue
from partita.queue._interface import Acknowledge, Postpone, Queue, QueueRequest, Receive
from partita.runtime import Clock, system_clock

R = TypeVar("R")


class QueueUsage(Struct, frozen=True):
    """The usage of a queue by one process."""

    name: str
    received: int = 0
    redelivered: int = 0
    """How many of them had been received before."""
    acknowledged: int = 0
    postponed: int = 0
    """Messages that wait for another attempt."""
    failures: int = 0
    """Requests to the queue that raised an error."""
    lag_seconds: float = 0.0
    """The age of the oldest message of the last receive; 0 if it returned none."""

    def plus(self, other: QueueUsage) -> QueueUsage:
        """The sums of both; the lag is the larger one."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        return replace(self, **sums, lag_seconds=max(self.lag_seconds, other.lag_seconds))

    def minus(self, earlier: QueueUsage) -> QueueUsage:
        """The differences from an earlier usage; the lag is not subtracted."""
        return replace(self, **{name: getattr(self, name) - getattr(earlier, name) for name in _SUMS})


_SUMS: Final = tuple(field for field in QueueUsage.__struct_fields__ if field not in ("name", "lag_seconds"))


class MeteredQueue:
    """A wrapper that counts the messages of a queue. Safe for any number of threads and event loops."""

    def __init__(self, queue: Queue, *, name: str | None = None, clock: Clock = system_clock) -> None:
        """Wrap a queue; `name` is the name in the usage, by default that of the queue.

        Raises:
            OperationError: it is not a queue.
        """
        check_queue(queue)
        self.name = queue.name
        self._queue = queue
        self._clock = clock
        self._lock = threading.Lock()
        self._usage = QueueUsage(name or queue.name)

    @property
    def usage(self) -> QueueUsage:
        """The counts so far."""
        return self._usage

    def execute(self, request: QueueRequest[R]) -> R:
        """Execute the request and count its messages."""
        try:
            response = self._queue.execute(request)
        except PartitaError:
            self._add(QueueUsage("", failures=1))
            raise
        self._count(request, response)
        return response

    async def execute_async(self, request: QueueRequest[R]) -> R:
        """Execute the request without blocking the event loop."""
        try:
            response = await self._queue.execute_async(request)
        except PartitaError:
            self._add(QueueUsage("", failures=1))
            raise
        self._count(request, response)
        return response

    def close(self) -> None:
        """Close the queue."""
        self._queue.close()

    def _count(self, request: QueueRequest[Any], response: Any) -> None:
        if isinstance(request, Receive):
            again = sum(message.receives > 1 for message in response)
            age = max((self._clock() - message.sent_at for message in response), default=0.0)
            self._add(QueueUsage("", received=len(response), redelivered=again), lag_seconds=max(0.0, round(age, 3)))
        elif isinstance(request, Acknowledge):
            self._add(QueueUsage("", acknowledged=len(request.receipts) - len(response)))
        elif isinstance(request, Postpone):
            self._add(QueueUsage("", postponed=len(request.receipts) - len(response)))

    def _add(self, more: QueueUsage, *, lag_seconds: float | None = None) -> None:
        """Add counts. The lag is that of the last receive, so only a receive passes another one."""
        with self._lock:
            lag = self._usage.lag_seconds if lag_seconds is None else lag_seconds
            self._usage = replace(self._usage.plus(more), lag_seconds=lag)
