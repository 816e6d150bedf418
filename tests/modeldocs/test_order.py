"""The generated page does not depend on the order in which the modules of a service are imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from partita.cost._measure import measure
from partita.modeldocs import render_page
from partita.service import Service

TABLE = """
from partita import Registry, Table

TABLE = Table("shop", stream="NEW_AND_OLD_IMAGES", registry=Registry())
"""
MODULE = """
from enum import StrEnum
from typing import ClassVar
from partita import Entity, Key, Put, Rcu, Wcu, f, get, insert, pattern
from partita.recipes.leases import LeaseRecord, Leases
from partita.recipes.lifecycle import Lifecycle, Transition
from shop.table import TABLE

class State(StrEnum):
    OPEN = "open"
    DONE = "done"

class {0}(Entity, table=TABLE):
    "One of them."
    primary: ClassVar = Key("SHOP#{{shop}}", "{0}#{{number}}")
    shop: str
    number: str
    state: State = State.OPEN

class Another{0}(Entity, table=TABLE):
    "Declared after it."
    primary: ClassVar = Key("SHOP#{{shop}}", "ANOTHER_{0}#{{number}}")
    shop: str
    number: str

class {0}Lease(LeaseRecord, table=TABLE):
    "Who works with it."
    primary: ClassVar = Key("{0}_LEASE#{{name}}", "LEASE")

LEASES = Leases({0}Lease)

class {0}Life(Lifecycle[{0}, State]):
    state = f({0}.state)
    start = State.OPEN
    finish = Transition(State.OPEN, to=State.DONE)

@get({0}, budget=Rcu(0.5))
def {0}_by_number(shop: str, number: str) -> None:
    "One of them."

@pattern(budget=Wcu(2))
def create_{0}(thing: {0}) -> Put[{0}]:
    "Write one."
    return insert(thing)

SAMPLE = [create_{0}({0}(shop="a", number="1"))]
"""
MODULES = {"shop.zebra": "Zebra", "shop.model": "Main", "shop.orders.model": "Order", "shop.bills.model": "Bill"}


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    sources = {"shop.table": TABLE, **{name: MODULE.format(each) for name, each in MODULES.items()}}
    for name, content in sources.items():
        file = tmp_path / f"{name.replace('.', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    forget()


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        del sys.modules[name]


def page(*modules: str) -> str:
    """Import the modules in this order, and return the generated page."""
    forget()
    sample = [operation for name in modules for operation in import_module(name).SAMPLE]
    table = import_module("shop.table").TABLE
    service = Service("shop", "Shop", "What is sold.", (table,), seed=lambda _: sample)
    return render_page(service, measure(service))


def test_a_page_does_not_depend_on_the_order_of_imports() -> None:
    names = tuple(MODULES)
    first, *others = (page(*order) for order in (names, names[::-1], names[2:] + names[:2]))
    assert others == [first, first]


def test_what_a_package_declares_itself_stands_before_its_parts_and_each_as_declared() -> None:
    lines = page("shop.orders.model", "shop.zebra", "shop.bills.model", "shop.model").splitlines()
    entities = [line.split()[0] for line in lines if line.endswith(" {")]
    assert entities == [
        *("Main", "AnotherMain", "MainLease", "Zebra", "AnotherZebra", "ZebraLease"),
        *("Bill", "AnotherBill", "BillLease", "Order", "AnotherOrder", "OrderLease"),
    ]
    lifecycles = [line for line in lines if line.startswith("## Lifecycle of")]
    assert lifecycles == [f"## Lifecycle of `{name}.state`" for name in ("Main", "Zebra", "Bill", "Order")]
