"""Random items: pages add up to the list, a rebuilt index equals the old one, a reopened file has the same items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from partita import EmbeddedStore
from partita.expressions import KeyCondition
from partita.store import (
    CreateIndex,
    CreateTable,
    DeleteIndex,
    DeleteItem,
    IndexSchema,
    KeyAttribute,
    PutItem,
    QueryTable,
    ScanTable,
    TableSchema,
)
from partita.store._interface import Store
from partita.values import Item

INDEX = IndexSchema("by-group", (KeyAttribute("group"),), (KeyAttribute("rank", "N"),))
TABLE = TableSchema("items", KeyAttribute("pk"), KeyAttribute("sk", "N"), (INDEX,))
SEEDS = range(4)
LIMITS = (1, 2, 3, 7, 50)


def fill(store: Store, random: Random) -> None:
    """Put, move and delete random items: many share a rank, and some have none."""
    store.execute(CreateTable(TABLE))
    for _ in range(150):
        key: Item = {"pk": random.choice("abc"), "sk": random.randrange(20)}
        item = {**key, "group": random.choice("xy"), "rank": random.randrange(4), "text": "t" * random.randrange(40)}
        if random.random() < 0.2:
            del item["rank"]
        store.execute(DeleteItem("items", key) if random.random() < 0.2 else PutItem("items", item))


def queries() -> Iterator[QueryTable]:
    """Yield a query for every partition of the table and of the index, in both directions."""
    for forward in (True, False):
        for value in "abc":
            yield QueryTable("items", KeyCondition((("pk", value),)), forward=forward)
        for value in "xy":
            yield QueryTable("items", KeyCondition((("group", value),)), index=INDEX.name, forward=forward)


def pages(store: Store, query: QueryTable, limit: int) -> Iterator[list[Item]]:
    """Yield the pages of a query."""
    start: Item | None = None
    while True:
        page = store.execute(
            QueryTable(
                query.table, query.key_condition, index=query.index, forward=query.forward, limit=limit, start=start
            )
        )
        yield page.items
        start = page.last_key
        if start is None:
            return


def everything(store: Store) -> list[list[Item]]:
    """Return the results of every query and every scan."""
    scans = [ScanTable("items"), ScanTable("items", index=INDEX.name)]
    return [store.execute(request).items for request in [*queries(), *scans]]


@pytest.fixture(params=SEEDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file with random items."""
    path = tmp_path / "items.db"
    with EmbeddedStore(path, durable=False) as store:
        fill(store, Random(request.param))
    return path


def test_pages_of_any_size_are_the_list(path: Path) -> None:
    with EmbeddedStore(path, durable=False) as store:
        for query in queries():
            whole = store.execute(query).items
            for limit in LIMITS:
                found = list(pages(store, query, limit))
                assert [item for page in found for item in page] == whole
                assert found[0] == whole[:limit]


def test_backwards_is_the_list_turned_round(path: Path) -> None:
    with EmbeddedStore(path, durable=False) as store:
        lists = [store.execute(query).items for query in queries()]
    half = len(lists) // 2
    assert [items[::-1] for items in lists[:half]] == lists[half:]


def test_an_index_that_is_made_again_is_the_same(path: Path) -> None:
    with EmbeddedStore(path, durable=False) as store:
        before = everything(store)
        store.execute(DeleteIndex("items", INDEX.name))
        store.execute(CreateIndex("items", INDEX))
        assert everything(store) == before


def test_a_file_that_is_opened_again_is_the_same(path: Path) -> None:
    with EmbeddedStore(path, durable=False) as store:
        before = everything(store)
        store.compact()
        assert everything(store) == before
    with EmbeddedStore(path, durable=False) as store:
        assert everything(store) == before


def test_the_partitions_are_the_table(path: Path) -> None:
    with EmbeddedStore(path, durable=False) as store:
        *lists, scanned, indexed = everything(store)
    of_table = [item for items in lists[:3] for item in items]
    assert sorted(map(repr, of_table)) == sorted(map(repr, scanned))
    assert sorted(map(repr, indexed)) == sorted(repr(item) for item in scanned if "rank" in item)
