"""Group commit: a lone writer commits for itself; where several write, the scribe commits for all who wait.

    thread A       BEGIN a ── COMMIT (disk) ── a is done, calls the scribe for b and c
    threads B, C     wait ·················································· told ── prepare d, e ── wait
    the scribe                                 BEGIN b c ── COMMIT (disk) ── BEGIN … ── tells B, C ── COMMIT (disk)

The scribe tells the writers of one batch that it is committed when the next one is ready for its COMMIT, or at once
where none waits. So they prepare their next writes while the disk is busy, and not while the scribe fills a batch:
each of its statements would hand the interpreter to one of them, and wait to get it back.

Nothing is acknowledged before its COMMIT has returned. A request that fails was refused before it
wrote anything, so it does not disturb the others of its batch; should one fail in any other way, the
batch is rolled back and every request of it runs again in a transaction of its own.

Ctrl-C may come anywhere in the main thread, but CPython looks for it only after a call and where a loop goes back.
So the pen is laid down by a call into C that nothing comes before, a ticket comes to its next place before it leaves
the last, and to tell somebody twice does no harm.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import apsw

from partita.errors import RequestError, StoreBusy, StoreError, StoreUnavailable
from partita.store.embedded._file import TROUBLE, closed, opened_before_fork, translated

if TYPE_CHECKING:  # only who writes asynchronously loads it
    import asyncio

Handler: TypeAlias = Callable[[Any, Any], Any]
"""Answers a request with the writer, inside a transaction."""

MAX_BATCH: Final = 256
_PATIENCE: Final = 1.0
"""Seconds without a call after which the scribe goes."""


class Writer(Protocol):
    """Who writes: a connection, and what is known of the file besides."""

    connection: apsw.Connection

    def refresh(self) -> None:
        """A transaction begins: learn what other processes changed."""
        ...

    def forget(self) -> None:
        """The transaction was rolled back: drop what was learnt in it."""
        ...


class Lock(Protocol):
    """Keeps other processes from writing."""

    def acquire(self, *, blocking: bool = True) -> bool:
        """Take it; False if another has it and this is not to wait."""
        ...

    def release(self) -> None:
        """Give it back; does nothing where it was not taken."""
        ...


class Ticket:
    """A request that waits for its commit; `future` where a task of an event loop awaits it."""

    __slots__ = ("_untold", "answer", "done", "error", "future", "request")

    def __init__(self, request: Any, future: asyncio.Future[Any] | None = None) -> None:
        self.request = request
        self.future = future
        self.done = False
        self.answer: Any = None
        self.error: Exception | None = None
        self._untold = threading.Lock()
        self._untold.acquire()

    def wait(self) -> None:
        """Wait until this is done."""
        self._untold.acquire()

    def tell(self) -> None:
        """End the wait; twice does no harm."""
        try:  # noqa: SIM105 - for each write, and suppress() takes time
            self._untold.release()
        except RuntimeError:
            pass

    def finish(self, answer: Any, error: Exception | None) -> None:
        """Set the outcome."""
        self.answer = answer
        self.error = error
        self.done = True

    def outcome(self) -> Any:
        """The answer, or raise the error."""
        if not self.done:
            raise _interrupted()
        if self.error is not None:
            raise self.error
        return self.answer

    def hand_over(self) -> None:
        """Give the outcome to the awaiting task, on its loop, unless it was cancelled meanwhile."""
        if self.future is None or self.future.done():
            return
        error = self.error if self.done else _interrupted()
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(self.answer)


def _interrupted() -> StoreUnavailable:
    """Why a ticket was told that is not done."""
    return StoreUnavailable("A write was interrupted.")


class GroupCommit:
    """The queue of writes, and the one place where transactions begin and end."""

    def __init__(
        self,
        writer: Writer,
        handlers: Mapping[type, Handler],
        *,
        path: str,
        between_processes: Lock,
        publish: Callable[[], None],
    ) -> None:
        self.commits = 0
        self._writer = writer
        self._handlers = handlers
        self._path = path
        self._between_processes = between_processes
        self._publish = publish
        self._clear_desk()
        self._refusal: Callable[[str], StoreError] | None = None

    def _clear_desk(self) -> None:
        """Nobody writes, and nobody waits."""
        self._queue: deque[Ticket] = deque()
        self._pen = threading.RLock()
        # The lock itself knows: a signal handler may run before this thread could note down that it has the pen.
        self._has_pen: Callable[[], bool] = getattr(self._pen, "_is_owned")  # noqa: B009 - as Condition asks it
        self._is_writing = False
        self._turn = threading.Lock()
        self._next: int | None = None
        self._untold: list[Ticket] = []
        self._calling_soon: set[asyncio.AbstractEventLoop] = set()
        self._scribe: threading.Thread | None = None
        self._hiring = threading.RLock()
        self._calls: SimpleQueue[None] = SimpleQueue()

    def run(self, request: Any) -> Any:
        """Write, and return when it is committed.

        Raises:
            StoreBusy: this thread is in the middle of another call.
        """
        if self._has_pen():
            return self._run_with_pen(request)
        ticket = Ticket(request)
        try:
            self._queue.append(ticket)
            if self._pen.acquire(blocking=False):
                self._write_batch()
                self._tell()
                self._pen.release()
                # First release, then look: a ticket that came before has found the pen taken.
                if self._queue:
                    self._call_scribe()
            if not ticket.done:
                self.refuse_reentry()  # the scribe could not take the pen while this thread has the turn
                ticket.wait()
        except BaseException:
            self._give_up(ticket)
            raise
        return ticket.outcome()

    def _run_with_pen(self, request: Any) -> Any:
        """Write as a guest, or as a handler that came before or after a write and not into it."""
        if self._is_writing or self._writer.connection.in_transaction:
            raise self._busy()
        ticket = Ticket(request)
        self._queue.append(ticket)
        while not ticket.done:
            self._write_batch()
        self._tell()
        return ticket.outcome()

    def _give_up(self, ticket: Ticket) -> None:
        """Interrupted: what was not begun is not written, and nobody is left waiting."""
        ticket.done = True
        with suppress(RuntimeError):  # this thread has not got it
            self._pen.release()
        if self._queue or self._untold:
            self._call_scribe()

    def refuse_reentry(self) -> None:
        """Refuse what a signal handler, a finalizer or a callback asks for in the middle of a write.

        Raises:
            StoreBusy: this thread is writing, or is next to have the pen.
        """
        if (self._is_writing and self._has_pen()) or self._next == get_ident():
            raise self._busy()

    def _busy(self) -> StoreBusy:
        return StoreBusy(
            f"This thread is in the middle of another call to the store {self._path}.",
            hint="In a signal handler, a finalizer or a callback, set a flag; write when that call has returned.",
        )

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold the pen: nothing is written meanwhile.

        Raises:
            StoreBusy: this thread is in the middle of a write.
        """
        self.refuse_reentry()
        if self._has_pen():
            yield
            return
        try:
            self._take_pen()
            self._tell()  # who is done need not wait for this
            yield
            self._tell()
        finally:
            try:  # noqa: SIM105 - a call of suppress() could be interrupted before the release
                self._pen.release()
            except RuntimeError:  # interrupted before it was taken
                pass
            if self._queue or self._untold:
                self._call_scribe()

    def _take_pen(self) -> None:
        """Take the pen in turn: who lays it down and wants it again comes after the one who waits for it."""
        me = get_ident()
        with self._turn:
            try:
                self._next = me  # with no call before it: a signal handler is to find it as soon as the turn is taken
                self._pen.acquire()
            finally:
                self._next = None

    async def run_async(self, request: Any) -> Any:
        """The same for a task; all writes of one turn of the loop share a thread and a commit."""
        from asyncio import get_running_loop  # noqa: PLC0415 - loaded by whoever awaits this

        loop = get_running_loop()
        ticket = Ticket(request, loop.create_future())
        self._queue.append(ticket)
        if loop not in self._calling_soon:
            self._calling_soon.add(loop)
            loop.call_soon(self._call_for, loop)
        assert ticket.future is not None  # noqa: S101 - made above
        return await ticket.future

    def _call_for(self, loop: asyncio.AbstractEventLoop) -> None:
        self._calling_soon.discard(loop)
        self._call_scribe()

    def close(self) -> None:
        """Refuse what still waits; what is being committed is finished first."""
        self._refusal = closed
        self._refuse_all()
        with self._hiring:
            scribe = self._scribe
        if scribe is not None:
            self._calls.put(None)
            scribe.join()

    def leave_to_parent(self) -> None:
        """This process was forked: forget who wrote and waited in its parent, and refuse everything."""
        self._clear_desk()
        self._refusal = opened_before_fork

    def _call_scribe(self) -> None:
        if self._refusal is not None:
            self._refuse_all()
            return
        try:
            self._hire()
        except BaseException:  # interrupted, yet others wait for the scribe
            self._hire()
            raise

    def _hire(self) -> None:
        with self._hiring:
            self._calls.put(None)
            if self._scribe is None:
                scribe = threading.Thread(target=self._serve, name="partita-scribe", daemon=True)
                scribe.start()
                self._scribe = scribe  # only now: one that never started is called in vain

    def _serve(self) -> None:
        """The work of the scribe; it goes when nobody has called for a while."""
        while self._is_called():
            while self._queue or self._untold:
                self._write_in_turn()

    def _write_in_turn(self) -> None:
        self._take_pen()
        try:
            self._write_batch()
        finally:
            if not self._queue:
                self._tell()
            self._pen.release()

    def _refuse_all(self) -> None:
        with self.exclusively():
            while self._queue:
                self._write_batch()
            self._tell()

    def _is_called(self) -> bool:
        try:
            self._calls.get(timeout=_PATIENCE)
        except Empty:
            with self._hiring:
                if self._calls.empty():
                    self._scribe = None
                    return False
        return self._refusal is None

    def _write_batch(self) -> None:
        """Commit what waits. Who wrote it is told later, who wrote the batch before is told on the way."""
        tickets: list[Ticket] = []
        try:
            self._is_writing = True
            while self._queue and len(tickets) < MAX_BATCH:
                ticket = self._queue[0]
                if not ticket.done and (ticket.future is None or not ticket.future.cancelled()):
                    tickets.append(ticket)
                self._queue.popleft()  # only who has the pen takes any away
            self._commit(tickets)
        finally:
            self._untold += tickets
            self._is_writing = False

    def _tell(self) -> None:
        """Tell those whose writes are done, or were interrupted."""
        if not self._untold:
            return
        by_loop: defaultdict[asyncio.AbstractEventLoop, list[Ticket]] = defaultdict(list)
        for ticket in self._untold:
            if ticket.future is None:
                ticket.tell()
            else:
                by_loop[ticket.future.get_loop()].append(ticket)
        for loop, theirs in by_loop.items():
            with suppress(RuntimeError):  # the loop was closed, so nobody waits any more
                loop.call_soon_threadsafe(_hand_over, theirs)
        self._untold.clear()  # only now: if this is interrupted, the scribe tells them again

    def _commit(self, tickets: list[Ticket]) -> None:
        if self._refusal is not None:
            for ticket in tickets:
                ticket.finish(None, self._refusal(self._path))
            return
        if not tickets:
            return
        try:
            if not self._between_processes.acquire(blocking=False):
                self._tell()  # who is done need not wait for other processes
                self._between_processes.acquire()
            if not self._transact(tickets) and len(tickets) > 1:
                for ticket in tickets:
                    self._transact([ticket])
        finally:
            self._between_processes.release()

    def _transact(self, tickets: list[Ticket]) -> bool:
        """Run the tickets in one transaction; False if it was rolled back to be run one by one."""
        connection = self._writer.connection
        outcomes: list[tuple[Any, Exception | None]] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._writer.refresh()
            for ticket in tickets:
                outcomes.append(self._outcome(ticket))  # noqa: PERF401 - an error keeps what was done
            self._tell()
            connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - whatever it is, the tickets must be answered
            self._roll_back()
            if len(outcomes) < len(tickets) > 1:
                return False
            outcomes = [(None, self._failure(error)) for _ in tickets]
        except BaseException:
            self._roll_back()
            raise
        else:
            self.commits += 1
            self._publish()
        for ticket, (answer, refusal) in zip(tickets, outcomes, strict=True):
            ticket.finish(answer, refusal)
        return True

    def _outcome(self, ticket: Ticket) -> tuple[Any, Exception | None]:
        before = self._writer.connection.total_changes()
        try:
            return self._handlers[type(ticket.request)](self._writer, ticket.request), None
        except RequestError as refusal:
            if self._writer.connection.total_changes() != before:  # a signal handler's, in the middle of the write
                raise
            return None, refusal

    def _failure(self, error: Exception) -> Exception:
        return translated(error, self._path) if isinstance(error, TROUBLE) else error

    def _roll_back(self) -> None:
        self._writer.forget()
        if self._writer.connection.in_transaction:
            self._writer.connection.execute("ROLLBACK")


def _hand_over(tickets: list[Ticket]) -> None:
    for ticket in tickets:
        ticket.hand_over()
