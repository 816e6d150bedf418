"""File modes of stores, queues, projections and backups: only the owner has access, from the first byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.embedded.support import TABLE, note

from partita.change import SqliteProjection
from partita.errors import StoreError
from partita.queue import Send, open_queue
from partita.store._requests import CreateTable
from partita.store.embedded import EmbeddedStore
from partita.store.embedded.upkeep import replace_with_backup, unused

pytestmark = pytest.mark.skipif(os.name != "posix", reason="has no modes")


@pytest.fixture(autouse=True)
def no_umask() -> Iterator[None]:
    """Set the umask to 0, so that only the library restricts access."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """Return the mode of each file that is accessible to others than its owner."""
    found = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    return {name: oct(mode) for name, mode in found.items() if mode & 0o077}


def filled(path: Path) -> EmbeddedStore:
    store = EmbeddedStore(path)
    store.execute(CreateTable(TABLE))
    store.execute(note(1))
    return store


def test_a_store_in_use_is_its_owners_alone(path: Path) -> None:
    with filled(path):
        names = {file.name for file in path.parent.iterdir()}
        assert {"notes.db", "notes.db-wal", "notes.db-shm", "notes.db.lock", "notes.db.turn"} == names
        assert modes(path.parent) == {}


def test_a_queue_in_use_is_its_owners_alone(tmp_path: Path) -> None:
    with closing(open_queue(tmp_path, "work")) as queue:
        queue.execute(Send("body", "group", "id"))
        assert (len(list(tmp_path.iterdir())), modes(tmp_path)) == (5, {})


def test_a_projection_in_use_is_its_owners_alone(path: Path) -> None:
    with closing(SqliteProjection(path, tables="CREATE TABLE t (a)", apply=lambda *_: None)):
        assert (len(list(path.parent.iterdir())), modes(path.parent)) == (3, {})


def test_a_backup_is_its_owners_alone_while_it_is_made_and_after(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "backups" / "copy.db"
    target.parent.mkdir()
    seen: list[dict[str, str]] = []
    with filled(path) as store:
        store.backup(target, lambda *_: seen.append(modes(target.parent)))
    assert (len(seen) > 0, any(seen), modes(target.parent)) == (True, False, {})
    assert [file.name for file in target.parent.iterdir()] == ["copy.db"]


def test_what_a_restore_puts_in_place_and_keeps_is_its_owners_alone(path: Path, tmp_path: Path) -> None:
    with filled(path) as store:
        store.backup(tmp_path / "copy.db")
    path.chmod(0o644)
    with unused(path):
        replace_with_backup(tmp_path / "copy.db", path, 1.0)
    assert modes(tmp_path) == {}


def test_files_of_an_earlier_version_are_closed_to_others(path: Path) -> None:
    filled(path).close()
    for file in path.parent.iterdir():
        file.chmod(0o644)
    with EmbeddedStore(path):
        assert modes(path.parent) == {}


def test_a_store_is_not_made_where_a_link_points(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(StoreError, match="is a link to nothing"):
        EmbeddedStore(path)
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_planted_lock_is_not_followed(path: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.db.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        EmbeddedStore(path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_backup_does_not_follow_a_link(path: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db").symlink_to(tmp_path / "elsewhere.db")
    with filled(path) as store, pytest.raises(StoreError, match="is a link; a backup never replaces a file"):
        store.backup(tmp_path / "copy.db")
    assert not (tmp_path / "elsewhere.db").exists()


@pytest.mark.parametrize("planted", ["file", "link"])
def test_a_backup_writes_to_nothing_that_waits_for_it(planted: str, path: Path, tmp_path: Path) -> None:
    waiting, elsewhere = tmp_path / "copy.db.partial", tmp_path / "elsewhere.db"
    elsewhere.touch()
    waiting.touch() if planted == "file" else waiting.symlink_to(elsewhere)
    with filled(path) as store:
        store.backup(tmp_path / "copy.db")
    assert (waiting.stat().st_size, elsewhere.stat().st_size) == (0, 0)
    EmbeddedStore(tmp_path / "copy.db").close()


def test_a_restore_does_not_follow_a_link(path: Path, tmp_path: Path) -> None:
    with filled(path) as store:
        store.backup(tmp_path / "copy.db")
    elsewhere = tmp_path / "elsewhere.db"
    elsewhere.touch()
    (tmp_path / "notes.db.restoring").symlink_to(elsewhere)
    with unused(path):
        replace_with_backup(tmp_path / "copy.db", path, 1.0)
    assert (elsewhere.stat().st_size, path.is_symlink()) == (0, False)
