"""Group commit: whoever holds the pen writes for everybody who waits.

    thread A    ticket, pen ── BEGIN a ── COMMIT (disk) ── done, wakes B
    thread B        ticket, waits ························ pen ── BEGIN b c d ── COMMIT ── done, wakes C, D
    threads C, D      ticket, wait ··················································· theirs is done

Who lays the pen down wakes one that waits, so that there is a next leader; those whose writes are done
go on at once, and their next tickets gather while the disk is busy.

Nothing is acknowledged before its COMMIT has returned. A request that fails was refused before it
wrote anything, so it does not disturb the others of its batch; should one fail in any other way, the
batch is rolled back and every request of it runs again in a transaction of its own.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import apsw

from partita.errors import PartitaError, StoreClosed, StoreUnavailable
from partita.store.embedded._file import translated

if TYPE_CHECKING:  # only who writes asynchronously loads them
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

Handler: TypeAlias = Callable[[Any, Any], Any]
"""Answers a request with the writer, inside a transaction."""

MAX_BATCH: Final = 256


class Writer(Protocol):
    """Who writes: a connection, and what is known of the file besides."""

    connection: apsw.Connection

    def refresh(self) -> None:
        """A transaction begins: learn what other processes changed."""
        ...

    def forget(self) -> None:
        """The transaction was rolled back: drop what was learnt in it."""
        ...


class Ticket:
    """A request that waits for its commit; `future` where a task of an event loop awaits it."""

    __slots__ = ("_woken", "answer", "done", "error", "future", "request")

    def __init__(self, request: Any, future: asyncio.Future[Any] | None = None) -> None:
        self.request = request
        self.future = future
        self.done = False
        self.answer: Any = None
        self.error: Exception | None = None
        self._woken: SimpleQueue[None] = SimpleQueue()

    def wait(self) -> None:
        """Wait until this is done, or is to lead."""
        self._woken.get()

    def wake(self) -> None:
        """End the wait; more than once does no harm."""
        self._woken.put(None)

    def finish(self, answer: Any, error: Exception | None) -> None:
        """Set the outcome."""
        self.answer = answer
        self.error = error
        self.done = True

    def outcome(self) -> Any:
        """The answer, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.answer

    def hand_over(self) -> None:
        """Give the outcome to the awaiting task, on its loop, unless it was cancelled meanwhile."""
        if self.future is None or self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.answer)


