"""The queue of writes, from which batches are formed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final, TypeAlias

from partita._sqlite._loop_commit import MAX_WRITES
from partita._sqlite._pending_write import PendingWrite, notify_all

if TYPE_CHECKING:  # loaded only by asynchronous callers
    import asyncio

MAX_BATCH: Final = 256

Commit: TypeAlias = Callable[[list[PendingWrite]], None]
"""Commits the writes of a batch, and finishes them."""


class WriteQueue:
    """Writes, from the request to the acknowledgement; only the thread that holds the write lock removes any.

    A KeyboardInterrupt can be raised at any point. So that it loses no write, each write is always in one of three
    places, and is added to the next one before it is removed from the previous one:

        queue ── batch is filled ──> batch ── committed, refused, interrupted ──> unacknowledged ── notified ──> gone

    After an interrupt, a write can be in two of them. It is then notified twice, which is harmless.
    """

    def __init__(self, commit: Commit) -> None:
        self.is_writing = False
        self._commit = commit
        self._queue: deque[PendingWrite] = deque()
        self._unacknowledged: list[PendingWrite] = []
        self.append = self._queue.append

    def __len__(self) -> int:
        """The number of writes that wait for their batch."""
        return len(self._queue)

    def is_empty(self) -> bool:
        """Whether no write waits for its batch."""
        return not self._queue

    def is_short(self) -> bool:
        """Whether at least one write waits for its batch, and at most `MAX_WRITES`."""
        return 0 < len(self._queue) <= MAX_WRITES

    def has_work(self) -> bool:
        """Whether any write waits for its batch, or any caller for its notification."""
        return bool(self._queue or self._unacknowledged)

    def write_batch(self, only: Collection[type] | None = None) -> None:
        """Commit up to `MAX_BATCH` of the queued writes; their callers are notified later, by `notify`.

        With `only`, the first request of another type and all requests after it stay in the queue.
        """
        batch: list[PendingWrite] = []
        try:
            self.is_writing = True
            while self._queue and len(batch) < MAX_BATCH:
                write = self._queue[0]
                if only is not None and type(write.request) not in only:
                    break
                if not write.is_cancelled():
                    batch.append(write)
                self._queue.popleft()
            if batch:
                self._commit(batch)
        finally:
            self.is_writing = False
            self._unacknowledged.extend(batch)

    def notify(self, here: asyncio.AbstractEventLoop | None = None) -> int:
        """Notify the callers whose writes were committed, refused or interrupted; return the number of these callers.

        `here` is the event loop of this thread, if it has one.
        """
        if not self._unacknowledged:
            return 0
        notified = len(self._unacknowledged)
        notify_all(self._unacknowledged, here)
        self._unacknowledged.clear()  # only now: if this is interrupted, the writer thread notifies them again
        return notified
