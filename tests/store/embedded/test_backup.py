"""Backups: consistent copies that are made while others write, and that replace no file."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.store.embedded.support import BY_OWNER, TABLE, count, note, read

from partita.errors import StoreClosed, StoreError, StoreReadOnly
from partita.store._requests import CreateTable
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore


def test_a_backup_holds_what_was_committed(store: EmbeddedStore, tmp_path: Path) -> None:
    store.execute(note(1, text="kept"))
    store.backup(tmp_path / "copy.db")
    store.execute(note(2))
    with EmbeddedStore(tmp_path / "copy.db") as copy:
        copy.verify()
        assert (read(copy, 1), count(copy)) == ({"pk": "p", "sk": "000001", "text": "kept"}, 1)


def test_a_store_in_memory_can_be_saved(tmp_path: Path) -> None:
    with EmbeddedStore(":memory:") as store:
        store.execute(CreateTable(TABLE))
        store.execute(note(1))
        store.backup(tmp_path / "copy.db")
    with EmbeddedStore(tmp_path / "copy.db") as copy:
        copy.execute(note(2))
        assert count(copy) == 2


def test_a_backup_under_writing_is_one_instant(store: EmbeddedStore, tmp_path: Path) -> None:
    store.execute(CreateTable(TableSchema("more", TABLE.hash, TABLE.range, (BY_OWNER,), stream="NEW_IMAGE")))
    for number in range(200):
        store.execute(note(number, text="x" * 10_000))
    seen: list[tuple[int, int]] = []

    def write_between_steps(copied: int, pages: int) -> None:
        seen.append((copied, pages))
        writing = threading.Thread(target=store.execute, args=(note(1_000 + len(seen), text="y" * 10_000),))
        writing.start()
        writing.join()

    before = count(store)
    store.backup(tmp_path / "copy.db", write_between_steps)
    assert len(seen) > 1
    assert seen[-1][0] == seen[-1][1]
    assert count(store) == before + len(seen)
    with EmbeddedStore(tmp_path / "copy.db") as copy:
        copy.verify()
        assert count(copy) == before


def test_an_existing_file_is_not_replaced(store: EmbeddedStore, tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("precious")
    with pytest.raises(StoreError, match="exists; a backup never replaces a file"):
        store.backup(target)
    assert target.read_text() == "precious"


def test_a_file_that_appears_meanwhile_is_not_replaced(store: EmbeddedStore, tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"

    def write_target(_: int, __: int) -> None:
        target.write_text("precious")

    with pytest.raises(StoreError, match="exists; a backup never replaces a file"):
        store.backup(target, write_target)
    assert target.read_text() == "precious"
    assert not (tmp_path / "precious.txt.partial").exists()


def test_a_backup_into_nowhere_is_refused(store: EmbeddedStore, tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnly):
        store.backup(tmp_path / "nowhere" / "copy.db")


def test_a_closed_store_makes_no_backup(store: EmbeddedStore, tmp_path: Path) -> None:
    store.close()
    with pytest.raises(StoreClosed):
        store.backup(tmp_path / "copy.db")
