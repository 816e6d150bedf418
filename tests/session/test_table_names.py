"""Sessions on a store that has the declared tables under other names: a stage, or a tenant."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest

from partita import (
    AsyncSession,
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Registry,
    Session,
    Table,
    TableNames,
    batch_get,
    explain,
    get,
    insert,
    query,
)
from partita.change import Consumer, ItemChange, Positions, Snapshot
from partita.change.lake import Lake, query_lake
from partita.errors import OperationError, ScanRefused
from partita.operations import scan
from partita.store import ListTables, named_store

TABLES = Registry()
ORDERS = Table("orders", indexes=[Index("GSI1")], stream="NEW_AND_OLD_IMAGES", registry=TABLES)
DEV, PROD = TableNames(prefix="dev-"), TableNames({"orders": "orders-of-production"})


class Order(Entity, table=ORDERS):
    primary: ClassVar = Key("ORDER#{order_id}", "ORDER")
    by_city: ClassVar = Key("CITY#{city}", "ORDER#{order_id}", index="GSI1")

    order_id: str
    city: str


@get(Order)
def order_by_id(order_id: str) -> None:
    """One order."""


@query(Order, Order.by_city)
def orders_in(city: str) -> None:
    """The orders of a city."""


LEEDS = Order(order_id="1", city="Leeds")


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore(":memory:") as store:
        for names in (DEV, PROD):
            Session(store, table_names=names).create_tables(TABLES)
        yield store


def test_tables_are_created_under_the_names_of_the_session(store: EmbeddedStore) -> None:
    Session(store, table_names=DEV).create_tables(TABLES)  # existing tables are found again
    assert store.execute(ListTables()) == ("dev-orders", "orders-of-production")


def test_two_stages_of_one_store_never_see_each_other(store: EmbeddedStore) -> None:
    dev, prod = Session(store, table_names=DEV), Session(store, table_names=PROD)
    dev.transact(insert(LEEDS))
    assert dev.run(order_by_id("1")) == LEEDS
    assert [list(db.run(orders_in("Leeds"))) for db in (dev, prod)] == [[LEEDS], []]
    assert [db.run(batch_get([order_by_id("1")])) for db in (dev, prod)] == [(LEEDS,), (None,)]
    prod.run(insert(LEEDS))


def test_sessions_that_await_have_names_too(store: EmbeddedStore) -> None:
    dev, prod = AsyncSession(store, table_names=DEV), AsyncSession(store, table_names=PROD)
    asyncio.run(dev.create_tables(TABLES))
    asyncio.run(dev.run(insert(LEEDS)))
    assert asyncio.run(dev.run(order_by_id("1"))) == LEEDS
    assert asyncio.run(prod.run(order_by_id("1"))) is None


def test_guardrails_speak_of_the_declared_table(store: EmbeddedStore) -> None:
    db = Session(store, table_names=DEV, strict_budgets=True)
    assert db.run(order_by_id("1")) is None  # the guardrail compares with the declared names
    with pytest.raises(ScanRefused, match="'orders'"):
        db.run(scan(Order).page(10))


def test_derived_sessions_keep_the_names(store: EmbeddedStore) -> None:
    db = Session(store, table_names=DEV)
    db.run(insert(LEEDS))
    assert db.of_service("shop").run(order_by_id("1")) == LEEDS
    assert list(db.maintenance("count").run(scan(Order).page(10))) == [LEEDS]


def test_a_table_without_a_name_is_refused(store: EmbeddedStore) -> None:
    with pytest.raises(OperationError, match="'orders' is not in the mapping of names"):
        Session(store, table_names=TableNames({"users": "people"})).run(order_by_id("1"))


def test_explain_shows_the_request_as_it_is_sent(store: EmbeddedStore) -> None:
    ran = explain(order_by_id("1"), Session(store, table_names=DEV))
    planned = explain(order_by_id("1"), table_names=PROD)
    assert (ran.request["TableName"], planned.request["TableName"]) == ("dev-orders", "orders-of-production")
    assert ran.predicted == explain(order_by_id("1")).predicted


class Collected:
    """A sink that collects the ids of the orders that it gets."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._positions: Positions = {}

    def positions(self) -> Positions:
        return self._positions

    def apply(self, batch: Sequence[ItemChange], positions: Positions) -> None:
        self.found += [change.new_item["order_id"] for change in batch if change.new_item]
        self._positions = positions

    def load(self, snapshot: Snapshot) -> None:
        self.apply(list(snapshot), snapshot.positions)


def test_a_consumer_reads_the_stream_of_its_stage(store: EmbeddedStore) -> None:
    dev, sink = Session(store, table_names=DEV), Collected()
    dev.run(insert(LEEDS))
    consumer = Consumer(dev.store, ORDERS, sink)
    consumer.catch_up()
    dev.run(insert(Order(order_id="2", city="York")))
    Session(store, table_names=PROD).run(insert(Order(order_id="3", city="York")))
    consumer.catch_up()
    assert sink.found == ["1", "2"]


def test_the_lake_of_a_stage_has_its_changes(store: EmbeddedStore, tmp_path: Path) -> None:
    prod = named_store(store, PROD)
    Session(store, table_names=DEV).run(insert(LEEDS))
    Session(prod).run(insert(Order(order_id="2", city="York")))
    with closing(Lake(tmp_path, ORDERS)) as lake:
        Consumer(prod, ORDERS, lake).catch_up()
    assert query_lake(tmp_path, 'SELECT city FROM "order"').read_all().to_pylist() == [{"city": "York"}]
