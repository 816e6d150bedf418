"""A wait for a file lock with a deadline: a dedicated thread calls `flock`, which has no timeout.

    caller    wait ──────────────────────────┬─ has the lock          wait ── deadline ── continues without it
    thread      flock ··· (another process) ─┘                          flock ··············· releases it at once

The thread starts with the first wait and is kept, because every write waits if processes write alternately.
"""

from __future__ import annotations

import os
import threading

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]


class LockWaiter:
    """Waits for the turnstile and then for the lock, both given as descriptors, for one caller at a time."""

    def __init__(self, turnstile: int, lock: int) -> None:
        self._turnstile = turnstile
        self._lock = lock
        self._mutex = threading.Lock()
        self._asked = threading.Semaphore(0)
        self._granted = threading.Lock()
        self._granted.acquire()
        self._thread: threading.Thread | None = None
        self._is_wanted = False
        self._is_stopped = False
        self._error: OSError | None = None
        self.is_waiting = False
        """Whether the thread waits for the lock, even if its caller has given up."""

    def wait(self, seconds: float) -> bool:
        """Acquire the lock; return False if that takes longer than `seconds`.

        Raises:
            OSError: the file cannot be locked.
        """
        with self._mutex:
            self._is_wanted = True
            if not self.is_waiting:
                self.is_waiting = True
                self._start()
                self._asked.release()
        got = False
        try:
            got = self._granted.acquire(timeout=seconds)
        finally:
            if not got:
                with self._mutex:
                    self._is_wanted = False
                    got = self._granted.acquire(blocking=False)  # granted after the timeout, before this check
        if self._error is not None:
            raise self._error
        return got

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="partita-lock", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            self._asked.acquire()
            if self._is_stopped:
                return
            error = self._flock()
            with self._mutex:
                self.is_waiting = False
                self._error = error
                if self._is_stopped:
                    os.close(self._turnstile)
                    os.close(self._lock)
                elif self._is_wanted:
                    self._is_wanted = False
                    self._granted.release()
                elif error is None:
                    self._unlock()

    def _unlock(self) -> None:
        if fcntl is not None:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _flock(self) -> OSError | None:
        if fcntl is None:  # pragma: no cover - Windows, where nobody waits
            return None
        try:
            fcntl.flock(self._turnstile, fcntl.LOCK_EX)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            fcntl.flock(self._turnstile, fcntl.LOCK_UN)
        except OSError as error:
            return error
        return None

    def stop(self) -> bool:
        """End the thread; return False if it still waits for the lock: it then closes the files itself afterwards."""
        with self._mutex:
            self._is_stopped = True
            self._asked.release()
            return not self.is_waiting
