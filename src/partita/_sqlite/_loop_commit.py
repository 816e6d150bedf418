"""Whether an event loop commits by itself, or leaves that to the writer thread.

To hand a write to another thread, and its result back, takes more of the processor than the write itself. But an event
loop that waits for the disk serves nobody meanwhile. So it commits by itself only where the wait is short:

| the event loop commits by itself | the writer thread commits |
| --- | --- |
| writes of items, and few of them | whatever may take long: a new index, a load, many writes at once |
| a quarter of the last commits took less than half a millisecond | nearly all took longer |
| the log is far from being brought into the file | this commit would do it |
| no other thread or process writes | one does |
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import apsw

from partita._sqlite._commit_time import CommitTime
from partita._sqlite._database_file import CHECKPOINT_PAGES

MAX_WAIT_SECONDS: Final = 0.0005
"""About what it takes to hand a write to another thread and back."""
MAX_WRITES: Final = 32
_ROOM_PAGES: Final = 500
"""More than so few writes add to the log."""


class LoopCommits:
    """Says whether an event loop may commit. It belongs to the thread that holds the write lock."""

    def __init__(self, requests: Collection[type], commit_time: CommitTime) -> None:
        self.requests = requests
        """What an event loop may commit by itself."""
        self._commit_time = commit_time

    def is_short(self, connection: apsw.Connection) -> bool:
        """Whether a commit is short, by all that is known."""
        if self._commit_time.seconds > MAX_WAIT_SECONDS:
            return False
        pages, in_file = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        return pages < CHECKPOINT_PAGES - _ROOM_PAGES or pages == in_file
