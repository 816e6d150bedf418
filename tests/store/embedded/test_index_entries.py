"""The entries of an index stay correct while it is built, whoever writes, and finally become SQLite's index."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.store.embedded.index_steps import AT_ONCE, ITEMS, filled, numbers, tables_beside
from tests.store.embedded.support import BY_OWNER, TABLE, note

from partita.errors import StoreFull, TableNotFound
from partita.store import (
    CreateIndex,
    DeleteIndex,
    DeleteItem,
    DeleteTable,
    DescribeTable,
    IndexSchema,
    KeyAttribute,
    ScanTable,
)
from partita.store.embedded import BulkPut, EmbeddedStore, LoadItems
from partita.store.embedded.tables import _chunks, _indexes, create_index


@pytest.fixture(autouse=True)
def _few_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_chunks, "MAX_ROWS", AT_ONCE)


@pytest.fixture
def store(path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(path, durable=False) as store:
        yield filled(store, TABLE)


@pytest.fixture
def other(store: EmbeddedStore, path: Path) -> Iterator[EmbeddedStore]:
    """A second store on the same file, like that of another process."""
    with EmbeddedStore(path, durable=False) as other:
        yield other


def write_something(store: EmbeddedStore, randomly: random.Random) -> None:
    number, rank = randomly.randrange(1, 2 * ITEMS), randomly.choice((*range(5), "no number"))
    written = note(number, owner=randomly.choice("op"), rank=rank)
    match randomly.randrange(3):
        case 0:
            store.execute(DeleteItem("notes", {"pk": "p", "sk": f"{number:06}"}))
        case 1:
            store.execute(LoadItems("notes", [BulkPut(written.item)]))
        case _:
            store.execute(written)


def in_index(store: EmbeddedStore) -> list[int]:
    """Return the items of an owner that the index should have, in its order, computed from all items."""
    owned = [item for item in store.execute(ScanTable("notes")).items if item["owner"] == "o"]
    return [int(item["sk"]) for item in sorted(owned, key=_order) if type(item["rank"]) is not str]


def _order(item: dict[str, Any]) -> tuple[Any, str]:
    return (-1 if type(item["rank"]) is str else item["rank"]), item["sk"]


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_written_between_two_steps_the_entries_are_right(
    store: EmbeddedStore, other: EmbeddedStore, seed: int
) -> None:
    randomly = random.Random(seed)

    def write(request: Any) -> Any:
        for _ in range(randomly.randrange(4)):
            write_something(randomly.choice((store, other)), randomly)
        if type(request) is _indexes.FillIndex:
            store.verify()
        return store._commit.run(request)

    create_index(write, store._private_connection, CreateIndex("notes", BY_OWNER))
    assert numbers(store) == numbers(other) == in_index(store)
    store.verify()
    assert tables_beside(store) == []


def test_the_index_is_used_by_sqlite(store: EmbeddedStore) -> None:
    store.execute(CreateIndex("notes", BY_OWNER))
    index = store._writer.table("notes").index_of("by-owner")
    sql = f"EXPLAIN QUERY PLAN SELECT id FROM items_1 WHERE {index.columns[0]} = 1"  # noqa: S608 - SQL of this test
    ((*_, plan),) = store._writer.connection.execute(sql)
    assert f"SEARCH items_1 USING COVERING INDEX index_{index.number}" in plan


def test_an_index_that_cannot_be_finished_is_as_before(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The change of the schema is rolled back with everything else, and the connection notices it."""
    with monkeypatch.context() as failing:
        failing.setattr(_indexes, "redefine", _fail)
        with pytest.raises(StoreFull):
            store.execute(CreateIndex("notes", BY_OWNER))
    assert len(tables_beside(store)) == 5
    store.verify()
    store.execute(note(1, owner="o", rank=100))
    store.execute(CreateIndex("notes", BY_OWNER))
    assert numbers(store) == [*range(2, ITEMS + 1), 1]
    store.verify()


def _fail(*_: object) -> None:
    raise apsw.FullError("no space")


@pytest.mark.parametrize("reports", range(8))
def test_an_index_may_be_finished_by_another_process_meanwhile(
    store: EmbeddedStore, other: EmbeddedStore, reports: int
) -> None:
    seen = list[int]()

    def finish(done: int, _total: int) -> None:
        seen.append(done)
        if len(seen) == reports + 1:
            other.execute(CreateIndex("notes", BY_OWNER))

    store.execute(CreateIndex("notes", BY_OWNER, finish))
    assert len(seen) > reports
    assert numbers(store) == list(range(1, ITEMS + 1))
    store.verify()


@pytest.mark.parametrize("again", [None, BY_OWNER, IndexSchema("by-owner", (KeyAttribute("rank", "N"),))])
@pytest.mark.parametrize("reports", [0, 3, 4])
def test_an_index_may_be_deleted_by_another_process_meanwhile(
    store: EmbeddedStore, other: EmbeddedStore, reports: int, again: IndexSchema | None
) -> None:
    """An index of the same name that is created then is a different index."""
    seen = list[int]()

    def delete(done: int, _total: int) -> None:
        seen.append(done)
        if len(seen) == reports + 1:
            other.execute(DeleteIndex("notes", "by-owner"))
            if again is not None:
                other.execute(CreateIndex("notes", again))

    with pytest.raises(TableNotFound, match="by-owner not found"):
        store.execute(CreateIndex("notes", BY_OWNER, delete))
    assert store.execute(DescribeTable("notes")).schema.indexes == (() if again is None else (again,))
    store.verify()
    assert tables_beside(store) == []


def test_an_index_that_another_process_begins_meanwhile_is_another(store: EmbeddedStore, other: EmbeddedStore) -> None:
    begun = list[int]()

    def begin_again(_done: int, _total: int) -> None:
        if not begun:
            other.execute(DeleteIndex("notes", "by-owner"))
            begun.append(other._commit.run(_indexes.BeginIndex("notes", BY_OWNER)))

    with pytest.raises(TableNotFound, match="by-owner not found"):
        store.execute(CreateIndex("notes", BY_OWNER, begin_again))
    store.execute(CreateIndex("notes", BY_OWNER))
    assert numbers(store) == list(range(1, ITEMS + 1))
    store.verify()


@pytest.mark.parametrize("reports", [0, 3, 4])
def test_a_table_may_be_deleted_by_another_process_meanwhile(
    store: EmbeddedStore, other: EmbeddedStore, reports: int
) -> None:
    seen = list[int]()

    def delete(done: int, _total: int) -> None:
        seen.append(done)
        if len(seen) == reports + 1:
            other.execute(DeleteTable("notes"))

    with pytest.raises(TableNotFound):
        store.execute(CreateIndex("notes", BY_OWNER, delete))
    store.verify()
    assert tables_beside(store) == []
