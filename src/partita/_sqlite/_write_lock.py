"""The lock of the thread that writes: fair, and safe to ask for in a signal handler."""

from __future__ import annotations

import threading
from threading import get_ident


class WriteLock:
    """A lock with a turnstile in front of it: a thread that waits comes before the one that had the lock last.

        try_acquire ───────────────────────────────────────────────────────> holds the lock ── release
        acquire ── waits at the turnstile ── waits for the lock alone ──────────┘

    `release` raises RuntimeError where this thread does not hold the lock. It is a call into C, so Ctrl-C cannot come
    between the line before it and its effect. Therefore a `finally` can call it, also after an `acquire` that was
    interrupted and may or may not have got the lock.
    """

    def __init__(self) -> None:
        lock = threading.RLock()
        self._acquire = lock.acquire
        self.release = lock.release
        self._condition = threading.Condition(lock)
        self._turnstile = threading.RLock()
        self._waiting: set[int] = set()
        self._claims: list[int] = []

    def is_mine(self) -> bool:
        """Whether this thread holds the lock.

        Only the lock itself knows at any instant. A note of the owner would come too late for a signal handler that
        runs as soon as the lock was acquired, and the handler would wait for its own thread. But who has not even asked
        for the lock does not hold it: a claim is noted before the lock is acquired, and dropped after its release.
        """
        if get_ident() not in self._claims:
            return False
        try:
            self._condition.notify(0)
        except RuntimeError:  # as documented, where this thread does not hold the lock of the condition
            return False
        return True

    def is_awaited_by_me(self) -> bool:
        """Whether this thread is in the middle of `acquire`, and now in a signal handler or a finalizer."""
        return get_ident() in self._waiting

    def try_acquire(self) -> bool:
        """Acquire the lock if it is free, even where others wait for it. The thread that holds it must not ask."""
        self._claims.append(get_ident())
        return self._acquire(blocking=False)

    def unclaim(self) -> None:
        """Drop the claim of one `try_acquire` or `acquire`, after the release or where the lock was not acquired.

        Who is interrupted leaves it out: then `is_mine` takes longer for this thread, and is as right as before.
        """
        self._claims.remove(get_ident())

    def acquire(self) -> None:
        """Wait for the lock. The thread that holds it, or waits for it already, must not ask."""
        me = get_ident()
        self._claims.append(me)
        try:
            self._waiting.add(me)
            self._turnstile.acquire()
            self._acquire()
        finally:
            try:
                self._turnstile.release()
            except RuntimeError:  # interrupted before it was acquired
                pass
            finally:
                self._waiting.discard(me)
