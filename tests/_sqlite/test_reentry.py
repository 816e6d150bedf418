"""A thread uses the store in the middle of its own write: from a signal handler, a finalizer or a callback."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests._sqlite.support import take_turnstile
from tests.store.embedded.support import TABLE, enqueue, note, read

from partita.errors import ConditionFailed, StoreBusy
from partita.store._requests import CreateTable, TransactWriteItems
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore

THREE = TransactWriteItems((note(1), note(2), note(3)))


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[EmbeddedStore]:
    where = path if request.param == "file" else ":memory:"
    with EmbeddedStore(where, durable=False) as store:
        store.execute(CreateTable(TableSchema("notes", TABLE.hash, TABLE.range, stream="NEW_IMAGE")))
        yield store


class Hook:
    """Calls a function in the middle of a write: after its second item is written, and before the commit."""

    def __init__(self, store: EmbeddedStore, call: Callable[[], object]) -> None:
        self._changes = 0
        self._connection = store._writer.connection
        self._call = call
        self._connection.set_update_hook(self._on_change)

    def _on_change(self, _: int, __: str, table: str, ___: int) -> None:
        self._changes += table.startswith("items_")
        if self._changes == 2:
            self._connection.set_update_hook(None)
            self._call()


def numbers(store: EmbeddedStore) -> list[int]:
    return [number for number in range(10) if read(store, number) is not None]


def expect_busy(call: Callable[[], object]) -> Callable[[], None]:
    def refused() -> None:
        with pytest.raises(StoreBusy, match="in the middle of another call") as caught:
            call()
        assert "set a flag" in caught.value.hint

    return refused


def test_a_write_in_the_middle_of_another_is_refused_and_leaves_it_whole(store: EmbeddedStore) -> None:
    Hook(store, expect_busy(lambda: store.execute(note(9))))
    store.execute(THREE)
    assert numbers(store) == [1, 2, 3]
    store.verify()


def test_where_the_refusal_is_not_caught_nothing_is_written(store: EmbeddedStore) -> None:
    Hook(store, lambda: store.execute(note(9)))
    with pytest.raises(StoreBusy):
        store.execute(THREE)
    assert numbers(store) == []
    store.execute(THREE)
    assert numbers(store) == [1, 2, 3]
    store.verify()


def test_sweeping_and_closing_are_refused_too(store: EmbeddedStore) -> None:
    def sweep_and_close() -> None:
        expect_busy(store.sweep)()
        expect_busy(store.close)()

    Hook(store, sweep_and_close)
    store.execute(THREE)
    assert numbers(store) == [1, 2, 3]


def test_a_signal_handler_that_writes_is_refused(store: EmbeddedStore) -> None:
    write = expect_busy(lambda: store.execute(note(9)))
    handled: list[int] = []

    def handle(number: int, _: object) -> None:
        write()
        handled.append(number)

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        Hook(store, lambda: signal.raise_signal(signal.SIGUSR1))
        store.execute(THREE)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert (handled, numbers(store)) == ([signal.SIGUSR1], [1, 2, 3])


def test_a_file_can_be_read_in_the_middle_of_a_write_and_memory_cannot(store: EmbeddedStore) -> None:
    def look() -> None:
        assert numbers(store) == []

    Hook(store, look if store._process_lock is not None else expect_busy(look))
    store.execute(THREE)
    assert numbers(store) == [1, 2, 3]


def test_another_thread_may_write_in_the_middle_of_a_write(store: EmbeddedStore) -> None:
    other = threading.Thread(target=store.execute, args=(note(9),))
    Hook(store, other.start)
    store.execute(THREE)
    other.join()
    assert numbers(store) == [1, 2, 3, 9]


def test_an_error_of_a_handler_is_not_a_refusal_of_the_write_that_it_interrupts(store: EmbeddedStore) -> None:
    def fail() -> None:
        raise ConditionFailed  # as from a write to another store

    Hook(store, fail)
    with pytest.raises(ConditionFailed):
        store.execute(THREE)
    assert numbers(store) == []


def call_while_waiting(lock: Any, call: Callable[[], object]) -> None:
    """Call a function once, while the main thread waits for the lock."""
    acquire, calls = lock._acquire, [call]

    def acquire_after_call(*, blocking: bool = True) -> bool:
        if blocking and calls and threading.current_thread() is threading.main_thread():
            calls.pop()()
        return bool(acquire(blocking=blocking))

    lock._acquire = acquire_after_call


def test_who_waits_for_the_lock_cannot_wait_for_it_once_more(store: EmbeddedStore) -> None:
    commit = store._commit
    has_it, enough = threading.Event(), threading.Event()

    def hold() -> None:
        with commit.exclusively():
            has_it.set()
            enough.wait()

    def handle() -> None:
        expect_busy(lambda: store.execute(note(1)))()
        expect_busy(lambda: commit.exclusively().__enter__())()
        enough.set()

    holder = threading.Thread(target=hold)
    holder.start()
    has_it.wait()
    call_while_waiting(commit._lock, handle)
    with commit.exclusively():
        store.execute(note(2))
    holder.join()
    assert numbers(store) == [2]


def test_a_handler_may_use_the_store_before_and_after_the_write_that_it_interrupts(store: EmbeddedStore) -> None:
    queue: Any = store._commit._queue
    notify, seen = queue.notify, list[list[int]]()

    def handle_and_notify() -> None:
        if queue._unacknowledged and not queue.is_writing and not seen:
            seen.append(numbers(store))
            turnstile = take_turnstile(store._commit._lock)
            store.execute(note(9))
            seen.append(numbers(store))
            store._commit._lock._turnstile = turnstile
        notify()

    queue.notify = handle_and_notify
    store.execute(THREE)
    assert seen == [[1, 2, 3], [1, 2, 3, 9]]


def test_who_holds_the_lock_may_write_but_not_into_its_own_transaction(store: EmbeddedStore) -> None:
    with store._commit.exclusively():
        store.execute(note(1))
        with store._writer.connection:
            expect_busy(lambda: store.execute(note(2)))()
        store.execute(note(3))
    assert numbers(store) == [1, 3]


def test_who_holds_the_lock_writes_however_many_wait_before_it(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partita._sqlite._write_queue.MAX_BATCH", 2)
    with store._commit.exclusively():
        enqueue(store, note(1), note(2))
        store.execute(note(3))
    assert numbers(store) == [1, 2, 3]