class GroupCommit:
    """The queue of writes, and the one place where transactions begin and end."""

    def __init__(
        self,
        writer: Writer,
        handlers: Mapping[type, Handler],
        *,
        path: str,
        between_processes: AbstractContextManager[None],
        publish: Callable[[], None],
    ) -> None:
        self._pen = threading.RLock()
        self.commits = 0
        self._writer = writer
        self._handlers = handlers
        self._path = path
        self._between_processes = between_processes
        self._publish = publish
        self._queue: deque[Ticket] = deque()
        self._closed = False
        self._leading_soon: set[asyncio.AbstractEventLoop] = set()
        self._thread: ThreadPoolExecutor | None = None
        self._starting = threading.Lock()

    def run(self, request: Any) -> Any:
        """Write, and return when it is committed."""
        ticket = Ticket(request)
        self._queue.append(ticket)
        if not self._pen.acquire(blocking=False):
            self._wait(ticket)
            if ticket.done:
                return ticket.outcome()
            self._pen.acquire()
        try:
            self._gather()
            while not ticket.done:
                self._lead()
        finally:
            self._lay_pen_down()
        return ticket.outcome()

    def _gather(self) -> None:
        """Where several write, let those that were just told of their commit queue up again."""
        waiting = 1
        while waiting < len(self._queue) < MAX_BATCH:
            waiting = len(self._queue)
            time.sleep(0)

    def _wait(self, ticket: Ticket) -> None:
        try:
            ticket.wait()
        except BaseException:  # interrupted: another must lead in its place
            with suppress(ValueError):
                self._queue.remove(ticket)
            self._wake_a_leader()
            raise

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold the pen: nothing is written meanwhile."""
        self._pen.acquire()
        try:
            yield
        finally:
            self._lay_pen_down()

    def _lay_pen_down(self) -> None:
        # First release, then look: a ticket that came between has found the pen free.
        self._pen.release()
        self._wake_a_leader()

    def _wake_a_leader(self) -> None:
        if self._queue:
            waiting = (ticket for ticket in tuple(self._queue) if ticket.future is None)
            leader = next(waiting, None)  # a task's ticket is led by the thread of its loop
            if leader is not None:
                leader.wake()

    async def run_async(self, request: Any) -> Any:
        """The same for a task; all writes of one turn of the loop share a thread and a commit."""
        from asyncio import get_running_loop  # noqa: PLC0415 - loaded by whoever awaits this

        loop = get_running_loop()
        ticket = Ticket(request, loop.create_future())
        self._queue.append(ticket)
        if loop not in self._leading_soon:
            self._leading_soon.add(loop)
            loop.call_soon(self._lead_in_thread, loop)
        assert ticket.future is not None  # noqa: S101 - made above
        return await ticket.future

    def close(self) -> None:
        """Refuse what still waits; what is being committed is finished first."""
        with self.exclusively():
            self._closed = True
            while self._queue:
                self._lead()
        with self._starting:
            if self._thread is not None:
                self._thread.shutdown()

    def _lead_in_thread(self, loop: asyncio.AbstractEventLoop) -> None:
        self._leading_soon.discard(loop)
        with self._starting:
            if not self._closed:
                self._started_thread().submit(self._lead_all)
                return
        self._lead_all()  # closed: refuse what waits

    def _started_thread(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only asynchronous writers need it

        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="partita-commit")
        return self._thread

    def _lead_all(self) -> None:
        while self._queue:
            with self.exclusively():
                self._lead()

    def _lead(self) -> None:
        tickets: list[Ticket] = []
        try:
            while self._queue and len(tickets) < MAX_BATCH:
                ticket = self._queue.popleft()
                if ticket.future is None or not ticket.future.cancelled():
                    tickets.append(ticket)
            self._commit(tickets)
        finally:
            self._settle(tickets)

    def _settle(self, tickets: list[Ticket]) -> None:
        by_loop: defaultdict[asyncio.AbstractEventLoop, list[Ticket]] = defaultdict(list)
        for ticket in tickets:
            if not ticket.done:  # the leader was interrupted in the middle of a commit
                ticket.finish(None, StoreUnavailable(f"A write to {self._path} was interrupted."))
            if ticket.future is None:
                ticket.wake()
            else:
                by_loop[ticket.future.get_loop()].append(ticket)
        for loop, theirs in by_loop.items():
            with suppress(RuntimeError):  # the loop was closed, so nobody waits any more
                loop.call_soon_threadsafe(_hand_over, theirs)

    def _commit(self, tickets: list[Ticket]) -> None:
        if self._closed:
            for ticket in tickets:
                ticket.finish(None, StoreClosed(f"The store {self._path} was closed."))
            return
        if not tickets:
            return
        with self._between_processes:
            if not self._transact(tickets) and len(tickets) > 1:
                for ticket in tickets:
                    self._transact([ticket])

    def _transact(self, tickets: list[Ticket]) -> bool:
        """Run the tickets in one transaction; False if it was rolled back to be run one by one."""
        connection = self._writer.connection
        outcomes: list[tuple[Any, Exception | None]] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._writer.refresh()
            for ticket in tickets:
                outcomes.append(self._outcome(ticket))  # noqa: PERF401 - an error keeps what was done
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
        try:
            return self._handlers[type(ticket.request)](self._writer, ticket.request), None
        except PartitaError as refusal:
            return None, refusal

    def _failure(self, error: Exception) -> Exception:
        return translated(error, self._path) if isinstance(error, apsw.Error) else error

    def _roll_back(self) -> None:
        self._writer.forget()
        if self._writer.connection.in_transaction:
            self._writer.connection.execute("ROLLBACK")


def _hand_over(tickets: list[Ticket]) -> None:
    for ticket in tickets:
        ticket.hand_over()
