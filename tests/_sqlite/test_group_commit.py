"""Group commit: many writes in one transaction, each with its own result."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path as FilePath
from typing import Any

import pytest
from tests._sqlite.support import take_turnstile
from tests.store.embedded.support import count, enqueue, note, read

from partita._sqlite import PendingWrite
from partita._sqlite._write_queue import MAX_BATCH
from partita.errors import ConditionFailed, StoreClosed, StoreError, StoreUnavailable, ValidationFailed
from partita.expressions._ast import AddAction, Compare, Missing, Path, Size, Update, Value
from partita.store._requests import PutItem, Request, ScanTable, UpdateItem
from partita.store.embedded import EmbeddedStore
from partita.store.embedded._connection import Writer
from partita.store.embedded._handlers import WRITES

NEW = Missing(Path(("pk",)))


class Fail(Request[None], frozen=True):
    """A request that writes, and then fails with an unexpected error."""


class Interrupt(Request[None], frozen=True):
    """A request that is interrupted by Ctrl-C."""


def fail(writer: Writer, _: Fail) -> None:
    writer.connection.execute("DELETE FROM items_1")
    raise ZeroDivisionError


def interrupt(_: Writer, __: Interrupt) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def faulty(store: EmbeddedStore) -> EmbeddedStore:
    store._commit._transactions._handlers = {**WRITES, Fail: fail, Interrupt: interrupt}
    return store


def commits(store: EmbeddedStore) -> int:
    return store._commit.commits


def test_all_that_wait_are_committed_together(store: EmbeddedStore) -> None:
    before = commits(store)
    writes = enqueue(store, *(note(number) for number in range(50)))
    store.execute(note(50))
    assert (commits(store) - before, count(store)) == (1, 51)
    assert all(write.finished for write in writes)


def test_the_first_write_of_all_may_be_one_with_the_lock_held(store: EmbeddedStore, path: FilePath) -> None:
    with EmbeddedStore(path, durable=False) as other, other._commit.exclusively():
        other.execute(note(1))
    assert read(store, 1) is not None


def test_who_wrote_before_is_notified_by_a_write_with_the_lock_held(store: EmbeddedStore) -> None:
    with store._commit.exclusively():
        (before,) = enqueue(store, note(1))
        store.execute(note(2))
        before.wait()  # returns although the lock is held
        assert before.result().capacity.write == 1.0


def test_a_batch_is_bounded(store: EmbeddedStore) -> None:
    before = commits(store)
    enqueue(store, *(note(number) for number in range(MAX_BATCH)))
    store.execute(note(MAX_BATCH))
    assert (commits(store) - before, count(store)) == (2, MAX_BATCH + 1)


def test_a_refused_write_does_not_disturb_its_batch(store: EmbeddedStore) -> None:
    store.execute(note(1, text="first"))
    before = commits(store)
    conflicting = PutItem("notes", {"pk": "p", "sk": "000001"}, condition=NEW)
    refused, invalid, fine = enqueue(store, conflicting, PutItem("notes", {"pk": "p"}), note(2))
    store.execute(note(3))
    assert commits(store) - before == 1
    with pytest.raises(ConditionFailed):
        refused.result()
    with pytest.raises(ValidationFailed):
        invalid.result()
    assert fine.result().capacity.write == 1.0
    assert count(store) == 3


def test_a_write_sees_those_before_it_in_the_batch(store: EmbeddedStore) -> None:
    increment = UpdateItem(
        "notes", {"pk": "p", "sk": "n"}, Update(adds=(AddAction(Path(("n",)), Value(1)),)), returns="ALL_NEW"
    )
    enqueue(store, *[increment] * 9)
    assert store.execute(increment).attributes == {"pk": "p", "sk": "n", "n": 10}


def test_an_unforeseen_failure_reaches_only_its_own_caller(faulty: EmbeddedStore) -> None:
    faulty.execute(note(0))
    before, failing, after = enqueue(faulty, note(1), Fail(), note(2))
    faulty.execute(note(3))
    with pytest.raises(ZeroDivisionError):
        failing.result()
    assert all(write.finished and write.error is None for write in (before, after))
    assert count(faulty) == 4


def test_when_the_commit_fails_no_caller_learns_that_it_succeeded(store: EmbeddedStore) -> None:
    writes = enqueue(store, note(1), note(2))
    store._writer.connection.set_commit_hook(lambda: True)
    with pytest.raises(StoreError):
        store.execute(note(3))
    store._writer.connection.set_commit_hook(None)
    for write in writes:
        with pytest.raises(StoreError):
            write.result()
    assert count(store) == 0
    store.execute(note(4))
    assert count(store) == 1


def test_an_interrupted_commit_leaves_nobody_waiting(faulty: EmbeddedStore) -> None:
    waiting = enqueue(faulty, note(1))
    with pytest.raises(KeyboardInterrupt):
        faulty._commit.run(Interrupt())
    with pytest.raises(StoreUnavailable):
        waiting[0].result()
    assert count(faulty) == 0
    faulty.execute(note(2))
    assert count(faulty) == 1


def is_notified(write: PendingWrite) -> bool:
    return write._until_notified.acquire(blocking=False)


def test_the_callers_of_a_batch_are_notified_when_the_next_is_ready_for_its_commit(store: EmbeddedStore) -> None:
    commit = store._commit
    with commit.exclusively():
        (first,) = enqueue(store, note(1))
        commit._queue.write_batch()
        assert first.finished
        assert not is_notified(first)
        (second,) = enqueue(store, note(2))
        commit._queue.write_batch()
        assert is_notified(first)
        assert not is_notified(second)
    assert is_notified(second)  # no write is left to wait for


def test_nobody_waits_for_another_process_to_be_notified(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = store._commit
    with commit.exclusively():
        (first,) = enqueue(store, note(1))
        commit._queue.write_batch()
        monkeypatch.setattr(commit._transactions, "_process_lock", BusyLock(lambda: is_notified(first)))
        enqueue(store, note(2))
        commit._queue.write_batch()
    assert count(store) == 2


class BusyLock:
    """A lock that another process holds, and releases as soon as this one waits for it."""

    def __init__(self, when_waiting: Callable[[], bool]) -> None:
        self._when_waiting = when_waiting

    def acquire(self, *, blocking: bool = True) -> bool:
        if blocking:
            assert self._when_waiting()
        return blocking

    def notify(self) -> None:
        """Do nothing: no process waits for a notice."""

    def release(self) -> None:
        pass


@pytest.mark.parametrize("others", [0, 2], ids=["alone", "by the writer thread"])
def test_a_failing_lock_between_processes_is_an_error_and_not_a_hang(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    class FailingLock:
        def acquire(self, **_: bool) -> bool:
            raise OSError("no locks available")

        def release(self) -> None:
            pass

    waiting = enqueue(store, *(note(number) for number in range(others)))
    with monkeypatch.context() as patched:
        patched.setattr(store._commit._transactions, "_process_lock", FailingLock())
        if others:
            store._commit._wake_thread()
            for write in waiting:
                write.wait()
        else:
            with pytest.raises(StoreError, match="no locks available"):
                store.execute(note(9))
    for write in waiting:
        with pytest.raises(StoreError, match="no locks available"):
            write.result()
    asyncio.run(store.execute_async(note(1)))
    assert count(store) == 1


def test_who_waits_for_the_lock_comes_before_who_just_had_it(store: EmbeddedStore) -> None:
    commit, order = store._commit, list[str]()

    def visit_as(name: str) -> None:
        with commit.exclusively():
            order.append(name)

    waiting = threading.Thread(target=visit_as, args=("who waits",))
    with commit.exclusively():
        is_awaited = signal_when_awaited(commit._lock)
        waiting.start()
        is_awaited.wait()
    visit_as("who had it")
    waiting.join()
    assert order == ["who waits", "who had it"]


def signal_when_awaited(lock: Any) -> threading.Event:
    """Return an event that is set when a thread has passed the turnstile, and is about to wait for the lock itself."""
    is_awaited, acquire = threading.Event(), lock._acquire

    def acquire_and_say_so() -> None:
        is_awaited.set()
        acquire()

    lock._acquire = acquire_and_say_so
    return is_awaited


def test_who_holds_the_lock_may_ask_for_it_again(store: EmbeddedStore) -> None:
    with store._commit.exclusively():
        turnstile = take_turnstile(store._commit._lock)
        with store._commit.exclusively():
            store.execute(note(1))
        store._commit._lock._turnstile = turnstile
    assert count(store) == 1


def test_an_interrupted_wait_takes_the_write_back(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: PendingWrite) -> None:
        raise KeyboardInterrupt

    holding, holds, written = threading.Event(), threading.Event(), threading.Event()

    def hold() -> None:
        with store._commit.exclusively():
            holds.set()
            holding.wait()
        written.set()

    threading.Thread(target=hold).start()
    holds.wait()
    with monkeypatch.context() as patched:
        patched.setattr(PendingWrite, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.execute(note(1))
    holding.set()
    written.wait()
    store.execute(note(2))
    assert (read(store, 1), count(store)) == (None, 1)


def test_the_writer_thread_ends_when_it_is_not_needed(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita._sqlite._writer_thread.IDLE_SECONDS", 0.0)
    enqueue(store, note(0))
    store._commit._wake_thread()
    thread = store._commit._thread._thread
    if thread is not None:
        thread.join()
    assert store._commit._thread._thread is None
    enqueue(store, note(1))
    store._commit._wake_thread()  # starts a new thread
    store.execute(note(1))
    assert count(store) == 2


def test_a_closed_store_leaves_no_thread(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita._sqlite._writer_thread.IDLE_SECONDS", 600.0)
    enqueue(store, note(1))
    store._commit._wake_thread()
    thread = store._commit._thread._thread
    assert thread is not None
    store.close()
    assert not thread.is_alive()


def test_threads_lose_no_update(store: EmbeddedStore) -> None:
    increment = UpdateItem("notes", {"pk": "p", "sk": "000001"}, Update(adds=(AddAction(Path(("n",)), Value(1)),)))
    with ThreadPoolExecutor(8) as threads:
        for _ in threads.map(lambda _: store.execute(increment), range(400)):
            pass
    assert read(store, 1) == {"pk": "p", "sk": "000001", "n": 400}


def test_a_thread_reads_what_another_has_written(store: EmbeddedStore) -> None:
    read(store, 1)
    writing = threading.Thread(target=store.execute, args=(note(1, text="new"),))
    writing.start()
    writing.join()
    assert read(store, 1) == {"pk": "p", "sk": "000001", "text": "new"}


def test_tasks_of_one_iteration_of_the_loop_share_a_commit(store: EmbeddedStore) -> None:
    async def write_all() -> None:
        await asyncio.gather(*(store.execute_async(note(number)) for number in range(100)))

    before = commits(store)
    asyncio.run(write_all())
    assert (commits(store) - before, count(store)) == (1, 100)


def test_tasks_of_iterations_that_each_bring_a_write_share_a_commit(store: EmbeddedStore) -> None:
    async def write(number: int) -> None:
        for _ in range(number):
            await asyncio.sleep(0)
        await store.execute_async(note(number))

    async def write_all() -> None:
        await asyncio.gather(*map(write, range(50)))

    before = commits(store)
    asyncio.run(write_all())
    assert (commits(store) - before, count(store)) == (1, 50)


def test_a_task_gets_its_refusal_and_its_response(store: EmbeddedStore) -> None:
    async def write_twice() -> tuple[object, object]:
        insert = PutItem("notes", {"pk": "p", "sk": "1"}, condition=NEW)
        return await asyncio.gather(store.execute_async(insert), store.execute_async(insert), return_exceptions=True)

    first, second = asyncio.run(write_twice())
    assert (type(first).__name__, type(second).__name__) == ("WriteResponse", "ConditionFailed")


def test_a_cancelled_write_that_has_not_begun_does_not_happen(store: EmbeddedStore) -> None:
    async def cancel() -> None:
        with store._commit.exclusively():  # keeps others from committing
            writing = asyncio.ensure_future(store.execute_async(note(1)))
            await asyncio.sleep(0)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
        await store.execute_async(note(2))

    asyncio.run(cancel())
    assert (read(store, 1), read(store, 2)) == (None, {"pk": "p", "sk": "000002"})


def test_a_write_cancelled_after_its_commit_disturbs_nobody(store: EmbeddedStore) -> None:
    async def cancel() -> None:
        writing = asyncio.ensure_future(store.execute_async(note(1)))
        await asyncio.sleep(0)
        store._commit.run(note(2))  # commits both; the task has not been notified yet
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await store.execute_async(note(3))

    asyncio.run(cancel())
    assert count(store) == 3


def test_closing_refuses_what_still_waits(store: EmbeddedStore) -> None:
    (waiting,) = enqueue(store, note(1))
    store.close()
    with pytest.raises(StoreClosed):
        waiting.result()


def test_a_task_that_writes_to_a_closed_store_learns_it(store: EmbeddedStore) -> None:
    store.close()
    with pytest.raises(StoreClosed):
        asyncio.run(store.execute_async(note(1)))


def test_a_failing_read_keeps_no_old_snapshot(store: EmbeddedStore) -> None:
    for number in range(3):
        store.execute(note(number))
    with pytest.raises(ValidationFailed):
        store.execute(ScanTable("notes", filter=Compare("<", Path(("sk",)), Value({"not": "ordered"}))))
    store.execute(ScanTable("notes", filter=Compare(">", Size(Path(("sk",))), Value(1)), limit=1))
    store.execute(note(4))
    busy, *_ = store._writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
    assert busy == 0
