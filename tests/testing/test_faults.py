"""Planned faults: the requests that they affect, what the store executes nevertheless, and what the caller gets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from partita import EmbeddedStore, Registry, Session, Table
from partita.errors import StoreClosed, StoreUnavailable, Throttled, TransactionCancelled, TransactionConflict
from partita.store import (
    BatchGetItem,
    BatchWriteItem,
    DeleteItem,
    GetItem,
    PutItem,
    Request,
    TransactGetItems,
    TransactWriteItems,
)
from partita.testing import Crash, FaultyStore

TABLE = Table("things", hash="id", range=None, registry=Registry())

Send = Callable[[Request[Any]], Any]


@pytest.fixture
def store(partita_store: EmbeddedStore) -> FaultyStore:
    Session(partita_store).create_tables([TABLE])
    return FaultyStore(partita_store)


@pytest.fixture(params=["sync", "async"])
def send(request: pytest.FixtureRequest, store: FaultyStore) -> Iterator[Send]:
    """A function that sends a request to the faulty store, sync or async."""
    if request.param == "sync":
        yield store.execute
    else:
        with asyncio.Runner() as loop:
            yield lambda sent: loop.run(store.execute_async(sent))


def put(key: str = "a") -> PutItem:
    return PutItem("things", {"id": key})


def get(key: str = "a") -> GetItem:
    return GetItem("things", {"id": key})


def is_stored(store: FaultyStore, key: str = "a") -> bool:
    return store._store.execute(get(key)).item is not None


def test_without_a_fault_requests_pass_through(send: Send, store: FaultyStore) -> None:
    send(put())
    assert send(get()).item == {"id": "a"}
    assert store.requests == [put(), get()]


@pytest.mark.parametrize(
    ("plan", "error"), [("throttle", Throttled), ("conflict", TransactionConflict), ("unavailable", StoreUnavailable)]
)
def test_a_refused_request_does_not_happen(send: Send, store: FaultyStore, plan: str, error: type[Exception]) -> None:
    getattr(store, plan)(2)
    for _ in range(2):
        with pytest.raises(error):
            send(put())
    assert not is_stored(store)
    send(put())
    assert is_stored(store)


def test_a_lost_response_does_not_undo_the_work(send: Send, store: FaultyStore) -> None:
    store.unavailable(happens=True)
    with pytest.raises(StoreUnavailable):
        send(put())
    assert is_stored(store)


def test_a_fault_meets_only_the_requests_it_is_planned_for(send: Send, store: FaultyStore) -> None:
    store.throttle(on=(PutItem, DeleteItem))
    send(get())
    assert store.pending == 1
    with pytest.raises(Throttled):
        send(put())
    assert store.pending == 0


def test_faults_happen_in_the_order_they_were_planned(send: Send, store: FaultyStore) -> None:
    store.throttle()
    store.unavailable()
    with pytest.raises(Throttled):
        send(put())
    with pytest.raises(StoreUnavailable):
        send(put())


@pytest.mark.parametrize("request_", [TransactWriteItems((put(), put("b"))), TransactGetItems((get(), get("b")))])
def test_a_conflict_in_a_transaction_is_a_cancellation(send: Send, store: FaultyStore, request_: Request[Any]) -> None:
    store.conflict()
    with pytest.raises(TransactionCancelled) as caught:
        send(request_)
    assert [reason.code for reason in caught.value.reasons] == ["TransactionConflict"] * 2
    assert not is_stored(store)


def test_the_last_parts_of_a_batch_are_left_out(send: Send, store: FaultyStore) -> None:
    store.unprocessed(count=2)
    response = send(BatchWriteItem((put("a"), put("b"), put("c"))))
    assert response.unprocessed == (put("b"), put("c"))
    assert [is_stored(store, key) for key in "abc"] == [True, False, False]
    store.unprocessed()
    found = send(BatchGetItem((get("a"), get("b"))))
    assert (found.items, found.unprocessed) == ([{"id": "a"}, None], (get("b"),))


def test_a_whole_batch_may_be_left_out(send: Send, store: FaultyStore) -> None:
    store.unprocessed(2, count=9)
    assert send(BatchWriteItem((put("a"),))).unprocessed == (put("a"),)
    found = send(BatchGetItem((get("a"),)))
    assert (found.items, found.unprocessed, found.capacity) == ([None], (get("a"),), ())
    assert not is_stored(store)


def test_a_single_request_is_never_left_out(send: Send, store: FaultyStore) -> None:
    store.unprocessed()
    send(put())
    assert is_stored(store)
    store.unprocessed(on=PutItem)
    with pytest.raises(TypeError, match="PutItem is not a batch"):
        send(put())


@pytest.mark.parametrize(("plan", "stored"), [("crash_before", [True, False]), ("crash_after", [True, True])])
def test_a_crash_comes_before_or_after_the_nth_request(
    send: Send, store: FaultyStore, plan: str, stored: list[bool]
) -> None:
    getattr(store, plan)(2, on=PutItem)
    send(put("a"))
    send(get("a"))
    with pytest.raises(Crash, match="request 2"):
        send(put("b"))
    assert [is_stored(store, key) for key in "ab"] == stored
    send(put("c"))


def test_a_crash_is_not_an_exception() -> None:
    assert not issubclass(Crash, Exception)


@pytest.mark.parametrize(
    "plan", [lambda s: s.throttle(0), lambda s: s.crash_before(0), lambda s: s.unprocessed(count=0)]
)
def test_a_plan_that_can_never_happen_is_refused(store: FaultyStore, plan: Callable[[FaultyStore], None]) -> None:
    with pytest.raises(ValueError, match=r"[aA]t least"):
        plan(store)


def test_closing_closes_the_other_store(store: FaultyStore) -> None:
    store.close()
    with pytest.raises(StoreClosed):
        store.execute(put())
