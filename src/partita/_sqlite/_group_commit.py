"""Group commit: a single caller commits its own write; if several write, one thread commits for all that wait.

    thread A        BEGIN a ── COMMIT (disk) ── a is done, wakes the writer thread for b and c
    threads B, C      wait ··············································· notified ── prepare d, e ── wait
    writer thread                             BEGIN b c ── COMMIT (disk) ── BEGIN … ── notifies B, C ── COMMIT (disk)

The writer thread notifies the callers of a batch just before the COMMIT of the next batch, or at once if no other write
is queued. So the callers prepare their next writes while the disk is busy, and not while the writer thread executes the
statements of a batch: apsw releases the GIL in each statement, one of the callers would acquire it, and the writer
thread would wait to get it back. If the disk is slow, the writer thread notifies the callers at once and waits for
their next writes (`Gathering`).

No write is acknowledged before its COMMIT has returned.

Ctrl-C may be pressed at any time, but CPython raises KeyboardInterrupt only in the main thread, and there only after a
call, at the start of a function, and at the backward jump of a loop. So the write lock is released by a single call
into C: no interrupt can be raised between the start of that line and the release.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from partita._sqlite._commit_time import CommitTime
from partita._sqlite._errors import closed, opened_before_fork
from partita._sqlite._gathering import Gathering
from partita._sqlite._loop_commit import LoopCommits
from partita._sqlite._pending_write import PendingWrite
from partita._sqlite._process_lock import NoLock, ProcessLock
from partita._sqlite._transaction import Handler, Transactions, Writer
from partita._sqlite._write_lock import WriteLock
from partita._sqlite._write_queue import MAX_BATCH, WriteQueue
from partita._sqlite._writer_thread import WriterThread
from partita.errors import StoreBusy, StoreError

if TYPE_CHECKING:  # loaded only by asynchronous callers
    import asyncio


class GroupCommit:
    """Chooses the thread that commits a write.

    | a caller finds the write lock | who commits its write |
    | --- | --- |
    | free | the caller, together with all queued writes |
    | held by another thread | the writer thread; the caller waits |
    | held by itself, outside of a write | the caller, at once: it is inside `exclusively`, or in a signal handler |
    | held by itself, in a write | nobody: StoreBusy |

    For a task, the event loop is the caller if the write is short (`LoopCommits`); else the writer thread commits it.

    `after_commit` is called after each commit. `by_loop` contains the request types that an event loop may commit.
    """

    def __init__(
        self,
        writer: Writer,
        handlers: Mapping[type, Handler],
        *,
        path: str,
        process_lock: ProcessLock | NoLock,
        after_commit: Callable[[], None],
        by_loop: Collection[type] = (),
    ) -> None:
        self._path = path
        self._commit_time = CommitTime()
        self._loop_commits = LoopCommits(by_loop, self._commit_time)
        self._transactions = Transactions(
            writer,
            handlers,
            path=path,
            process_lock=process_lock,
            after_commit=after_commit,
            loop_commits=self._loop_commits,
            commit_time=self._commit_time,
        )
        self._refusal: Callable[[str], StoreError] | None = None
        self._reset()

    def _reset(self) -> None:
        """Set the state in which no thread writes or waits."""
        self._queue = WriteQueue(self._commit)
        self._lock = WriteLock()
        self._thread = WriterThread(self._write_queued)
        self._gathering = Gathering(self._commit_time)
        self._waking_loops: set[asyncio.AbstractEventLoop] = set()

    @property
    def commits(self) -> int:
        """The number of committed transactions."""
        return self._transactions.commits

    @property
    def refused(self) -> StoreError | None:
        """The last error of a disk that is full or cannot be written, until it is set to None."""
        return self._transactions.refused

    @refused.setter
    def refused(self, error: StoreError | None) -> None:
        self._transactions.refused = error

    def run(self, request: Any) -> Any:
        """Write, and return the response once the write is committed.

        Raises:
            StoreBusy: this thread is in the middle of another call.
        """
        if self._lock.is_mine():
            return self._run_with_lock(request)
        write = PendingWrite(request)
        try:
            self._queue.append(write)
            if self._lock.try_acquire():
                self._queue.write_batch()
                self._queue.notify()
                self._lock.release()
                self._wake_thread()
            if not write.finished:
                self._gathering.arrived(len(self._queue))
                self._wait_for(write)
        except BaseException:
            self._give_up(write)
            raise
        self._lock.unclaim()
        return write.result()

    def _run_with_lock(self, request: Any) -> Any:
        if self._queue.is_writing or self._transactions.is_open():
            raise self._busy()
        write = PendingWrite(request)
        self._queue.append(write)
        while not write.finished:
            self._queue.write_batch()
        self._queue.notify()
        return write.result()

    def _wait_for(self, write: PendingWrite) -> None:
        # If this signal handler or finalizer interrupted `acquire` in its own thread, that thread may be first in line
        # for the lock. The writer thread then cannot acquire it before this handler returns, so waiting for the writer
        # thread would be a deadlock.
        if self._lock.is_awaited_by_me():
            raise self._busy()
        write.wait()

    def _give_up(self, write: PendingWrite) -> None:
        """Clean up after an interrupt: cancel the write unless it has begun, and leave no other caller waiting."""
        write.cancel()
        with suppress(RuntimeError):  # this thread does not hold the lock
            self._lock.release()
        self._wake_thread()

    def run_async(self, request: Any) -> asyncio.Future[Any]:
        """Do the same for a task; writes are gathered for one commit while each loop iteration queues more of them."""
        loop: asyncio.AbstractEventLoop = sys.modules["asyncio"].get_running_loop()  # the caller has imported asyncio
        future = loop.create_future()
        self._queue.append(PendingWrite(request, future))
        if loop not in self._waking_loops:
            self._waking_loops.add(loop)
            loop.call_soon(self._write_from, loop, 0)
        return future

    def _write_from(self, loop: asyncio.AbstractEventLoop, seen: int) -> None:
        """Write, here or in the writer thread, once an iteration has queued no more writes: a burst shares a commit."""
        waiting = len(self._queue)
        if seen < waiting < MAX_BATCH:
            loop.call_soon(self._write_from, loop, waiting)
            return
        self._waking_loops.discard(loop)
        try:
            self._write_here(loop)
        except BaseException:  # interrupted: leave no caller waiting
            if self._lock.is_mine():
                self._transactions.release()
                self._lock.release()
            self._wake_thread()
            raise
        self._gathering.arrived(len(self._queue))
        self._wake_thread()

    def _write_here(self, loop: asyncio.AbstractEventLoop) -> None:
        """Commit short writes unless another thread or process writes: an event loop waits for neither of them."""
        if not self._queue.is_short() or self._lock.is_mine() or self._lock.is_awaited_by_me():
            return
        if self._lock.try_acquire():
            if self._transactions.reserve():
                self._queue.write_batch(self._loop_commits.requests)
                self._queue.notify(loop)
                self._transactions.release()
            self._lock.release()
        self._lock.unclaim()

    def holding_lock(self) -> Iterator[None]:
        """Hold the write lock from the first step of this generator to its last: no other thread writes meanwhile.

        Raises:
            StoreBusy: this thread is in the middle of a write.
        """
        self.refuse_reentry()
        if self._lock.is_mine():
            yield
            return
        try:
            self._lock.acquire()
            self._queue.notify()  # callers whose writes are committed need not wait for the code at `yield`
            yield
            self._queue.notify()
        finally:
            try:
                try:  # noqa: SIM105 - Ctrl-C could interrupt a call of suppress()
                    self._lock.release()
                except RuntimeError:  # interrupted before the lock was acquired
                    pass
                self._wake_thread()
            except BaseException:  # interrupted, but other callers still wait
                self._wake_thread()
                raise
        self._lock.unclaim()

    exclusively = contextmanager(holding_lock)
    """The same as a context manager, which is slower: reads of a store in memory iterate `holding_lock` themselves."""

    def refuse_reentry(self) -> None:
        """Refuse the request of a signal handler, finalizer or callback that runs in the middle of a write.

        Raises:
            StoreBusy: this thread is writing, or waits for the write lock.
        """
        if (self._queue.is_writing and self._lock.is_mine()) or self._lock.is_awaited_by_me():
            raise self._busy()

    def _busy(self) -> StoreBusy:
        return StoreBusy(
            f"This thread is in the middle of another call to the store {self._path}.",
            hint="In a signal handler, a finalizer or a callback, set a flag, and write after that call has returned.",
        )

    def close(self) -> None:
        """Refuse all queued writes, after the batch that is being committed has finished."""
        self._refusal = closed
        self._refuse_queued()
        self._thread.stop()

    def leave_to_parent(self) -> None:
        """Forget, in a forked child, the writers and waiting callers of its parent, and refuse all requests."""
        self._reset()
        self._refusal = opened_before_fork

    def _wake_thread(self) -> None:
        """Leave the remaining work to the writer thread, or refuse it after `close`. First release the write lock.

        A caller that found the lock held relies on its holder to commit its write. It queued the write before it tried
        the lock, so before the release: the check here cannot miss it.
        """
        if not self._queue.has_work():
            return
        if self._refusal is None:
            self._thread.wake()
        else:
            self._refuse_queued()

    def _write_queued(self) -> None:
        """Do the work of the writer thread after each wake-up."""
        while self._queue.has_work():
            self._lock.acquire()
            try:
                self._queue.write_batch()
                if self._gathering.is_worthwhile():
                    self._gathering.wait(self._queue, self._queue.notify())
            finally:
                if self._queue.is_empty():
                    self._queue.notify()
                self._lock.release()
            self._lock.unclaim()

    def _refuse_queued(self) -> None:
        with self.exclusively():
            while not self._queue.is_empty():
                self._queue.write_batch()
            self._queue.notify()

    def _commit(self, batch: list[PendingWrite]) -> None:
        if self._refusal is None:
            self._transactions.commit(batch, before_wait=self._queue.notify)
            return
        for write in batch:
            write.finish(None, self._refusal(self._path))
