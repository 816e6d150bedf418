"""Templates and policies of shared keys, derived parts, shards, collections, upserts and stored forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest
from fastapi import APIRouter
from tests.deploy.linting import faults
from tests.deploy.policed import PolicedStore, allowed_by
from tests.store.remote.served import served

from partita import (
    REGISTRY,
    Compressed,
    Delete,
    Derived,
    EmbeddedStore,
    Encrypted,
    Entity,
    Index,
    Key,
    Put,
    Registry,
    Session,
    Shards,
    Span,
    Table,
    Update,
    Upsert,
    collect,
    delete,
    f,
    get,
    insert,
    pattern,
    query,
    update,
    upsert,
)
from partita.cli.data._tables import differences
from partita.deploy import LeftOut, arns_in, left_out, needs, policy, template
from partita.encryption import LocalKeys
from partita.service import Service
from partita.store import DescribeTable

pytestmark = pytest.mark.req("A07")

KEYS = LocalKeys({"1": bytes(32)}, "1")
TABLE = Table(
    "deployed-orders",
    indexes=[
        Index("inverted", hash="SK", range="PK"),
        Index("by-region", hash=["tenant", "region"], range=["status", ("cents", "N")]),
        Index("GSI1"),
        Index("GSI2"),
    ],
)
REGISTRY.remove(TABLE)  # registered only while a test runs


def is_open(status: str) -> bool:
    """Whether an order is open."""
    return status == "open"


def hundreds(cents: int) -> int:
    """The value in hundreds of cents, rounded down."""
    return cents // 100


class Tenant(Entity, table=TABLE):
    primary: ClassVar = Key("TENANT#{name}", "TENANT")

    name: str


class Order(Entity, table=TABLE):
    primary: ClassVar = Key("TENANT#{tenant}", "ORDER#{order_id}")
    inverted: ClassVar = Key("ORDER#{order_id}", "TENANT#{tenant}", index="inverted")
    by_region: ClassVar = Key(["{tenant}", "{region}"], ["{status}", "{cents}"], index="by-region")
    open: ClassVar = Key("OPEN#{tenant}#{shard}", "ORDER#{order_id}", index="GSI1", when=is_open)
    by_worth: ClassVar = Key("WORTH#{tenant}#{worth}", "ORDER#{order_id}", index="GSI2")

    shard: ClassVar = Shards(3, "order_id")
    worth: ClassVar = Derived(hundreds)

    tenant: str
    order_id: str
    region: str = "eu"
    status: str = "open"
    cents: int = 0
    text: Compressed[str] = ""
    card: Encrypted[str | None] = None


@dataclass(frozen=True)
class TenantPage:
    tenant: Tenant | None
    orders: tuple[Order, ...]


@get(Order)
def order_by_id(tenant: str, order_id: str) -> None:
    """One order."""


@query(Order, Order.inverted)
def order_anywhere(order_id: str) -> None:
    """An order by its id alone, if the tenant is unknown."""


@query(Order, Order.by_region)
def orders_worth(tenant: str, region: str, status: str, cents: Span[int]) -> None:
    """Orders of a region and status with a value in a span."""


@query(Order, Order.open)
def open_orders(tenant: str) -> None:
    """Open orders of all shards."""


@query(Order, Order.by_worth)
def orders_of_worth(tenant: str, worth: int) -> None:
    """Orders by their rounded value."""


@collect(TenantPage, "TENANT#{tenant}", limits={Order: 2})
def tenant_page(tenant: str) -> None:
    """A tenant and its first two orders."""


@pattern()
def add_order(order: Order) -> Put[Order]:
    """Add an order."""
    return insert(order)


@pattern()
def close_order(order: Order) -> Update[Order]:
    """Close an order."""
    return update(order, f(Order.status).set("closed"))


@pattern()
def charge_order(tenant: str, order_id: str, card: str) -> Upsert[Order]:
    """Set the card of an order, and create the order if it does not exist."""
    return upsert(order_by_id(tenant, order_id), f(Order.card).set(card), f(Order.text).set(card * 100))


@pattern()
def drop_order(order: Order) -> Delete[Order]:
    """Delete an order."""
    return delete(order)


SERVICE = Service(
    name="deployed-orders", title="Orders", summary="Orders.", router=APIRouter, tables=(TABLE,), caller=("tenant",)
)


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore(":memory:") as store:
        Session(store).create_tables([TABLE])
        yield store


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    REGISTRY.add(TABLE)
    yield
    REGISTRY.remove(TABLE)


def test_a_template_has_every_attribute_of_an_index_in_order() -> None:
    table = template(SERVICE)["Resources"]["DeployedOrders"]["Properties"]
    keys = {index["IndexName"]: index["KeySchema"] for index in table["GlobalSecondaryIndexes"]}
    assert keys["by-region"] == [
        {"AttributeName": "tenant", "KeyType": "HASH"},
        {"AttributeName": "region", "KeyType": "HASH"},
        {"AttributeName": "status", "KeyType": "RANGE"},
        {"AttributeName": "cents", "KeyType": "RANGE"},
    ]
    assert [key["AttributeName"] for key in keys["inverted"]] == ["SK", "PK"]
    names = [each["AttributeName"] for each in table["AttributeDefinitions"]]
    assert len(names) == len(set(names))
    assert {"AttributeName": "cents", "AttributeType": "N"} in table["AttributeDefinitions"]


@pytest.mark.xdist_group("deploy")  # in the worker that has loaded the rules
def test_cfn_lint_accepts_the_template() -> None:
    assert faults(template(SERVICE)) == []


def test_tables_are_made_as_declared_through_the_wire(store: EmbeddedStore) -> None:
    with served(store) as remote:
        assert list(differences(TABLE.schema, remote.execute(DescribeTable(TABLE.name)).schema)) == []


def test_an_index_with_other_attributes_is_another() -> None:
    other = Table(
        "deployed-orders", indexes=[Index("by-region", hash=["tenant"], range=["status"])], registry=Registry()
    )
    found = {each.what for each in differences(TABLE.schema, other.schema)}
    assert "index by-region differs" in found
    assert "index inverted is missing" in found


def journey(db: Session) -> None:
    """Run every pattern."""
    orders = [db.run(add_order(Order(tenant="acme", order_id=f"o{n}", cents=n))) for n in range(5)]
    assert db.run(order_by_id("acme", "o1")) == orders[1]
    assert db.run(order_anywhere("o1")).items == (orders[1],)
    assert db.run(orders_worth("acme", "eu", "open", Span.since(3))).items == tuple(orders[3:])
    assert db.run(open_orders("acme")).items == tuple(orders)
    assert db.run(orders_of_worth("acme", 0)).items == tuple(orders)
    db.run(tenant_page("acme"))
    assert db.run(charge_order("acme", "o9", "4111")).card == "4111"
    db.run(drop_order(db.run(close_order(orders[0]))))


def test_the_derived_policy_is_enough_and_not_too_much(store: EmbeddedStore) -> None:
    derived = policy([need for need in needs(SERVICE, "request") if need.by != "start"], arns_in("*", "*"))
    policed = PolicedStore(store, derived)
    journey(Session(policed, strict_budgets=True, keys=KEYS))
    assert policed.denied == []
    assert policed.used == allowed_by(derived)


def test_a_caller_reads_shards_of_their_own_and_no_partition_of_several_attributes(store: EmbeddedStore) -> None:
    journey(Session(store, keys=KEYS))
    mine = PolicedStore(store, policy(needs(SERVICE, "caller"), arns_in("*", "*")), tags={"tenant": "acme"})
    db = Session(mine, keys=KEYS)
    assert len(db.run(open_orders("acme"))) == 5
    assert db.run(order_by_id("acme", "o1")) is not None
    assert mine.denied == []
    reasons = {left.name: left for left in left_out(SERVICE)}
    partition = "the partition {tenant}, {region} has several attributes, on which a policy cannot set conditions"
    assert reasons["orders_worth"] == LeftOut("orders_worth", partition)
    assert "order_anywhere" in reasons
