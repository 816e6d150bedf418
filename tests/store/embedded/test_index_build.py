"""An index is made in many short transactions: others write between them, and a killed process leaves no harm."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.embedded.support import BY_OWNER, TABLE, note

from partita.errors import StoreDamaged, TableNotFound, ValidationFailed
from partita.expressions._ast import KeyCondition
from partita.store import CreateIndex, CreateTable, DeleteIndex, DeleteItem, DeleteTable, IndexSchema, QueryTable
from partita.store.embedded import BulkPut, EmbeddedStore, LoadItems
from partita.store.embedded.tables import _definitions
from partita.store.embedded.tables._indexes import BeginIndex, FillIndex

OWNED = QueryTable("notes", KeyCondition((("owner", "o"),)), index="by-owner")
AT_ONCE = 3
ITEMS = 10


@pytest.fixture(autouse=True)
def _few_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_definitions, "MAX_ROWS", AT_ONCE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(path, durable=False) as store:
        store.execute(CreateTable(TABLE))
        for number in range(1, ITEMS + 1):
            store.execute(note(number, owner="o", rank=number))
        yield store


@pytest.fixture
def unfinished(store: EmbeddedStore, path: Path) -> Iterator[EmbeddedStore]:
    """The store of a process that was killed after it had filled some of an index."""
    store._commit.run(BeginIndex("notes", BY_OWNER))
    store._commit.run(FillIndex("notes", "by-owner"))
    store.close()
    with EmbeddedStore(path, durable=False) as opened:
        yield opened


def numbers(store: EmbeddedStore) -> list[int]:
    return [int(item["sk"]) for item in store.execute(OWNED).items]


def test_an_index_is_filled_by_some_rows_at_a_time_and_says_how_far_it_is(store: EmbeddedStore) -> None:
    before, seen = store._commit.commits, list[tuple[int, int]]()
    store.execute(CreateIndex("notes", BY_OWNER, lambda done, total: seen.append((done, total))))
    assert seen[:3] == [(3, 12), (6, 12), (9, 12)]
    assert seen[-1] == (12, 12)
    assert store._commit.commits - before == 1 + 4 + 1
    assert numbers(store) == list(range(1, ITEMS + 1))
    store.verify()


def test_rows_of_many_bytes_are_fewer_at_a_time(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_definitions, "_CHUNK_BYTES", 1)
    before = store._commit.commits
    store.execute(CreateIndex("notes", BY_OWNER))
    assert store._commit.commits - before == 1 + ITEMS + 1


def test_an_index_can_be_made_by_a_task(store: EmbeddedStore) -> None:
    asyncio.run(store.execute_async(CreateIndex("notes", BY_OWNER)))
    assert numbers(store) == list(range(1, ITEMS + 1))


def test_an_unfinished_index_is_not_there(unfinished: EmbeddedStore) -> None:
    with pytest.raises(ValidationFailed, match="does not have the specified index"):
        unfinished.execute(OWNED)
    unfinished.verify()


def test_an_unfinished_index_is_gone_on_with(unfinished: EmbeddedStore) -> None:
    seen = list[int]()
    unfinished.execute(CreateIndex("notes", BY_OWNER, lambda done, _: seen.append(done)))
    assert seen[0] == 2 * AT_ONCE
    assert numbers(unfinished) == list(range(1, ITEMS + 1))
    unfinished.verify()


def test_what_is_written_meanwhile_is_in_the_index(unfinished: EmbeddedStore) -> None:
    unfinished.execute(note(1, owner="o", rank=100))  # filled already
    unfinished.execute(note(2, owner="o", rank="no number"))
    unfinished.execute(note(8, owner="o", rank=0))  # still to be filled
    unfinished.execute(DeleteItem("notes", {"pk": "p", "sk": "000009"}))
    unfinished.execute(LoadItems("notes", [BulkPut(note(11, owner="o", rank=-1).item)]))
    unfinished.verify()
    unfinished.execute(CreateIndex("notes", BY_OWNER))
    assert numbers(unfinished) == [11, 8, 3, 4, 5, 6, 7, 10, 1]
    unfinished.verify()


def test_another_index_of_the_same_name_is_refused(unfinished: EmbeddedStore) -> None:
    with pytest.raises(ValidationFailed, match="already exists: by-owner"):
        unfinished.execute(CreateIndex("notes", IndexSchema("by-owner", BY_OWNER.hash)))


def test_an_unfinished_index_can_be_deleted(unfinished: EmbeddedStore) -> None:
    unfinished.execute(DeleteIndex("notes", "by-owner"))
    with pytest.raises(TableNotFound, match="by-owner not found"):
        unfinished._commit.run(FillIndex("notes", "by-owner"))
    unfinished.execute(note(1, owner="o", rank=1))
    unfinished.execute(CreateIndex("notes", BY_OWNER))
    assert numbers(unfinished) == list(range(1, ITEMS + 1))
    unfinished.verify()


def test_a_table_is_deleted_with_its_unfinished_index(unfinished: EmbeddedStore) -> None:
    unfinished.execute(DeleteTable("notes"))
    unfinished.execute(CreateTable(TABLE))
    unfinished.execute(note(1))
    unfinished.verify()


def test_who_finds_the_index_finished_is_content(store: EmbeddedStore) -> None:
    description = store.execute(CreateIndex("notes", BY_OWNER))
    assert store._commit.run(FillIndex("notes", "by-owner")).is_done
    assert description.schema.index("by-owner") is not None
    with pytest.raises(ValidationFailed, match="already exists: by-owner"):
        store.execute(CreateIndex("notes", BY_OWNER))


@pytest.mark.parametrize(("row", "damage"), [(1, "NULL"), (9, "'x'")])
def test_a_wrong_entry_of_an_unfinished_index_is_found(unfinished: EmbeddedStore, row: int, damage: str) -> None:
    writer = unfinished._writer.connection
    (index,) = unfinished._writer.catalog.tables["notes"].building
    sql = f"UPDATE items_1 SET {index.columns[1]} = {damage} WHERE id = {row}"  # noqa: S608 - of this test
    writer.execute(sql)
    with pytest.raises(StoreDamaged, match=rf"row {row}: column {index.columns[0][:-2]}"):
        unfinished.verify()


def test_a_server_logs_how_far_an_index_is(store: EmbeddedStore, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "partita.store"):
        store.execute(CreateIndex("notes", BY_OWNER))
    parts = [record.getMessage().rpartition(": ")[2] for record in caplog.records]
    assert parts == ["20 %.", "50 %.", "70 %.", "100 %."]


def test_an_index_that_is_made_at_once_is_not_logged(
    store: EmbeddedStore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_definitions, "MAX_ROWS", ITEMS)
    store.execute(CreateIndex("notes", BY_OWNER))
    assert caplog.records == []
