"""A connection that drops, delays, truncates and throttles: no write is lost, repeated, or wrongly called failed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, get_args

import pytest
from tests.store.remote.proxy import Fault, FaultProxy, fault_proxy

from partita.errors import RequestError, StoreClosed, StoreUnavailable
from partita.expressions._ast import AddAction, Path, Update, Value
from partita.store._requests import (
    CreateTable,
    GetItem,
    ListTables,
    PutItem,
    Request,
    TransactWriteItems,
    UpdateItem,
)
from partita.store._schema import KeyAttribute, TableSchema
from partita.store.remote import Credentials, Limits, Outside, RemoteStore

pytestmark = pytest.mark.xdist_group("referee")

FAULTS: tuple[Fault, ...] = get_args(Fault)
KEY = {"pk": "counter"}
_names = count(1)


@pytest.fixture
def table(remote: RemoteStore) -> str:
    name = f"faults-{next(_names)}"
    remote.execute(CreateTable(TableSchema(name, KeyAttribute("pk"))))
    return name


def increment(table: str) -> UpdateItem:
    return UpdateItem(table, KEY, Update(adds=(AddAction(Path(("n",)), Value(1)),)))


def in_a_transaction(table: str) -> TransactWriteItems:
    return TransactWriteItems((increment(table),))


def counted(remote: RemoteStore, table: str) -> int:
    item = remote.execute(GetItem(table, KEY, consistent=True)).item
    return 0 if item is None else int(item["n"])


def through(proxy: FaultProxy, loss: Fault = "none") -> RemoteStore:
    """Return a store behind the proxy that retries without pauses, and has a short timeout if responses are delayed."""
    return RemoteStore(
        proxy.url,
        credentials=Credentials("test", "test"),
        limits=Limits(read=0.3 if loss == "delay" else 10.0),
        outside=Outside(random=random.Random(2), sleep=lambda _: None),
    )


def outcome(store: RemoteStore, request: Request[Any]) -> str:
    """Execute the request, and return the outcome that the caller sees."""
    try:
        store.execute(request)
    except StoreUnavailable:
        return "unknown"
    except RequestError:
        return "refused"
    return "done"


def seeded(seed: int) -> Callable[[], Fault]:
    rng = random.Random(seed)
    return lambda: rng.choice((*FAULTS, "none", "none", "none"))


@pytest.mark.parametrize("make", [increment, in_a_transaction], ids=["write", "transaction"])
def test_what_is_said_of_writes_is_true(remote: RemoteStore, ministack_url: str, table: str, make: Any) -> None:
    with fault_proxy(ministack_url, seeded(7)) as proxy, through(proxy, "delay") as store:
        outcomes = [outcome(store, make(table)) for _ in range(40)]
    done, unknown = outcomes.count("done"), outcomes.count("unknown")
    assert done <= counted(remote, table) <= done + unknown
    assert proxy.met.keys() == set(FAULTS)


LOSSES: tuple[Fault, ...] = ("drop before", "drop after", "truncate", "delay")


@pytest.mark.parametrize("loss", LOSSES)
def test_a_write_is_not_repeated_and_the_caller_learns_that_it_is_unknown(
    remote: RemoteStore, ministack_url: str, table: str, loss: Fault
) -> None:
    with fault_proxy(ministack_url, lambda: loss) as proxy, through(proxy, loss) as store:
        assert outcome(store, increment(table)) == "unknown"
    assert proxy.met == {loss: 1}
    assert counted(remote, table) == (0 if loss == "drop before" else 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_transaction_is_repeated_with_its_token_and_runs_once(
    remote: RemoteStore, ministack_url: str, table: str, loss: Fault
) -> None:
    faults: Iterator[Fault] = iter((loss, loss, "none"))
    with fault_proxy(ministack_url, lambda: next(faults)) as proxy, through(proxy, loss) as store:
        assert outcome(store, in_a_transaction(table)) == "done"
    assert proxy.met == {loss: 2, "none": 1}
    assert counted(remote, table) == 1


@pytest.mark.parametrize("loss", [*LOSSES, "throttle"])
async def test_awaited_reads_come_through(remote: RemoteStore, ministack_url: str, table: str, loss: Fault) -> None:
    remote.execute(PutItem(table, {**KEY, "n": 3}))
    faults: Iterator[Fault] = iter((loss, "none"))
    with fault_proxy(ministack_url, lambda: next(faults)) as proxy, through(proxy, loss) as store:
        assert (await store.execute_async(GetItem(table, KEY))).item == {**KEY, "n": 3}


def test_a_throttled_write_happens_once(remote: RemoteStore, ministack_url: str, table: str) -> None:
    faults: Iterator[Fault] = iter(("throttle", "throttle", "none"))
    with fault_proxy(ministack_url, lambda: next(faults)) as proxy, through(proxy) as store:
        assert outcome(store, increment(table)) == "done"
    assert counted(remote, table) == 1


def test_connections_are_used_again(ministack_url: str, table: str) -> None:
    with fault_proxy(ministack_url) as proxy, through(proxy) as store:
        for _ in range(20):
            store.execute(GetItem(table, KEY))
    assert proxy.connections == 1


async def test_awaited_connections_are_limited_and_used_again(ministack_url: str, table: str) -> None:
    limits = Limits(connect=60, read=60, wait=60, connections=2)  # long, because other tests use this machine
    with (
        fault_proxy(ministack_url) as proxy,
        RemoteStore(proxy.url, credentials=Credentials("test", "test"), limits=limits) as store,
    ):
        await asyncio.gather(*(store.execute_async(GetItem(table, KEY)) for _ in range(20)))
    assert proxy.connections <= 2


def test_a_server_that_is_gone_is_unavailable_and_nothing_was_sent(ministack_url: str) -> None:
    with fault_proxy(ministack_url) as proxy:
        pass
    with through(proxy) as store, pytest.raises(StoreUnavailable, match="Nothing was sent"):
        store.execute(PutItem("t", KEY))


async def test_a_closed_store_says_so(ministack_url: str) -> None:
    store = RemoteStore(ministack_url, credentials=Credentials("test", "test"))
    store.execute(ListTables())
    await store.execute_async(ListTables())
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        store.execute(ListTables())
    with pytest.raises(StoreClosed):
        await store.execute_async(ListTables())
