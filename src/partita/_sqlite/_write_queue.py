"""The queue of writes, and how batches are made of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final, TypeAlias

from partita._sqlite._loop_commit import MAX_WRITES
from partita._sqlite._pending_write import PendingWrite, notify_all

if TYPE_CHECKING:  # only who writes asynchronously loads it
    import asyncio

MAX_BATCH: Final = 256

Commit: TypeAlias = Callable[[list[PendingWrite]], None]
"""Commits the writes of a batch, and finishes them."""


class WriteQueue:
    """Writes, from the request to the acknowledgement; only the thread that holds the write lock takes any out.

    Ctrl-C may come in the middle. So that it loses no write, each is always in one of three places, and comes to the
    next before it leaves the last:

        queue ── batch is filled ──> batch ── committed, refused, interrupted ──> unacknowledged ── notified ──> gone

    A write that was interrupted can be in two of them. It is then notified twice, which does no harm.
    """

    def __init__(self, commit: Commit) -> None:
        self.is_writing = False
        self._commit = commit
        self._queue: deque[PendingWrite] = deque()
        self._unacknowledged: list[PendingWrite] = []
        self.append = self._queue.append

    def __len__(self) -> int:
        """How many writes wait for their batch."""
        return len(self._queue)

    def is_empty(self) -> bool:
        """Whether no write waits for its batch."""
        return not self._queue

    def is_short(self) -> bool:
        """Whether few writes wait for their batch, but at least one."""
        return 0 < len(self._queue) <= MAX_WRITES

    def has_work(self) -> bool:
        """Whether somebody waits: for a batch, or to be notified."""
        return bool(self._queue or self._unacknowledged)

    def write_batch(self, only: Collection[type] | None = None) -> None:
        """Commit what waits, up to `MAX_BATCH`; its callers are notified later, with `notify`.

        With `only`, the first request of another kind, and whatever came after it, goes on waiting.
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
        """Notify the callers whose writes are committed, refused or interrupted, and say how many they are.

        `here` is the loop of this thread.
        """
        if not self._unacknowledged:
            return 0
        notified = len(self._unacknowledged)
        notify_all(self._unacknowledged, here)
        self._unacknowledged.clear()  # only now: if this is interrupted, the writer thread notifies them again
        return notified
