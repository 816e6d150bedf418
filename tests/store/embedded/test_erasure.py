"""Deleted data is no longer in any file: not in the database, not in its log, not in a backup."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.store.embedded.support import BY_OWNER, TABLE, Clock, OpenStore, count, note, read

from partita.errors import StoreClosed
from partita.store._requests import (
    BatchWriteItem,
    CreateTable,
    DeleteIndex,
    DeleteItem,
    DeleteTable,
    PutItem,
    SetTimeToLive,
)
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore

DAY = 24 * 3_600
INDEXED = TableSchema("notes", TABLE.hash, TABLE.range, (BY_OWNER,))
STREAMED = TableSchema("notes", TABLE.hash, TABLE.range, (BY_OWNER,), stream="NEW_AND_OLD_IMAGES")
PLANTED = ("planted-key", "planted-owner", "planted-title", "planted-text")


def planted(size: int) -> PutItem:
    """Return a put whose key, index key and attributes can be found in the files where they remain."""
    return note(
        0, sk="planted-key", owner="planted-owner", rank=1, title="planted-title", text="x" * size + "planted-text"
    )


def others(store: EmbeddedStore) -> None:
    """Write enough items for several pages around the planted one."""
    for number in range(60):
        store.execute(note(number, owner="somebody", rank=number, text="y" * 300))


def erase(store: EmbeddedStore) -> None:
    store.execute(DeleteItem("notes", {"pk": "p", "sk": "planted-key"}))


def found(folder: Path, names: Iterable[str] = PLANTED) -> dict[str, list[str]]:
    """Return the planted texts that each file contains."""
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    hits = {name: [text for text in names if text.encode() in data] for name, data in files.items()}
    return {name: texts for name, texts in hits.items() if texts}


@pytest.mark.parametrize("size", [10, 20_000], ids=["in a row", "on pages of its own"])
def test_a_deleted_item_is_in_no_file_after_closing(size: int, path: Path, open_store: OpenStore) -> None:
    with open_store() as store:
        store.execute(CreateTable(INDEXED))
        others(store)
        store.execute(planted(size))
        assert found(path.parent) != {}
        erase(store)
    assert found(path.parent) == {}


@pytest.mark.parametrize("size", [10, 20_000], ids=["in a row", "on pages of its own"])
def test_a_deleted_item_is_in_no_file_after_a_sweep(size: int, path: Path, open_store: OpenStore) -> None:
    store = open_store()
    store.execute(CreateTable(INDEXED))
    others(store)
    store.execute(planted(size))
    erase(store)
    assert "notes.db-wal" in found(path.parent)
    store.sweep()
    assert found(path.parent) == {}
    assert read(store, 1) is not None


def test_what_was_replaced_is_in_no_file_after_closing(path: Path, open_store: OpenStore) -> None:
    with open_store() as store:
        store.execute(CreateTable(INDEXED))
        others(store)
        store.execute(planted(20_000))
        store.execute(note(0, sk="planted-key", text="short"))
    assert found(path.parent, PLANTED[1:]) == {}


def test_an_expired_item_is_in_no_file_after_a_sweep(path: Path, open_store: OpenStore, clock: Clock) -> None:
    store = open_store()
    store.execute(CreateTable(INDEXED))
    store.execute(SetTimeToLive("notes", "until"))
    others(store)
    item: dict[str, Any] = planted(20_000).item
    store.execute(PutItem("notes", {**item, "until": int(clock.now) + 10}))
    clock.now += 11
    assert (store.sweep(), found(path.parent)) == (1, {})


def test_the_stream_keeps_old_images_for_24_hours_and_no_longer(
    path: Path, open_store: OpenStore, clock: Clock
) -> None:
    store = open_store()
    store.execute(CreateTable(STREAMED))
    others(store)
    store.execute(planted(20_000))
    erase(store)
    clock.now += DAY - 1
    store.sweep()
    assert found(path.parent) == {"notes.db": list(PLANTED)}
    clock.now += 2
    store.sweep()
    assert found(path.parent) == {}


def test_a_deleted_table_is_in_no_file_after_closing(path: Path, open_store: OpenStore) -> None:
    with open_store() as store:
        store.execute(CreateTable(STREAMED))
        others(store)
        store.execute(planted(20_000))
        store.execute(DeleteTable("notes"))
    assert found(path.parent) == {}


def test_closing_cuts_the_log_also_where_another_has_the_file_open(path: Path, open_store: OpenStore) -> None:
    another, store = open_store(), open_store()
    store.execute(CreateTable(INDEXED))
    store.execute(planted(20_000))
    erase(store)
    store.close()
    assert found(path.parent) == {}
    another.execute(note(1))
    assert read(another, 1) is not None


def test_a_reader_only_delays_the_cut(path: Path, open_store: OpenStore) -> None:
    store = open_store()
    store.execute(CreateTable(INDEXED))
    store.execute(planted(20_000))
    reader = store._connect()
    with reader:  # a snapshot from before the deletion
        reader.execute("SELECT generation FROM store").fetchall()
        erase(store)
        store.sweep()
        assert "notes.db-wal" in found(path.parent)
    store.sweep()
    assert found(path.parent) == {}


def test_a_backup_has_nothing_of_what_was_deleted_by_an_earlier_version(path: Path, open_store: OpenStore) -> None:
    store = open_store()
    store._writer.connection.pragma("secure_delete", False)
    store.execute(CreateTable(INDEXED))
    others(store)
    store.execute(planted(20_000))
    erase(store)
    store.sweep()
    assert "notes.db" in found(path.parent)
    target = path.parent / "backups" / "copy.db"
    target.parent.mkdir()
    store.backup(target)
    assert found(target.parent) == {}


def test_many_deleted_items_are_in_no_file_after_closing(path: Path, open_store: OpenStore) -> None:
    names = [f"planted-{number:04}" for number in range(400)]
    with open_store() as store:
        store.execute(CreateTable(INDEXED))
        for start in range(0, len(names), 20):
            puts = [PutItem("notes", note(0, sk=name, owner=name, rank=1).item) for name in names[start : start + 20]]
            store.execute(BatchWriteItem(tuple(puts)))
        for name in names:
            store.execute(DeleteItem("notes", {"pk": "p", "sk": name}))
    assert found(path.parent, names) == {}


def test_compacting_removes_what_an_earlier_version_left(path: Path, open_store: OpenStore) -> None:
    store = open_store()
    store._writer.connection.pragma("secure_delete", False)
    store.execute(CreateTable(INDEXED))
    others(store)
    store.execute(planted(20_000))
    erase(store)
    store.sweep()
    assert "notes.db" in found(path.parent)
    store.compact()
    assert found(path.parent) == {}
    store.verify()
    assert (count(store), read(store, 1) is not None) == (60, True)


def test_compacting_removes_copies_that_moved_rows_left_behind(path: Path, open_store: OpenStore) -> None:
    store, seeded = open_store(), random.Random(1)
    names: dict[str, str] = {}
    store.execute(CreateTable(INDEXED))
    for number in range(3_000):
        name = f"planted-{number:06}"
        if names and seeded.random() < 0.45:
            gone = seeded.choice(list(names))
            store.execute(DeleteItem("notes", {"pk": "p", "sk": names.pop(gone)}))
        else:
            key = names[name] = f"{seeded.randrange(10**6):06}"
            store.execute(note(0, sk=key, text=name + "x" * seeded.choice([20, 200, 2_000])))
    store.compact()
    deleted = [f"planted-{number:06}" for number in range(3_000) if f"planted-{number:06}" not in names]
    assert found(path.parent, deleted) == {}


def test_a_closed_store_is_not_compacted(open_store: OpenStore) -> None:
    store = open_store()
    store.close()
    with pytest.raises(StoreClosed):
        store.compact()


def test_what_an_index_had_is_in_no_file_after_it_is_deleted(path: Path, open_store: OpenStore) -> None:
    """Its entry and its columns in the row are not part of the item: they are deleted with the index."""
    with open_store() as store:
        store.execute(CreateTable(INDEXED))
        others(store)
        store.execute(planted(10))
        store.execute(DeleteIndex("notes", "by-owner"))
        store.execute(note(0, sk="planted-key", text="short"))
    assert found(path.parent, PLANTED[1:]) == {}
