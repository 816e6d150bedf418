"""Reading a bounded sample: its estimated cost, and which items it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.adopt.tables import schema

from partita import EmbeddedStore
from partita.adopt import Sample, describe, estimate, read_sample
from partita.errors import TableNotFound
from partita.runtime import run
from partita.store import CreateTable, PutItem, ScanTable, TableDescription

SCHEMA = schema("table")


def described(items: int, size: int) -> TableDescription:
    return TableDescription(SCHEMA, 0.0, items, size)


def test_the_cost_follows_from_the_size_of_items() -> None:
    small = estimate(described(100_000, 100_000 * 400), 1_000)
    assert (small.items, small.is_bound) == (1_000, False)
    assert small.read_units == 49.0 + 18 * 0.5  # 400,000 bytes, and half a unit for rounding up each page
    large = estimate(described(100_000, 100_000 * 40_000), 1_000)
    assert large.read_units == 4_883.0 + 18 * 0.5


def test_a_small_table_costs_no_more_than_it_has() -> None:
    assert estimate(described(10, 1_000), 1_000).items == 10


def test_a_table_that_says_nothing_of_its_size_has_a_bound() -> None:
    found = estimate(described(0, 0), 10)
    assert (found.items, found.read_units, found.is_bound) == (10, 500.0, True)


class Reader:
    """A store with one table, which records the scans that it receives."""

    def __init__(self, items: int, folder: Path) -> None:
        self.store = EmbeddedStore(folder / "store.db", durable=False)
        self.store.execute(CreateTable(SCHEMA))
        for number in range(items):
            self.store.execute(PutItem("table", {"pk": f"P#{number}", "sk": "x"}))
        self.asked: list[ScanTable] = []
        self.progress: list[int] = []

    def __call__(self, request: Any) -> Any:
        if isinstance(request, ScanTable):
            self.asked.append(request)
        return self.store.execute(request)

    def sample(self, limit: int, said: int) -> Sample:
        with self.store:
            return run(read_sample(described(said, said * 10), limit, self.progress.append), self)


def test_a_small_table_is_read_whole(tmp_path: Path) -> None:
    reader = Reader(30, tmp_path)
    sample = reader.sample(100, said=30)
    assert (len(sample.items), sample.is_whole, sum(reader.progress)) == (30, True, 30)
    assert sample.read_units > 0


@pytest.mark.parametrize("said", [0, 300])
def test_a_sample_is_bounded_and_from_all_over_the_table(tmp_path: Path, said: int) -> None:
    reader = Reader(300, tmp_path)
    sample = reader.sample(40, said=said)
    assert (len(sample.items), sample.is_whole) == (40, False)
    assert len({item["pk"] for item in sample.items}) == 40
    assert {request.segment for request in reader.asked} == set(range(8))
    assert sum(request.limit or 0 for request in reader.asked) <= 40 + 8


def test_a_table_is_described_or_missing(tmp_path: Path) -> None:
    reader = Reader(1, tmp_path)
    assert run(describe("table"), reader).schema == SCHEMA
    with pytest.raises(TableNotFound):
        run(describe("none"), reader)
    reader.store.close()
