"""Transactions: a batch of writes is committed together, and each of the writes has its own result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import apsw

from partita._sqlite._commit_time import CommitTime
from partita._sqlite._database_file import moved_flag, refuse_moved
from partita._sqlite._errors import DATABASE_ERRORS, translated
from partita._sqlite._loop_commit import LoopCommits
from partita._sqlite._pending_write import PendingWrite
from partita._sqlite._process_lock import NoLock, ProcessLock
from partita.errors import RequestError, StoreBusy, StoreError, StoreFull, StoreReadOnly

Handler: TypeAlias = Callable[[Any, Any], Any]
"""Runs a request with a `Writer`, inside a transaction, and returns the response."""


class Writer(Protocol):
    """The connection that handlers write with, and cached state of the file."""

    connection: apsw.Connection

    def refresh(self) -> None:
        """Update the cached state from changes by other processes. Called when a transaction begins."""
        ...

    def forget(self) -> None:
        """Drop the state that was cached during the transaction. Called when it is rolled back."""
        ...


class Transactions:
    """The only place where transactions begin and end; used only by the thread that holds the write lock.

    A handler refuses a request by raising a RequestError before its first change, so the other writes of the batch are
    not affected. If a handler fails in any other way, the batch is rolled back, and each of its writes runs again in
    a transaction of its own.
    """

    def __init__(
        self,
        writer: Writer,
        handlers: Mapping[type, Handler],
        *,
        path: str,
        process_lock: ProcessLock | NoLock,
        after_commit: Callable[[], None],
        loop_commits: LoopCommits,
        commit_time: CommitTime,
    ) -> None:
        self.commits = 0
        self.refused: StoreError | None = None
        """The last error of a disk that is full or cannot be written."""
        self._writer = writer
        self._handlers = handlers
        self._path = path
        self._process_lock = process_lock
        self._after_commit = after_commit
        self._loop_commits = loop_commits
        self._commit_time = commit_time
        self._is_reserved = False
        self._has_moved = moved_flag()

    def is_open(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return self._writer.connection.in_transaction

    def reserve(self) -> bool:
        """Acquire the process lock if the next transaction is short and no other process holds the lock or waits.

        The next `commit` uses and releases that lock; if there is no next `commit`, call `release`.
        """
        try:
            is_short = self._loop_commits.is_short(self._writer.connection)
            self._is_reserved = is_short and self._process_lock.acquire(blocking=False)
        except (apsw.Error, OSError):  # the writer thread will commit, and report the error
            return False
        return self._is_reserved

    def release(self) -> None:
        """Release the process lock."""
        self._is_reserved = False
        self._process_lock.release()

    def commit(self, batch: Sequence[PendingWrite], *, before_wait: Callable[[], object]) -> None:
        """Commit the writes, and finish each. If this is interrupted, the outcome of the unfinished writes is unknown.

        `before_wait` is called before each wait for another process or for the disk.
        """
        try:
            is_reserved, self._is_reserved = self._is_reserved, False
            if not is_reserved and not self._process_lock.acquire(blocking=False):
                before_wait()
                self._process_lock.acquire()
            if not self._commit_together(batch, before_wait):
                for write in batch:
                    self._commit_together([write], before_wait)
        except (apsw.Error, OSError, StoreBusy) as error:  # by the lock or a rollback: the other writes are not written
            failure = error if isinstance(error, StoreBusy) else self._failure(translated(error, self._path))
            for write in batch:
                if not write.finished:
                    write.finish(None, failure)
        finally:
            self._process_lock.release()

    def _commit_together(self, batch: Sequence[PendingWrite], before_wait: Callable[[], object]) -> bool:
        """Run the writes in one transaction; return False if it was rolled back and they must run one by one."""
        results: list[tuple[Any, Exception | None]] = []
        try:
            self._writer.connection.execute("BEGIN IMMEDIATE")
            self._writer.refresh()
            for write in batch:
                results.append(self._run(write.request))  # noqa: PERF401 - on an error, the results so far are needed
            refuse_moved(self._writer.connection, self._has_moved)
            # Notify only now: notified threads compete for the GIL, and each statement would wait to get it back.
            before_wait()
            started = self._commit_time.timer()
            self._writer.connection.execute("COMMIT")
            self._commit_time.add(self._commit_time.timer() - started)
        except Exception as error:  # noqa: BLE001 - the writes must be finished after any error
            self._roll_back()
            if len(results) < len(batch) and len(batch) > 1:  # a write has failed, not the COMMIT
                return False
            results = [(None, self._failure(error)) for _ in batch]
        except BaseException:
            self._roll_back()
            raise
        else:
            self.commits += 1
            self._after_commit()
        for write, (response, refusal) in zip(batch, results, strict=True):
            write.finish(response, refusal)
        self._process_lock.notify()
        return True

    def _run(self, request: Any) -> tuple[Any, RequestError | None]:
        before = self._writer.connection.total_changes()
        try:
            return self._handlers[type(request)](self._writer, request), None
        except RequestError as refusal:
            if self._writer.connection.total_changes() != before:  # a signal handler raised this during the write
                raise
            return None, refusal

    def _failure(self, error: Exception) -> Exception:
        failure = translated(error, self._path) if isinstance(error, DATABASE_ERRORS) else error
        if isinstance(failure, StoreFull | StoreReadOnly):
            self.refused = failure
        return failure

    def _roll_back(self) -> None:
        self._writer.forget()
        if self._writer.connection.in_transaction:
            self._writer.connection.execute("ROLLBACK")
