"""Whether the writer thread waits for writers to come back, so that all of them share the next commit.

Who was notified of its commit often writes again at once. Without a wait, the threads of a program make two groups: one
prepares its next writes while the other waits for the disk, and each commit is shared by half of them. Where the disk
takes longer than they need to come back, it is better to have all of them in one commit:

    quick disk   commit a b ── commit c d ── commit a b ── commit c d        a b prepare while c d are committed
    slow disk    commit a b c d ───── a b c d come back ── commit a b c d    one wait for the disk, and not two

How long they need depends on how many they are, on what they do, and on who else wants the processor. So each wait is
compared with a commit, which is what it can save, as a moving average. Where waits take longer, or some do not come
back, as in a server whose clients are elsewhere, commits go on without one; now and then one is tried. A wait lasts as
long as a commit takes at most, and until its thread has the interpreter again.
"""

from __future__ import annotations

import threading
from collections.abc import Sized
from typing import Final

from partita._sqlite._commit_time import CommitTime

MIN_COMMIT_SECONDS: Final = 0.0005
"""Where commits take less, nobody is waited for: the wait itself costs two switches of threads."""
SKIPPED: Final = 63
"""So many commits go on without a wait, where waits do not pay, until one is tried again."""
IN_VAIN: Final = 2.0
"""What a wait costs at most, in commits, and one that did not bring all of them back."""
_WEIGHT: Final = 0.2
"""Of the last wait in the average."""
_MIN_WRITERS: Final = 2
"""Fewer cannot share a commit."""


class Gathering:
    """Waits for writers. It belongs to the thread that holds the write lock; whoever wrote says that it `arrived`."""

    def __init__(self, commit_time: CommitTime) -> None:
        self._commit_time = commit_time
        self._wanted = 0
        self._until_complete = threading.Lock()
        self._until_complete.acquire()
        self._cost = 0.0
        """What a wait takes, in commits."""
        self._skipped = 0

    def is_worthwhile(self) -> bool:
        """Whether to wait before the next commit, which this asks for once."""
        if self._commit_time.least < MIN_COMMIT_SECONDS:
            return False
        if self._cost < 1:
            return True
        self._skipped = (self._skipped + 1) % (SKIPPED + 1)
        return self._skipped == 0

    def wait(self, queue: Sized, notified: int) -> None:
        """Wait until as many as were notified have come to the queue, or for as long as a commit takes."""
        before = len(queue)
        if before + notified < _MIN_WRITERS:
            return
        timer, longest = self._commit_time.timer, max(MIN_COMMIT_SECONDS, self._commit_time.seconds)
        started = timer()
        self._wanted = before + notified  # first this, then look: who comes from now on sees it
        if len(queue) < self._wanted:
            self._until_complete.acquire(timeout=longest)
        self._wanted = 0
        self._until_complete.acquire(blocking=False)  # who came at the last instant does not end the next wait
        is_complete = len(queue) >= before + notified
        cost = min(IN_VAIN, (timer() - started) / longest) if is_complete else IN_VAIN
        self._cost += (cost - self._cost) * _WEIGHT

    def arrived(self, waiting: int) -> None:
        """So many writes are in the queue now."""
        if 0 < self._wanted <= waiting:
            try:  # noqa: SIM105 - for each write, and suppress() takes time
                self._until_complete.release()
            except RuntimeError:  # another has just come, too
                pass
