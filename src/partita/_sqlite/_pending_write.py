"""A write that waits for its commit, and how its caller is notified."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from partita.errors import StoreUnavailable

if TYPE_CHECKING:  # loaded only by asynchronous callers
    import asyncio


class PendingWrite:
    """A request to write; it has a `future` if a task of an event loop awaits it.

        waiting ── finish ──> finished ── notify ──> acknowledged: `result` returns the response, or raises the error
           ├────── notify ──> interrupted: `result` raises StoreUnavailable, since the outcome is unknown
           └────── cancel ──> its caller gave up: not written, unless its transaction has begun

    Notifying twice is harmless.
    """

    __slots__ = ("_cancelled", "_until_notified", "error", "finished", "future", "request", "response")

    def __init__(self, request: Any, future: asyncio.Future[Any] | None = None) -> None:
        self.request = request
        self.future = future
        self.finished = False
        self.response: Any = None
        self.error: Exception | None = None
        self._cancelled = False
        if future is None:  # a thread waits, not a task
            self._until_notified = threading.Lock()
            self._until_notified.acquire()

    def cancel(self) -> None:
        """Record that the caller has given up."""
        self._cancelled = True

    def is_cancelled(self) -> bool:
        """Whether the caller has given up."""
        return self._cancelled or (self.future is not None and self.future.cancelled())

    def finish(self, response: Any, error: Exception | None) -> None:
        """Set the response, or the error that replaces it."""
        self.response = response
        self.error = error
        self.finished = True

    def wait(self) -> None:
        """Wait for `notify`."""
        self._until_notified.acquire()

    def notify(self) -> None:
        """End the wait."""
        try:  # noqa: SIM105 - this runs for each write, and suppress() is slower
            self._until_notified.release()
        except RuntimeError:  # it was already notified
            pass

    def result(self) -> Any:
        """Return the response or raise the error; only after `notify`."""
        if self.finished and self.error is None:
            return self.response
        raise self._failure()

    def resolve(self) -> None:
        """Pass the result to the awaiting task unless it was cancelled meanwhile. Call this on the loop of the task."""
        if self.future is None or self.future.done():
            return
        if self.finished and self.error is None:
            self.future.set_result(self.response)
        else:
            self.future.set_exception(self._failure())

    def _failure(self) -> Exception:
        return StoreUnavailable("A write was interrupted.") if self.error is None else self.error


def notify_all(writes: Iterable[PendingWrite], here: asyncio.AbstractEventLoop | None = None) -> None:
    """Notify threads, and tasks of the loop `here`, at once; other tasks, with one `call_soon_threadsafe` per loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[PendingWrite]] = {}
    for write in writes:
        if write.future is None:
            write.notify()
        elif here is not None and write.future.get_loop() is here:
            write.resolve()
        else:
            by_loop.setdefault(write.future.get_loop(), []).append(write)
    for loop, awaited in by_loop.items():
        with suppress(RuntimeError):  # the loop was closed, so no task waits any more
            loop.call_soon_threadsafe(_resolve_all, awaited)


def _resolve_all(writes: list[PendingWrite]) -> None:
    for write in writes:
        write.resolve()
