"""The stores that the contract suite runs on, and a table for each test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from tests.contract.differences import (
    HIDDEN_BY_THE_REMOTE_STORE,
    KNOWN_REFEREE_DIFFERENCES,
    MADE_BY_A_PREFIX,
)
from tests.contract.table import Clock, MakeTable, Table
from tests.referee import Referee
from tests.store.remote.served import served

from partita.store import NamedStore, TableNames
from partita.store._interface import Store
from partita.store._requests import CreateTable
from partita.store._schema import IndexSchema, KeyAttribute, KeyType, StreamView, TableSchema
from partita.store.embedded import EmbeddedStore
from partita.store.remote import RemoteStore

_names = count(1)

ABOUT_NAMES = {
    "test_batch.py",
    "test_capacity.py",
    "test_streams.py",
    "test_tables.py",
    "test_transact_get.py",
    "test_transact_write.py",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "store_name" in metafunc.fixturenames:
        names = metafunc.config.getoption("--store") or _usual_stores(metafunc.definition.path.name)
        metafunc.parametrize("store_name", names, scope="session")


def _usual_stores(file: str) -> list[str]:
    """Return the default stores of a file; `named` is only for files whose tests name tables in several ways."""
    return ["embedded", "named", "wire"] if file in ABOUT_NAMES else ["embedded", "wire"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        store = re.search(r"\[(ministack|named|remote)\b", item.name)
        if store is None or "tests/contract" not in item.nodeid:
            continue
        if store[1] != "named":
            item.add_marker(pytest.mark.xdist_group("referee"))
        case = item.name.replace(f"[{store[1]}-", "[").replace(f"[{store[1]}]", "")
        reason = _known_difference(store[1], item.path.name, case)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason))


def _known_difference(store: str, file: str, case: str) -> str | None:
    if store == "named":
        return MADE_BY_A_PREFIX.get(case)
    if store == "remote" and case in HIDDEN_BY_THE_REMOTE_STORE:
        return None
    known = KNOWN_REFEREE_DIFFERENCES.get(file, {})
    return known.get(case) or known.get(case.partition("[")[0])


@pytest.fixture
def clock(store_name: str) -> Clock:
    """A clock that the test advances; the test is skipped if the store runs in another process."""
    if store_name not in ("embedded", "named", "wire"):
        pytest.skip(f"{store_name} has a clock of its own")
    return Clock()


@pytest.fixture
def embedded_store(clock: Clock) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(":memory:", clock=clock) as store:
        yield store


@pytest.fixture
def sweep(clock: Clock, embedded_store: EmbeddedStore) -> Callable[[], int]:
    """A function that deletes expired items immediately, and returns the number of items deleted."""
    return embedded_store.sweep


@pytest.fixture
def ministack_store(referee: Referee) -> Referee:
    return referee


@pytest.fixture
def remote_store(remote: RemoteStore) -> RemoteStore:
    return remote


@pytest.fixture
def named_store(embedded_store: EmbeddedStore) -> NamedStore:
    """The embedded store with a prefix in the name of every table."""
    return NamedStore(embedded_store, TableNames(prefix="stage-"))


@pytest.fixture
def wire_store(embedded_store: EmbeddedStore) -> Iterator[RemoteStore]:
    with served(embedded_store) as store:
        yield store


@pytest.fixture
def store(request: pytest.FixtureRequest, store_name: str) -> Store:
    """The store under test."""
    store: Store = request.getfixturevalue(f"{store_name}_store")
    return store


@pytest.fixture
def make_table(store: Store) -> MakeTable:
    """A function that creates a table of the given shape, by default with string keys `pk` and `sk`."""

    def make(
        hash_type: KeyType = "S",
        range_type: KeyType | None = "S",
        *,
        indexes: tuple[IndexSchema, ...] = (),
        ttl: str | None = None,
        stream: StreamView | None = None,
    ) -> Table:
        schema = TableSchema(
            name=f"contract-{next(_names)}",
            hash=KeyAttribute("pk", hash_type),
            range=None if range_type is None else KeyAttribute("sk", range_type),
            indexes=indexes,
            ttl=ttl,
            stream=stream,
        )
        store.execute(CreateTable(schema))
        return Table(store, schema)

    return make


@pytest.fixture
def table(make_table: MakeTable) -> Table:
    """A table with string keys `pk` and `sk`."""
    return make_table()
