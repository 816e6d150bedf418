"""Decides whether an event loop commits a write itself or leaves it to the writer thread.

Handing a write to another thread, and its result back, takes more processor time than the write itself. But an event
loop that waits for the disk blocks all its other tasks. So the event loop commits only if the wait is short:

| the event loop commits | the writer thread commits |
| --- | --- |
| a few writes of items | requests that may take long: a new index, a load, many writes at once |
| a quarter of the last commits took less than half a millisecond | nearly all took longer |
| the log is far from its next checkpoint | this commit could run the checkpoint |
| no other thread or process writes | another one writes |
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import apsw

from partita._sqlite._commit_time import CommitTime
from partita._sqlite._database_file import CHECKPOINT_PAGES

MAX_WAIT_SECONDS: Final = 0.0005
"""About the time it takes to hand a write to another thread and its result back."""
MAX_WRITES: Final = 32
_ROOM_PAGES: Final = 500
"""More pages than `MAX_WRITES` writes add to the log."""


class LoopCommits:
    """Decides whether an event loop may commit. It belongs to the thread that holds the write lock."""

    def __init__(self, requests: Collection[type], commit_time: CommitTime) -> None:
        self.requests = requests
        """The request types that an event loop may commit."""
        self._commit_time = commit_time

    def is_short(self, connection: apsw.Connection) -> bool:
        """Whether the next commit is expected to be short: recent ones were, and no checkpoint is near."""
        if self._commit_time.seconds > MAX_WAIT_SECONDS:
            return False
        pages, in_file = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        return pages < CHECKPOINT_PAGES - _ROOM_PAGES or pages == in_file
