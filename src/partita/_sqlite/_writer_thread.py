"""The thread that commits the writes of other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

IDLE_SECONDS: Final = 1.0
"""How long the thread waits to be woken before it ends."""


class WriterThread:
    """Calls `work` in a thread each time it is woken. The thread is started when it is needed.

        no thread ── wake ──> works ── done ──> idle ── wake ──> works
            ^                                    │
            └──────── IDLE_SECONDS pass ─────────┘

    A signal handler may call `wake` in the middle of another `wake`: both the lock and the SimpleQueue are reentrant.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._thread: threading.Thread | None = None
        self._starting = threading.RLock()
        self._wakes: SimpleQueue[None] = SimpleQueue()
        self._is_stopped = False

    def wake(self) -> None:
        """Have the thread call `work` once more, from its start."""
        try:
            self._wake()
        except BaseException:  # interrupted, but other callers rely on the work
            self._wake()
            raise

    def _wake(self) -> None:
        with self._starting:
            self._wakes.put(None)
            if self._thread is None or not self._thread.is_alive():
                thread = threading.Thread(target=self._run, name="partita-writer", daemon=True)
                thread.start()
                self._thread = thread  # only now: if its start is interrupted, the next wake starts another

    def stop(self) -> None:
        """Let the thread finish its current work, and wait for its end."""
        self._is_stopped = True
        with self._starting:
            thread = self._thread
        if thread is not None:
            self._wakes.put(None)
            thread.join()

    def _run(self) -> None:
        while self._is_woken():
            self._work()

    def _is_woken(self) -> bool:
        try:
            self._wakes.get(timeout=IDLE_SECONDS)
        except Empty:
            with self._starting:
                if self._wakes.empty():
                    self._thread = None
                    return False
        return not self._is_stopped
