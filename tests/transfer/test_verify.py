"""Comparisons of two stores: every difference is found, except for mere delays."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from tests.transfer.support import ORDERS, OUTSIDE, contents, copied, fill, opened, order

from partita import EmbeddedStore
from partita.store import CreateTable, DeleteItem, PutItem, Store
from partita.transfer import Comparison, ItemDifference, Outside, Side, TableComparison


@pytest.fixture
def source(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "source.db", durable=False) as store:
        fill(store, 60)
        yield store


@pytest.fixture(params=["embedded", "wire"])
def target(request: pytest.FixtureRequest, source: EmbeddedStore, tmp_path: Path) -> Iterator[Store]:
    """A copy of the source."""
    with opened(tmp_path / "target.db", wire=request.param == "wire") as store:
        copied(source, store)
        yield store


def compared(source: Store, target: Store, outside: Outside = OUTSIDE) -> tuple[Comparison, list[ItemDifference]]:
    found: list[ItemDifference] = []
    with TableComparison(Side(source), Side(target), "orders", outside) as comparison:
        return comparison.run(found.append), found


def key(number: int) -> dict[str, object]:
    return {"customer": f"customer-{number % 7}", "number": number}


def test_a_copy_is_equal(source: EmbeddedStore, target: Store) -> None:
    assert compared(source, target) == (Comparison("orders", 60, 0), [])


def test_each_difference_is_named(source: EmbeddedStore, target: Store) -> None:
    target.execute(DeleteItem("orders", key(1)))
    target.execute(PutItem("orders", order(2, total=Decimal("1.5"), extra=True)))
    target.execute(PutItem("orders", order(500)))
    result, found = compared(source, target)
    assert result == Comparison("orders", 60, 3)
    assert sorted(map(str, found)) == [
        'orders {"customer":{"S":"customer-1"},"number":{"N":"1"}}: missing in the target',
        'orders {"customer":{"S":"customer-2"},"number":{"N":"2"}}: differs in extra, total',
        'orders {"customer":{"S":"customer-3"},"number":{"N":"500"}}: only in the target',
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, "1"), (b"a", "a"), (["a"], frozenset({"a"})), (None, False), ("", None), ({"a": 1}, {"a": "1"})],
)
def test_values_of_other_types_differ(source: EmbeddedStore, target: Store, one: object, other: object) -> None:
    source.execute(PutItem("orders", order(3, value=one)))
    target.execute(PutItem("orders", order(3, value=other)))
    _, (difference,) = compared(source, target)
    assert difference.attributes == ("value",)


def test_the_order_of_attributes_is_no_difference(source: EmbeddedStore, target: Store) -> None:
    turned = dict(reversed(order(3, inside={"a": 1, "b": 2}).items()))
    source.execute(PutItem("orders", turned))
    target.execute(PutItem("orders", order(3, inside={"b": 2, "a": 1})))
    assert compared(source, target)[0].differences == 0


def test_what_is_only_behind_is_no_difference(source: EmbeddedStore, target: Store) -> None:
    """Changes are still being followed: later, the item is equal, or equal to an earlier image of the source."""
    source.execute(PutItem("orders", order(3, n=1)))
    images = iter([2, 3, 4, 5])

    def pause(_seconds: float) -> None:
        target.execute(PutItem("orders", contents(source)["customer-3", 3]))
        source.execute(PutItem("orders", order(3, n=next(images))))

    assert compared(source, target, Outside(pause=pause))[0].differences == 0


def test_what_has_expired_is_no_difference(source: EmbeddedStore, target: Store) -> None:
    source.execute(PutItem("orders", order(3, expires=1_000)))
    target.execute(DeleteItem("orders", key(3)))
    assert compared(source, target)[0] == Comparison("orders", 60, 0, expired=1)


def test_a_comparison_writes_nothing(source: EmbeddedStore, tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "empty.db", durable=False) as empty:
        empty.execute(CreateTable(ORDERS))
        assert compared(source, empty)[0].differences == 60
        assert contents(empty) == {}
