"""Group commit: many writes, one transaction; each with its own outcome."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.store.embedded.support import count, note, read

from partita.errors import ConditionFailed, StoreClosed, StoreError, StoreUnavailable, ValidationFailed
from partita.expressions._ast import AddAction, Compare, Missing, Path, Size, Update, Value
from partita.store._requests import PutItem, Request, ScanTable, UpdateItem
from partita.store.embedded import EmbeddedStore
from partita.store.embedded._commit import MAX_BATCH, Ticket
from partita.store.embedded._connection import Writer
from partita.store.embedded._store import WRITES

NEW = Missing(Path(("pk",)))


class Fail(Request[None], frozen=True):
    """A request that writes, and then fails in a way that nobody foresaw."""


class Interrupt(Request[None], frozen=True):
    """A request in whose middle the user presses Ctrl-C."""


def fail(writer: Writer, _: Fail) -> None:
    writer.connection.execute("DELETE FROM items_1")
    raise ZeroDivisionError


def interrupt(_: Writer, __: Interrupt) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def faulty(store: EmbeddedStore) -> EmbeddedStore:
    store._commit._handlers = {**WRITES, Fail: fail, Interrupt: interrupt}
    return store


def queue(store: EmbeddedStore, *requests: Request[object]) -> list[Ticket]:
    tickets = [Ticket(request) for request in requests]
    store._commit._queue.extend(tickets)
    return tickets


def commits(store: EmbeddedStore) -> int:
    return store._commit.commits


def test_all_that_wait_are_committed_together(store: EmbeddedStore) -> None:
    before = commits(store)
    tickets = queue(store, *(note(number) for number in range(50)))
    store.execute(note(50))
    assert (commits(store) - before, count(store)) == (1, 51)
    assert all(ticket.done for ticket in tickets)


def test_a_batch_is_bounded(store: EmbeddedStore) -> None:
    before = commits(store)
    queue(store, *(note(number) for number in range(MAX_BATCH)))
    store.execute(note(MAX_BATCH))
    assert (commits(store) - before, count(store)) == (2, MAX_BATCH + 1)


def test_a_refused_write_does_not_disturb_its_batch(store: EmbeddedStore) -> None:
    store.execute(note(1, text="first"))
    before = commits(store)
    conflicting = PutItem("notes", {"pk": "p", "sk": "000001"}, condition=NEW)
    refused, invalid, fine = queue(store, conflicting, PutItem("notes", {"pk": "p"}), note(2))
    store.execute(note(3))
    assert commits(store) - before == 1
    with pytest.raises(ConditionFailed):
        refused.outcome()
    with pytest.raises(ValidationFailed):
        invalid.outcome()
    assert fine.outcome().capacity.write == 1.0
    assert count(store) == 3


def test_a_write_sees_those_before_it_in_the_batch(store: EmbeddedStore) -> None:
    increment = UpdateItem(
        "notes", {"pk": "p", "sk": "n"}, Update(adds=(AddAction(Path(("n",)), Value(1)),)), returns="ALL_NEW"
    )
    queue(store, *[increment] * 9)
    assert store.execute(increment).attributes == {"pk": "p", "sk": "n", "n": 10}


def test_an_unforeseen_failure_reaches_only_its_own_caller(faulty: EmbeddedStore) -> None:
    faulty.execute(note(0))
    before, failing, after = queue(faulty, note(1), Fail(), note(2))
    faulty.execute(note(3))
    with pytest.raises(ZeroDivisionError):
        failing.outcome()
    assert all(ticket.done and ticket.error is None for ticket in (before, after))
    assert count(faulty) == 4


def test_when_the_commit_fails_nobody_is_told_that_it_succeeded(store: EmbeddedStore) -> None:
    tickets = queue(store, note(1), note(2))
    store._writer.connection.set_commit_hook(lambda: True)
    with pytest.raises(StoreError):
        store.execute(note(3))
    store._writer.connection.set_commit_hook(None)
    for ticket in tickets:
        with pytest.raises(StoreError):
            ticket.outcome()
    assert count(store) == 0
    store.execute(note(4))
    assert count(store) == 1


def test_an_interrupted_leader_leaves_nobody_waiting(faulty: EmbeddedStore) -> None:
    waiting = queue(faulty, note(1))
    with pytest.raises(KeyboardInterrupt):
        faulty._commit.run(Interrupt())
    with pytest.raises(StoreUnavailable):
        waiting[0].outcome()
    assert count(faulty) == 0
    faulty.execute(note(2))
    assert count(faulty) == 1


def told(ticket: Ticket) -> bool:
    return ticket._untold.acquire(blocking=False)


def test_who_wrote_a_batch_is_told_when_the_next_is_ready_for_its_commit(store: EmbeddedStore) -> None:
    commit = store._commit
    with commit.exclusively():
        (first,) = queue(store, note(1))
        commit._write_batch()
        assert first.done
        assert not told(first)
        (second,) = queue(store, note(2))
        commit._write_batch()
        assert told(first)
        assert not told(second)
    assert told(second)  # none waits


def test_nobody_waits_for_another_process_to_be_told(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = store._commit
    with commit.exclusively():
        (first,) = queue(store, note(1))
        commit._write_batch()
        monkeypatch.setattr(commit, "_between_processes", Busy(lambda: told(first)))
        queue(store, note(2))
        commit._write_batch()
    assert count(store) == 2


class Busy:
    """A lock that another process has, and gives back as soon as somebody waits for it."""

    def __init__(self, when_waiting: Callable[[], bool]) -> None:
        self._when_waiting = when_waiting

    def acquire(self, *, blocking: bool = True) -> bool:
        if blocking:
            assert self._when_waiting()
        return blocking

    def release(self) -> None:
        pass


def test_who_waits_for_the_pen_comes_before_who_just_had_it(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, order = store._commit, list[str]()
    pen = WatchedPen(commit._pen)
    monkeypatch.setattr(commit, "_pen", pen)

    def take_as(name: str) -> None:
        with commit.exclusively():
            order.append(name)

    waiting = threading.Thread(target=take_as, args=("who waits",))
    with commit.exclusively():
        pen.is_wanted.clear()
        waiting.start()
        pen.is_wanted.wait()
    take_as("who had it")
    waiting.join()
    assert order == ["who waits", "who had it"]


class WatchedPen:
    """A pen that says when somebody is about to wait for it."""

    def __init__(self, pen: Any) -> None:
        self.release = pen.release
        self.is_wanted = threading.Event()
        self._pen = pen

    def acquire(self) -> None:
        self.is_wanted.set()
        self._pen.acquire()


def test_who_has_the_pen_may_ask_for_it_again(store: EmbeddedStore) -> None:
    commit: Any = store._commit
    with commit.exclusively():
        turn, commit._turn = commit._turn, TakenTurn()  # as while somebody waits for the pen
        with commit.exclusively():
            store.execute(note(1))
        commit._turn = turn
    assert count(store) == 1


class TakenTurn:
    """A turn that another has until the pen is laid down: who waits for it with the pen waits forever."""

    def __enter__(self) -> None:
        raise AssertionError("waits for itself")

    def __exit__(self, *_: object) -> None:
        pass


def test_an_interrupted_wait_takes_the_write_back(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Ticket) -> None:
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
        patched.setattr(Ticket, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.execute(note(1))
    holding.set()
    written.wait()
    store.execute(note(2))
    assert (read(store, 1), count(store)) == (None, 1)


def test_the_scribe_goes_when_nobody_calls(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.store.embedded._commit._PATIENCE", 0.0)
    store._commit._call_scribe()
    scribe = store._commit._scribe
    if scribe is not None:
        scribe.join()
    assert store._commit._scribe is None
    asyncio.run(store.execute_async(note(1)))  # calls another one
    assert count(store) == 1


def test_a_closed_store_leaves_no_thread(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.store.embedded._commit._PATIENCE", 600.0)
    asyncio.run(store.execute_async(note(1)))
    scribe = store._commit._scribe
    assert scribe is not None
    store.close()
    assert not scribe.is_alive()


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


def test_tasks_of_one_turn_share_a_commit(store: EmbeddedStore) -> None:
    async def write_all() -> None:
        await asyncio.gather(*(store.execute_async(note(number)) for number in range(100)))

    before = commits(store)
    asyncio.run(write_all())
    assert (commits(store) - before, count(store)) == (1, 100)


def test_a_task_gets_its_refusal_and_its_answer(store: EmbeddedStore) -> None:
    async def write_twice() -> tuple[object, object]:
        insert = PutItem("notes", {"pk": "p", "sk": "1"}, condition=NEW)
        return await asyncio.gather(store.execute_async(insert), store.execute_async(insert), return_exceptions=True)

    first, second = asyncio.run(write_twice())
    assert (type(first).__name__, type(second).__name__) == ("WriteResponse", "ConditionFailed")


def test_a_cancelled_write_that_has_not_begun_does_not_happen(store: EmbeddedStore) -> None:
    async def cancel() -> None:
        with store._commit.exclusively():  # nobody can lead
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
        store._commit.run(note(2))  # leads the batch of both; the task has not been told yet
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await store.execute_async(note(3))

    asyncio.run(cancel())
    assert count(store) == 3


def test_closing_refuses_what_still_waits(store: EmbeddedStore) -> None:
    (waiting,) = queue(store, note(1))
    store.close()
    with pytest.raises(StoreClosed):
        waiting.outcome()


def test_a_task_that_writes_to_a_closed_store_is_told(store: EmbeddedStore) -> None:
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
