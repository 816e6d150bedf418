"""The estimated units of a copy, compared with those that it consumes, and the limit of units."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.transfer.support import ORDERS, OUTSIDE, fill, order

from partita import EmbeddedStore
from partita.store import CreateTable, PutItem
from partita.transfer import CopyOptions, Estimate, Prices, Side, StoreCopy, TableCopy, estimate


def test_the_estimate_is_what_the_copy_consumes(tmp_path: Path) -> None:
    units: list[float] = []
    with (
        EmbeddedStore(tmp_path / "a.db", durable=False) as source,
        EmbeddedStore(tmp_path / "b.db", durable=False) as target,
    ):
        fill(source, 100)
        source.execute(PutItem("orders", order(100, weight=5, notes="x" * 3_000)))
        expected = estimate(source, "orders")
        copy = TableCopy(
            Side(source),
            Side(target),
            "orders",
            owner="x",
            outside=OUTSIDE,
            on_written=lambda _, used: units.append(used),
        )
        with StoreCopy(Side(source), [copy]) as copies:
            copies.prepare()
            copies.load()
    assert expected.items == 101
    assert sum(units) == expected.write == 101 * 2 + 2 * 3 + 1


def test_a_table_without_items_costs_nothing(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "a.db", durable=False) as source:
        source.execute(CreateTable(ORDERS))
        assert estimate(source, "orders") == Estimate("orders", 0, 0, 0.0, 0.0)


def test_money_is_asked_only_by_the_side_that_costs_some() -> None:
    counted = Estimate("orders", 1_000_000, 10**9, 250_000, 2_000_000)
    prices = Prices(read=0.1, write=1.0)
    assert counted.dollars(reads=True, writes=True, prices=prices) == pytest.approx(2.025)
    assert counted.dollars(reads=False, writes=True, prices=prices) == 2.0
    assert counted.dollars(reads=True, writes=False, prices=prices) == 0.025


def test_a_limit_of_units_is_kept(tmp_path: Path) -> None:
    waits: list[float] = []
    outside = OUTSIDE.__class__(pause=waits.append)
    with (
        EmbeddedStore(tmp_path / "a.db", durable=False) as source,
        EmbeddedStore(tmp_path / "b.db", durable=False) as target,
    ):
        fill(source, 200)
        copy = TableCopy(
            Side(source), Side(target), "orders", owner="x", outside=outside, options=CopyOptions(segments=1, wcu=1)
        )
        with StoreCopy(Side(source), [copy]) as copies:
            copies.prepare()
            copies.load()
    assert max(waits) > 300  # 400 units at one a second, the first of which is in the bucket
