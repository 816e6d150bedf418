"""A deleted index disappears immediately; its leftovers are cleared some rows at a time, or by a sweep."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.store.embedded.index_steps import (
    AT_ONCE,
    ITEMS,
    OWNED,
    Killed,
    columns,
    filled,
    killing,
    numbers,
    tables_beside,
)
from tests.store.embedded.support import BY_OWNER, TABLE, note

from partita.errors import TableNotFound, ValidationFailed
from partita.store import CreateIndex, DeleteIndex, DeleteTable, IndexSchema, KeyAttribute
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore
from partita.store.embedded.tables import _chunks, _index_progress, delete_index
from partita.store.embedded.tables._index_removal import BeginRemoval

INDEXED = TableSchema("notes", TABLE.hash, TABLE.range, (BY_OWNER,))
BY_RANK = IndexSchema("by-rank", (KeyAttribute("rank", "N"),))
DELETE = DeleteIndex("notes", "by-owner")


@pytest.fixture(autouse=True)
def _few_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_chunks, "MAX_ROWS", AT_ONCE)


@pytest.fixture
def store(path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(path, durable=False) as store:
        yield filled(store, INDEXED)


def unused(store: EmbeddedStore) -> list[str]:
    return [name for name in columns(store) if name.startswith("unused_")]


def kept(store: EmbeddedStore) -> int:
    """Return the number of rows with values in columns that no index uses."""
    used = " OR ".join(f"{name} IS NOT NULL" for name in unused(store)) or "false"
    sql = f"SELECT count(*) FROM items_1 WHERE {used}"  # noqa: S608 - SQL of this test
    return store._writer.connection.execute(sql).get  # type: ignore[no-any-return]


def test_an_index_is_gone_with_the_first_commit(store: EmbeddedStore) -> None:
    store._commit.run(BeginRemoval("notes", "by-owner"))
    with pytest.raises(ValidationFailed, match="does not have the specified index"):
        store.execute(OWNED)
    with pytest.raises(TableNotFound, match="by-owner not found"):
        store.execute(DELETE)
    store.execute(note(1, owner="o", rank="of any type"))
    assert kept(store) == ITEMS
    store.verify()


def test_nothing_is_left_but_empty_columns(store: EmbeddedStore) -> None:
    store.execute(DELETE)
    assert (len(unused(store)), kept(store), tables_beside(store)) == (3, 0, [])
    store.verify()


def test_columns_are_used_again(store: EmbeddedStore) -> None:
    before = len(columns(store))
    for index in (BY_RANK, BY_OWNER, BY_RANK):
        store.execute(DeleteIndex("notes", store._writer.table("notes").indexes[0].name))
        store.execute(CreateIndex("notes", index))
        assert len(columns(store)) == before
        store.verify()
    store.execute(CreateIndex("notes", BY_OWNER))
    assert unused(store) == []
    assert numbers(store) == list(range(1, ITEMS + 1))


def test_columns_that_are_not_cleared_are_not_used(store: EmbeddedStore) -> None:
    store._commit.run(BeginRemoval("notes", "by-owner"))
    store.execute(CreateIndex("notes", BY_OWNER))
    assert (len(unused(store)), kept(store)) == (3, ITEMS)
    store.sweep()
    assert kept(store) == 0
    assert numbers(store) == list(range(1, ITEMS + 1))
    store.verify()


@pytest.mark.parametrize("killed_after", range(1, 11))
def test_a_process_may_be_killed_after_any_commit(path: Path, killed_after: int) -> None:
    with EmbeddedStore(path, durable=False) as store:
        filled(store, INDEXED)
        with suppress(Killed):
            delete_index(killing(store, killed_after), DELETE)
    with EmbeddedStore(path, durable=False) as store:
        store.verify()
        store.execute(note(1, owner="o", rank=100))
        store.sweep()
        assert (kept(store), tables_beside(store)) == (0, [])
        store.execute(CreateIndex("notes", BY_OWNER))
        assert numbers(store) == [*range(2, ITEMS + 1), 1]
        store.verify()


def test_another_process_writes_between_the_transactions(store: EmbeddedStore, path: Path) -> None:
    with EmbeddedStore(path, durable=False) as other:
        steps = 0

        def write(request: Any) -> Any:
            nonlocal steps
            steps += 1
            other.execute(note(ITEMS + steps, owner="o", rank=steps))
            return store._commit.run(request)

        delete_index(write, DELETE)
        assert steps > 2 * ITEMS // AT_ONCE
        assert kept(other) == 0
    store.verify()


def test_a_table_is_deleted_with_what_its_indexes_have_left(store: EmbeddedStore) -> None:
    store._commit.run(BeginRemoval("notes", "by-owner"))
    store.execute(DeleteTable("notes"))
    assert tables_beside(store) == []
    filled(store, INDEXED)
    store.sweep()
    store.verify()


def test_a_local_index_cannot_be_deleted(path: Path) -> None:
    local = IndexSchema("by-owner", (TABLE.hash,), (KeyAttribute("rank", "N"),), local=True)
    with EmbeddedStore(path, durable=False) as store:
        filled(store, TableSchema("notes", TABLE.hash, TABLE.range, (local,)))
        with pytest.raises(TableNotFound, match="by-owner not found"):
            store.execute(DELETE)
        store.verify()


def test_a_server_logs_how_far_it_is(
    store: EmbeddedStore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_index_progress, "QUIET_ROWS", ITEMS - 1)
    with caplog.at_level(logging.WARNING, "partita.store"):
        store.execute(DELETE)
    messages = [record.getMessage() for record in caplog.records]
    assert messages[0].startswith("The index by-owner is being deleted from the table notes: ")
    assert messages[-1].endswith(": 100 %.")
