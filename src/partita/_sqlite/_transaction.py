"""Transactions: a batch of writes is committed together, and each of them gets a result of its own."""

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
from partita.errors import RequestError, StoreBusy

Handler: TypeAlias = Callable[[Any, Any], Any]
"""Runs a request with a `Writer`, inside a transaction, and gives the response."""


class Writer(Protocol):
    """What handlers write with: a connection, and what is known of the file besides."""

    connection: apsw.Connection

    def refresh(self) -> None:
        """A transaction begins: learn what other processes changed."""
        ...

    def forget(self) -> None:
        """The transaction was rolled back: drop what was learnt in it."""
        ...


class Transactions:
    """The one place where transactions begin and end; only for the thread that holds the write lock.

    A handler refuses a request, with a RequestError, before its first change, so the others of the batch go on. Where
    a handler fails in any other way, the batch is rolled back, and each of its writes runs again by itself.
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
        """Lock other processes out, if the next transaction is short and none of them writes.

        The next `commit` goes on with that lock and ends it; `release` ends it where there is none.
        """
        try:
            is_short = self._loop_commits.is_short(self._writer.connection)
            self._is_reserved = is_short and self._process_lock.acquire(blocking=False)
        except (apsw.Error, OSError):  # whoever commits says what is wrong
            return False
        return self._is_reserved

    def release(self) -> None:
        """Let other processes write."""
        self._is_reserved = False
        self._process_lock.release()

    def commit(self, batch: Sequence[PendingWrite], *, before_wait: Callable[[], object]) -> None:
        """Commit the writes, and finish each. If this is interrupted, nobody knows what became of the unfinished ones.

        `before_wait` is called before this waits: for another process, and for the disk.
        """
        try:
            is_reserved, self._is_reserved = self._is_reserved, False
            if not is_reserved and not self._process_lock.acquire(blocking=False):
                before_wait()
                self._process_lock.acquire()
            if not self._commit_together(batch, before_wait):
                for write in batch:
                    self._commit_together([write], before_wait)
        except (apsw.Error, OSError, StoreBusy) as error:  # of the lock, or of a rollback: the rest is not written
            failure = error if isinstance(error, StoreBusy) else translated(error, self._path)
            for write in batch:
                if not write.finished:
                    write.finish(None, failure)
        finally:
            self._process_lock.release()

    def _commit_together(self, batch: Sequence[PendingWrite], before_wait: Callable[[], object]) -> bool:
        """Run the writes in one transaction; False if it was rolled back and they are to run one by one."""
        results: list[tuple[Any, Exception | None]] = []
        try:
            self._writer.connection.execute("BEGIN IMMEDIATE")
            self._writer.refresh()
            for write in batch:
                results.append(self._run(write.request))  # noqa: PERF401 - an error keeps what was done
            refuse_moved(self._writer.connection, self._has_moved)
            before_wait()  # last: whoever is notified wants the interpreter, and this thread would wait to get it back
            started = self._commit_time.timer()
            self._writer.connection.execute("COMMIT")
            self._commit_time.add(self._commit_time.timer() - started)
        except Exception as error:  # noqa: BLE001 - whatever it is, the writes must be finished
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
            if self._writer.connection.total_changes() != before:  # a signal handler's, in the middle of the write
                raise
            return None, refusal

    def _failure(self, error: Exception) -> Exception:
        return translated(error, self._path) if isinstance(error, DATABASE_ERRORS) else error

    def _roll_back(self) -> None:
        self._writer.forget()
        if self._writer.connection.in_transaction:
            self._writer.connection.execute("ROLLBACK")
