"""An index is built in many short transactions: others write between them, and a killed process does no harm."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.store.embedded.index_steps import (
    AT_ONCE,
    ITEMS,
    OWNED,
    Killed,
    filled,
    killing,
    numbers,
    tables_beside,
)
from tests.store.embedded.support import BY_OWNER, TABLE, note, pages_by_commit

from partita.errors import StoreDamaged, TableNotFound, ValidationFailed
from partita.store import (
    CreateIndex,
    CreateTable,
    DeleteIndex,
    DeleteItem,
    DeleteTable,
    DescribeTable,
    IndexSchema,
)
from partita.store.embedded import BulkPut, EmbeddedStore, LoadItems
from partita.store.embedded.tables import _chunks, _index_progress, create_index
from partita.store.embedded.tables._indexes import AddEntries, BeginEntries, BeginIndex, FillIndex, FinishIndex

SPREAD = 6
"""Pages by which the longest transactions may differ: those of the catalog, and inner nodes of a larger table."""
CLEARING = 3
"""Transactions of the cleanup: drop the empty table of rows that were written meanwhile, end, and find no more."""


@pytest.fixture(autouse=True)
def _few_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_chunks, "MAX_ROWS", AT_ONCE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(path, durable=False) as store:
        filled(store, TABLE)
        yield store


@pytest.fixture
def unfinished(store: EmbeddedStore, path: Path) -> Iterator[EmbeddedStore]:
    """The store of a process that was killed after it had filled a part of an index."""
    number = store._commit.run(BeginIndex("notes", BY_OWNER))
    store._commit.run(FillIndex("notes", "by-owner", number))
    store.close()
    with EmbeddedStore(path, durable=False) as opened:
        yield opened


def most_pages(path: Path, items: int) -> dict[str, int]:
    """Return the most pages that one commit writes while an index is added to a table, and while it is deleted."""
    with EmbeddedStore(path, durable=False) as store:
        store.execute(CreateTable(TABLE))
        owners = [
            note(number, owner=f"o{7_919 * number % items}", rank=number, text="x" * 100) for number in range(items)
        ]
        store.execute(LoadItems("notes", [BulkPut(put.item) for put in owners]))
        pages = pages_by_commit(store)
        store.execute(CreateIndex("notes", BY_OWNER))
        adding = max(pages)
        pages.clear()
        store.execute(DeleteIndex("notes", "by-owner"))
        store.verify()
        return {"add": adding, "delete": max(pages)}


def test_an_index_is_filled_by_some_rows_at_a_time_and_says_how_far_it_is(store: EmbeddedStore) -> None:
    before, seen = store._commit.commits, list[tuple[int, int]]()
    store.execute(CreateIndex("notes", BY_OWNER, lambda done, total: seen.append((done, total))))
    assert seen[:3] == [(3, 12), (6, 12), (9, 12)]
    assert seen[-1] == (12, 12)
    assert store._commit.commits - before == (1 + 4) + (1 + 4) + 1 + CLEARING
    assert numbers(store) == list(range(1, ITEMS + 1))
    store.verify()


def test_rows_of_many_bytes_are_fewer_at_a_time(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_chunks, "_CHUNK_BYTES", 1)
    before = store._commit.commits
    store.execute(CreateIndex("notes", BY_OWNER))
    assert store._commit.commits - before == (1 + ITEMS) + (1 + 4) + 1 + CLEARING


def test_the_longest_transaction_does_not_grow_with_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_chunks, "MAX_ROWS", 20)
    few, many = (most_pages(tmp_path / f"{items}.db", items) for items in (300, 3_000))
    assert many["add"] <= few["add"] + SPREAD
    assert many["delete"] <= few["delete"] + SPREAD


def test_another_process_writes_between_the_transactions(store: EmbeddedStore, path: Path) -> None:
    with EmbeddedStore(path, durable=False) as other:
        written = list[int]()

        def write(_done: int, _total: int) -> None:
            written.append(ITEMS + 1 + len(written))
            other.execute(note(written[-1], owner="o", rank=written[-1]))

        store.execute(CreateIndex("notes", BY_OWNER, write))
        assert len(written) > ITEMS // AT_ONCE
        assert numbers(other) == [*range(1, ITEMS + 1), *written]
    store.verify()


@pytest.mark.parametrize("killed_after", range(15))
def test_a_process_may_be_killed_after_any_commit(path: Path, killed_after: int) -> None:
    """Uncommitted work is gone, a repeated request resumes the rest, and writes in between succeed."""
    with EmbeddedStore(path, durable=False) as store:
        filled(store, TABLE)
        with suppress(Killed):
            create_index(killing(store, killed_after), store._private_connection, CreateIndex("notes", BY_OWNER))
    with EmbeddedStore(path, durable=False) as store:
        store.verify()
        store.execute(note(1, owner="o", rank=100))
        store.execute(note(5, owner="other", rank=100))
        store.execute(DeleteItem("notes", {"pk": "p", "sk": "000007"}))
        store.execute(note(11, owner="o", rank=0))
        if "by-owner" not in store.execute(DescribeTable("notes")).schema.index_names:
            store.execute(CreateIndex("notes", BY_OWNER))
        store.sweep()
        assert numbers(store) == [11, 2, 3, 4, 6, 8, 9, 10, 1]
        store.verify()
        assert tables_beside(store) == []


def test_an_index_can_be_made_in_memory() -> None:
    with EmbeddedStore(":memory:") as store:
        filled(store, TABLE)
        store.execute(CreateIndex("notes", BY_OWNER))
        assert numbers(store) == list(range(1, ITEMS + 1))
        store.execute(DeleteIndex("notes", "by-owner"))
        store.execute(CreateIndex("notes", BY_OWNER))
        assert numbers(store) == list(range(1, ITEMS + 1))
        store.verify()


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
    unfinished.execute(note(1, owner="o", rank=100))  # already filled
    unfinished.execute(note(2, owner="o", rank="no number"))
    unfinished.execute(note(8, owner="o", rank=0))  # not yet filled
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
    number = unfinished._commit.run(BeginIndex("notes", BY_OWNER))
    unfinished.execute(DeleteIndex("notes", "by-owner"))
    with pytest.raises(TableNotFound, match="by-owner not found"):
        unfinished._commit.run(FillIndex("notes", "by-owner", number))
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
    number = store._writer.table("notes").index_of("by-owner").number
    assert store._commit.run(FillIndex("notes", "by-owner", number)).is_done
    assert store._commit.run(BeginEntries("notes", "by-owner", number)) is None
    store._commit.run(AddEntries("notes", "by-owner", number, []))
    assert store._commit.run(FinishIndex("notes", "by-owner", number)) == description
    assert description.schema.index("by-owner") is not None
    with pytest.raises(ValidationFailed, match="already exists: by-owner"):
        store.execute(CreateIndex("notes", BY_OWNER))


@pytest.mark.parametrize(("row", "damage"), [(1, "NULL"), (9, "'x'")])
def test_a_wrong_entry_of_an_unfinished_index_is_found(unfinished: EmbeddedStore, row: int, damage: str) -> None:
    writer = unfinished._writer.connection
    (index,) = unfinished._writer.catalog.tables["notes"].building
    sql = f"UPDATE items_1 SET {index.columns[1]} = {damage} WHERE id = {row}"  # noqa: S608 - SQL of this test
    writer.execute(sql)
    with pytest.raises(StoreDamaged, match=rf"row {row}: column {index.columns[0][:-2]}"):
        unfinished.verify()


def test_a_server_logs_how_far_an_index_is(
    store: EmbeddedStore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_index_progress, "QUIET_ROWS", ITEMS - 1)
    with caplog.at_level(logging.WARNING, "partita.store"):
        store.execute(CreateIndex("notes", BY_OWNER))
    parts = [record.getMessage().rpartition(": ")[2] for record in caplog.records]
    assert parts == ["20 %.", "50 %.", "70 %.", "80 %.", "90 %.", "100 %."]


def test_an_index_that_is_made_at_once_is_not_logged(store: EmbeddedStore, caplog: pytest.LogCaptureFixture) -> None:
    store.execute(CreateIndex("notes", BY_OWNER))
    store.execute(DeleteIndex("notes", "by-owner"))
    assert caplog.records == []
