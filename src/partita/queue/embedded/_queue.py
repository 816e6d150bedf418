"""The embedded queue: SQS's FIFO semantics over one SQLite file."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import apsw

from partita import _sqlite
from partita._sqlite import CommitNotice, GroupCommit, Handler, ProcessLock
from partita.errors import StoreClosed, StoreDamaged, StoreError
from partita.queue import _interface as requests
from partita.queue._checks import check_request, checked_policy
from partita.queue._interface import Message, QueuePolicy, QueueRequest, Receive
from partita.queue.embedded import _reads, _writes
from partita.queue.embedded._file import DAMAGED, MICROSECONDS, QueueConnection, open_file
from partita.runtime import Clock, system_clock

R = TypeVar("R")

READS: Final[Mapping[type, Handler]] = {
    requests.Create: _reads.create,
    requests.GetStats: _reads.get_stats,
    requests.ReadDead: _reads.read_dead,
    _reads.IsReady: _reads.is_ready,
    _reads.GetNextVisible: _reads.get_next_visible,
    _reads.Verify: _reads.verify,
}

WRITES: Final[Mapping[type, Handler]] = {
    requests.Send: _writes.send,
    requests.Receive: _writes.receive,
    requests.Acknowledge: _writes.acknowledge,
    requests.Postpone: _writes.postpone,
    requests.Redrive: _writes.redrive,
    requests.Discard: _writes.discard,
}

POLL_SECONDS: Final = 0.02
"""How often a task checks for messages; other processes send, too, and a check takes microseconds."""
LOOK_SECONDS: Final = 1.0
"""How often a thread checks without being notified of a commit: the clock may have been set."""
ERASE_EVERY: Final = 60 * MICROSECONDS
"""How long a receiver that finds nothing leaves deleted data in the log."""


def _advising(error: StoreError) -> StoreError:
    """Replace the default hint of `StoreDamaged` by one for queues."""
    if isinstance(error, StoreDamaged) and error.hint == StoreDamaged.hint:
        error.hint = DAMAGED
    return error


class EmbeddedQueue:
    """A queue in one SQLite file, shared by any number of processes.

    `durable=False` is for tests: it is faster, but a power loss may lose or damage the file. `sleep` replaces waiting
    in real time.

    Raises:
        StoreError: the file cannot be opened; it is left unchanged.
    """

    def __init__(
        self,
        path: str | Path,
        name: str,
        *,
        policy: QueuePolicy | None = None,
        clock: Clock = system_clock,
        durable: bool = True,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self.name = name
        self.path = _sqlite.path_text(path)
        self._sleep = sleep
        self._closed = False
        self._is_forked = False
        self._commits_erased = 0
        self._erase_at = 0
        self._reading = threading.RLock()
        self._local = threading.local()
        self._reads: Mapping[type, Handler] = READS
        max_receives = checked_policy(policy).max_receives
        if not Path(path).parent.is_dir():
            raise StoreError(f"The folder of {path} does not exist.", hint="Create it first.")
        with _sqlite.translating(self.path):
            _sqlite.refuse_if_in_use_at_fork(self.path)
            self._lock = ProcessLock(Path(path))
            try:
                with self._lock:
                    _sqlite.make_private(self.path)
                    self._writer = QueueConnection(open_file(Path(path), durable=durable), clock, max_receives)
                self._reader = QueueConnection(_sqlite.connect(self.path, durable=durable), clock, max_receives)
            except BaseException as error:
                self._lock.close()
                if isinstance(error, apsw.Error):
                    raise _advising(_sqlite.translated(error, self.path)) from error
                raise
        self._commit = GroupCommit(
            self._writer, WRITES, path=self.path, process_lock=self._lock, after_commit=lambda: None
        )
        _sqlite.leave_to_parent_at_fork(self)

    def __repr__(self) -> str:
        return f"EmbeddedQueue({self.path!r})"

    def verify(self) -> None:
        """Check the file, and the consistency of groups and their messages.

        Raises:
            StoreDamaged: the file is damaged; the message says where.
        """
        try:
            self._read(_reads.Verify())
        except StoreDamaged as error:
            raise _advising(error) from error.__cause__

    def execute(self, request: QueueRequest[R]) -> R:
        """Execute the request; its changes are durable when this returns.

        Raises:
            RequestError: the request was refused and changed nothing. StoreError: the queue failed.
        """
        check_request(request)
        try:
            if isinstance(request, Receive):
                return self._receive(request)  # type: ignore[return-value]
            if type(request) in READS:
                return self._read(request)  # type: ignore[no-any-return]
            return self._commit.run(request)  # type: ignore[no-any-return]
        except StoreDamaged as error:
            raise _advising(error) from error.__cause__

    async def execute_async(self, request: QueueRequest[R]) -> R:
        """Execute the request from a task: reads run directly, changes are committed by another thread."""
        check_request(request)
        try:
            if isinstance(request, Receive):
                return await self._receive_async(request)  # type: ignore[return-value]
            if type(request) in READS:
                return self._read(request)  # type: ignore[no-any-return]
            return await self._commit.run_async(request)  # type: ignore[no-any-return]
        except StoreDamaged as error:
            raise _advising(error) from error.__cause__

    def _receive(self, request: Receive) -> tuple[Message, ...]:
        polls = self._polls(request) if self._sleep is not None or not request.wait else self._waits(request)
        for pause in polls:
            if pause and self._sleep is not None:
                self._sleep(pause)
            elif not pause and (messages := self._commit.run(request)):
                return messages  # type: ignore[no-any-return]
        self._when_idle()
        return ()

    def _waits(self, request: Receive) -> Iterator[float]:
        """Wait for commits or hidden messages until the wait is over; yield 0 when a message can be received."""
        notice = self._notice()
        until = time.monotonic() + request.wait
        while True:
            if self._read(_reads.IsReady()):
                yield 0.0
            if (left := until - time.monotonic()) <= 0:
                return
            notice.wait(min(left, self._read(_reads.GetNextVisible()), LOOK_SECONDS))

    def _notice(self) -> CommitNotice:
        """The commit notice of this thread; threads that shared one would miss notifications."""
        try:
            notice: CommitNotice = self._local.notice
        except AttributeError:
            notice = self._local.notice = CommitNotice(self.path)
        return notice

    async def _receive_async(self, request: Receive) -> tuple[Message, ...]:
        for pause in self._polls(request):
            if pause:
                await asyncio.sleep(pause) if self._sleep is None else self._sleep(pause)
            elif messages := await self._commit.run_async(request):
                return messages  # type: ignore[no-any-return]
        self._when_idle()
        return ()

    def _polls(self, request: Receive) -> Iterator[float]:
        """Yield pauses until the wait is over, and 0 when there may be a message to receive."""
        for poll in range(ceil(request.wait / POLL_SECONDS) + 1):
            if poll:
                yield POLL_SECONDS
            if self._read(_reads.IsReady()):
                yield 0.0

    def _when_idle(self) -> None:
        """Truncate the log once in a while, because it still contains deleted messages."""
        if self._commit.commits == self._commits_erased or self._writer.now() < self._erase_at:
            return
        with self._commit.exclusively(), _sqlite.translating(self.path):
            if not self._closed:  # the files are not closed while this thread may write
                self._commits_erased = self._commit.commits
                self._erase_at = self._writer.now() + ERASE_EVERY
                self._erase_log()

    def _erase_log(self, *, blocking: bool = True) -> None:
        if self._lock.acquire(blocking=blocking):
            try:
                _sqlite.erase_log(self._writer.connection)
            finally:
                self._lock.release()

    def _read(self, request: QueueRequest[Any]) -> Any:
        with self._reading, _sqlite.translating(self.path):
            if self._closed:
                raise self._refusal()
            return self._reads[type(request)](self._reader, request)

    def _refusal(self) -> StoreError:
        if self._is_forked:
            return _sqlite.opened_before_fork(self.path)
        return StoreClosed(f"The queue {self.path} was closed.")

    def close(self) -> None:
        """Finish the current commit, refuse further requests, and release the file. Closing twice does nothing.

        Raises:
            StoreBusy: this thread is executing a change; the queue stays open.
        """
        self._commit.refuse_reentry()
        with self._reading:
            if self._closed:
                return
            self._closed = True
            self._local = threading.local()
            self._reader.connection.close()
        self._commit.close()
        if self._commit.commits:
            with suppress(apsw.Error):  # acknowledged messages then stay in the log
                self._erase_log(blocking=False)
        self._writer.connection.close()
        self._lock.close()

    def leave_to_parent(self) -> None:
        """After a fork, in the child: refuse all use, and leave alone what the parent continues to use."""
        self._is_forked = self._closed = True
        self._reading = threading.RLock()  # a thread that does not exist in this process may hold the old lock
        self._commit.leave_to_parent()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
