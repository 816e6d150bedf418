"""Decides whether the writer thread waits until notified callers write again, so that they all share the next commit.

A caller that was notified of its commit often writes again at once. Without a wait, the threads of a program split into
two groups: one prepares its next writes while the other waits for the disk, so each commit serves only half of them. If
the disk takes longer than the callers need to return, one commit for all of them is better:

    fast disk    commit a b ── commit c d ── commit a b ── commit c d        a b prepare while c d are committed
    slow disk    commit a b c d ───── a b c d return ───── commit a b c d    one wait for the disk instead of two

How long the callers need depends on their number, on their work, and on the load of the processor. So the duration of
each wait is divided by that of a commit, which is what a wait can save, and the quotients are averaged (moving
average). If waits take longer than commits, or some callers do not return, as in a server with remote clients, commits
continue without a wait, and only now and then a wait is tried: the more tries have failed, the later the next one. So
the end of a burst, when nobody returns, does not keep the next burst from sharing its commits. A wait lasts at most as
long as a commit takes, plus the time until the writer thread has the GIL again.
"""

from __future__ import annotations

import threading
from collections.abc import Sized
from typing import Final

from partita._sqlite._commit_time import CommitTime

MIN_COMMIT_SECONDS: Final = 0.0005
"""If commits take less than this, there is no wait: the wait itself costs two thread switches."""
MIN_SKIPPED: Final = 1
MAX_SKIPPED: Final = 63
"""While waits do not pay, this many commits run without one before the next wait is tried, at first and at most."""
IN_VAIN: Final = 2.0
"""The cost, in commits, of a wait after which some callers are still missing; also the highest cost of any wait."""
_WEIGHT: Final = 0.2
"""The weight of the last wait in the moving average."""
_MIN_WRITERS: Final = 2
"""Fewer writers than this cannot share a commit."""


class Gathering:
    """Waits for writers. Only the holder of the write lock waits; every thread that queues a write calls `arrived`."""

    def __init__(self, commit_time: CommitTime) -> None:
        self._commit_time = commit_time
        self._wanted = 0
        self._until_complete = threading.Lock()
        self._until_complete.acquire()
        self._cost = 0.0
        """The average duration of a wait, in commits."""
        self._skipped = 0
        self._to_skip = MIN_SKIPPED

    def is_worthwhile(self) -> bool:
        """Whether to wait before the next commit. Call this once per commit, because it counts the skipped waits."""
        if self._commit_time.least < MIN_COMMIT_SECONDS:
            return False
        if self._cost < 1:
            return True
        self._skipped = (self._skipped + 1) % (self._to_skip + 1)
        return self._skipped == 0

    def wait(self, queue: Sized, notified: int) -> None:
        """Wait until as many writes as were `notified` have been queued, but no longer than a commit takes."""
        before = len(queue)
        if before + notified < _MIN_WRITERS:
            return
        timer, longest = self._commit_time.timer, max(MIN_COMMIT_SECONDS, self._commit_time.seconds)
        started = timer()
        self._wanted = before + notified  # set before the check: a write that the check misses then calls `release`
        if len(queue) < self._wanted:
            self._until_complete.acquire(timeout=longest)
        self._wanted = 0
        self._until_complete.acquire(blocking=False)  # undo a late `release`, so that it does not end the next wait
        is_complete = len(queue) >= before + notified
        cost = min(IN_VAIN, (timer() - started) / longest) if is_complete else IN_VAIN
        if cost < 1:
            self._to_skip = MIN_SKIPPED
        elif self._cost >= 1:  # this was a try
            self._to_skip = min(MAX_SKIPPED, 2 * self._to_skip + 1)
        self._cost += (cost - self._cost) * _WEIGHT

    def arrived(self, waiting: int) -> None:
        """End the wait if the number of writes `waiting` in the queue is sufficient."""
        if 0 < self._wanted <= waiting:
            try:  # noqa: SIM105 - this runs for each write, and suppress() is slower
                self._until_complete.release()
            except RuntimeError:  # another thread has just released it
                pass
