"""Tallies: the first addition creates them, and concurrent additions do not conflict."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recipes.interleaving import empty_db

from partita import Entity, Index, Key, Registry, Session, Table, Version, get, insert, transact
from partita.errors import AlreadyExists, ModelError
from partita.recipes.tally import Tally

TABLE = Table("shop", indexes=[Index("GSI1")], registry=Registry(), ttl="ttl", type_attribute="kind")


class Sale(Entity, table=TABLE):
    primary: ClassVar = Key("SHOP#{shop}", "SALE#{sale_id}")
    shop: str
    sale_id: str


class MonthTotal(Entity, table=TABLE):
    primary: ClassVar = Key("SHOP#{shop}", "MONTH#{month}")
    shop: str
    month: str
    sales: int = 0
    amount: int = 0


@get(MonthTotal)
def month_total(shop: str, month: str) -> None:
    """The totals of a month."""


MONTHS = Tally(MonthTotal)


def part(amount: int, month: str = "2026-11") -> MonthTotal:
    return MonthTotal(shop="s1", month=month, sales=1, amount=amount)


def total(db: Session, month: str = "2026-11") -> MonthTotal | None:
    return db.run(month_total("s1", month))


@given(amounts=st.lists(st.tuples(st.sampled_from(["2026-10", "2026-11"]), st.integers(-(10**15), 10**15)), max_size=8))
def test_a_tally_is_the_sum_of_its_additions(amounts: list[tuple[str, int]]) -> None:
    with empty_db([TABLE]) as db:
        for month, amount in amounts:
            after = db.run(MONTHS.add(part(amount, month)))
            assert after == total(db, month)
        for month in {month for month, _ in amounts}:
            own = [amount for each, amount in amounts if each == month]
            assert total(db, month) == MonthTotal(shop="s1", month=month, sales=len(own), amount=sum(own))


def test_additions_of_many_threads_are_all_counted() -> None:
    with empty_db([TABLE]) as db:

        def add() -> None:
            for _ in range(50):
                db.run(MONTHS.add(part(3)))

        threads = [threading.Thread(target=add) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert total(db) == MonthTotal(shop="s1", month="2026-11", sales=400, amount=1200)


def test_an_addition_happens_with_what_it_sums_up_or_not_at_all() -> None:
    with empty_db([TABLE]) as db:
        sale = Sale(shop="s1", sale_id="1")
        db.run(transact(insert(sale), MONTHS.add(part(5))))
        with pytest.raises(Exception) as refused:  # noqa: PT011 - its cause is checked
            db.run(transact(insert(sale), MONTHS.add(part(5))))
        assert isinstance(getattr(refused.value, "cause", None), AlreadyExists)
        assert total(db) == part(5)


def test_an_addition_costs_one_write() -> None:
    with empty_db([TABLE]) as db, db.meter.watch() as seen:
        db.run(MONTHS.add(part(1)))
    assert [(run.read, run.write) for run in seen] == [(0, 1)]


class Indexed(Entity, table=TABLE):
    primary: ClassVar = Key("INDEXED#{name}", "TOTAL")
    by_name: ClassVar = Key("ALL", "{name}", index="GSI1")
    name: str
    sales: int = 0


class Counted(Entity, table=TABLE):
    primary: ClassVar = Key("COUNTED#{name}", "TOTAL")
    name: str
    sales: int = 0
    version: Version = 0


class Passing(Entity, table=TABLE):
    primary: ClassVar = Key("PASSING#{name}", "TOTAL")
    name: str
    sales: int = 0
    ttl: int = 0


class Named(Entity, table=TABLE):
    primary: ClassVar = Key("NAMED#{name}", "TOTAL")
    name: str
    label: str = ""


class Required(Entity, table=TABLE):
    primary: ClassVar = Key("REQUIRED#{name}", "TOTAL")
    name: str
    sales: int


class Bare(Entity, table=TABLE):
    primary: ClassVar = Key("BARE#{name}", "TOTAL")
    name: str


@pytest.mark.parametrize(
    ("entity", "message"),
    [
        (Indexed, "must have neither indexes nor a version nor a TTL"),
        (Counted, "must have neither indexes nor a version nor a TTL"),
        (Passing, "must have neither indexes nor a version nor a TTL"),
        (Named, "Named.label is not an int with the default 0"),
        (Required, "Required.sales is not an int with the default 0"),
        (Bare, "has no field for a sum"),
    ],
)
def test_what_cannot_be_a_tally_is_refused(entity: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Tally(entity)
