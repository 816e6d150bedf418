"""The lock that a thread holds while it writes: fair, and safe to use in a signal handler."""

from __future__ import annotations

import threading
from threading import get_ident


class WriteLock:
    """A lock with a turnstile in front of it: a waiting thread is served before the thread that last held the lock.

        try_acquire ───────────────────────────────────────────────────────> holds the lock ── release
        acquire ── waits at the turnstile ── waits for the lock alone ──────────┘

    `release` raises RuntimeError if this thread does not hold the lock. It is a call into C, so no KeyboardInterrupt
    can be raised between the start of its line and its effect. Therefore a `finally` block can call it even after an
    interrupted `acquire` that may or may not have acquired the lock.
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

        Only the RLock itself knows its owner at every instant. If the owner were recorded in Python after `acquire`, a
        signal handler that runs between the two would not see it, and would wait for its own thread. But a thread that
        never requested the lock cannot hold it. So each thread records a claim before it acquires the lock and drops it
        after the release, and the RLock is consulted only if there is a claim.
        """
        if get_ident() not in self._claims:
            return False
        try:
            self._condition.notify(0)
        except RuntimeError:  # documented for a thread that does not hold the lock of the condition
            return False
        return True

    def is_awaited_by_me(self) -> bool:
        """Whether this is a signal handler or a finalizer that interrupted `acquire` in this thread."""
        return get_ident() in self._waiting

    def try_acquire(self) -> bool:
        """Acquire the lock if it is free, even if other threads wait. The thread that holds it must not call this."""
        self._claims.append(get_ident())
        return self._acquire(blocking=False)

    def unclaim(self) -> None:
        """Drop the claim of one `try_acquire` or `acquire`, after the release or if the lock was not acquired.

        An interrupted caller may skip this: `is_mine` is then slower for this thread, but still correct.
        """
        self._claims.remove(get_ident())

    def acquire(self) -> None:
        """Wait for the lock. A thread that holds it or already waits for it must not call this."""
        me = get_ident()
        self._claims.append(me)
        try:
            self._waiting.add(me)
            self._turnstile.acquire()
            self._acquire()
        finally:
            try:
                self._turnstile.release()
            except RuntimeError:  # interrupted before the turnstile was acquired
                pass
            finally:
                self._waiting.discard(me)
