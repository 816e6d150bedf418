"""Files on a full disk, read-only or held by another program: the error names the cause, and no data is lost."""

from __future__ import annotations

import errno
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from tests.store.embedded.support import note, read

from partita._sqlite import translated
from partita.errors import StoreBusy, StoreFull
from partita.store import TableNames, named_store, write_troubles
from partita.store.embedded import EmbeddedStore, _store


def test_a_full_disk_refuses_the_write_and_keeps_the_rest(store: EmbeddedStore) -> None:
    store.execute(note(0))
    writer = store._writer.connection
    writer.pragma("max_page_count", writer.pragma("page_count") + 4)
    with pytest.raises(StoreFull, match="no space is left"):
        store.execute(note(1, text="x" * 100_000))
    assert read(store, 0) == {"pk": "p", "sk": "000000"}
    writer.pragma("max_page_count", 1_000_000)
    store.execute(note(1, text="fits again"))
    store.verify()


def refused(store: EmbeddedStore) -> None:
    """Have a write refused for lack of space."""
    writer = store._writer.connection
    writer.pragma("max_page_count", writer.pragma("page_count") + 4)
    with pytest.raises(StoreFull):
        store.execute(note(1, text="x" * 100_000))
    writer.pragma("max_page_count", 1_000_000)


def test_a_store_knows_that_its_disk_is_full_until_there_is_space(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    assert write_troubles(store) == {}
    refused(store)
    named = named_store(store, TableNames(prefix="dev-"))
    with monkeypatch.context() as patched:
        patched.setattr(_store, "try_disk", full)
        assert write_troubles(store) == write_troubles(named) == {"writes": "store_full"}
    assert write_troubles(store) == write_troubles(named) == {}


def test_a_store_does_not_write_to_a_disk_that_never_refused_data(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Path] = []
    monkeypatch.setattr(_store, "try_disk", tried.append)
    write_troubles(store)
    refused(store)
    write_troubles(store)
    write_troubles(store)
    assert tried == [Path(store.path).parent]


def test_a_store_that_cannot_be_opened_on_a_full_disk_says_so() -> None:
    error = apsw.IOError("disk I/O error")
    setattr(error, "extendedresult", apsw.SQLITE_IOERR_SHMSIZE)  # noqa: B010 - apsw does not declare it
    found = translated(error, "a.db")
    assert (type(found), found.message) == (
        StoreFull,
        "The store a.db cannot be opened: no space is left (disk I/O error).",
    )


@pytest.fixture
def others_folder() -> Iterator[Path]:
    """A folder that other users may read, unlike pytest's temporary folders."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def open_unprivileged(path: Path) -> str:
    """Open the path as an unprivileged user; return the error's code, and whether its message names the path."""
    script = f"""
import logging  # imported here because the unprivileged user may be unable to read Python's own files
import os
from partita._sqlite import file_system
from partita.errors import StoreError
from partita.store.embedded import EmbeddedStore
file_system()  # loads the extension for the same reason
if os.geteuid() == 0:
    os.setuid(65534)
try:
    EmbeddedStore({str(path)!r})
except StoreError as error:
    print(error.code, {str(path)!r} in str(error))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_read_only_folder_is_named(others_folder: Path) -> None:
    others_folder.chmod(0o555)
    assert open_unprivileged(others_folder / "notes.db") == "store_read_only True"
    assert list(others_folder.iterdir()) == []


def test_a_read_only_file_is_named(others_folder: Path) -> None:
    path = others_folder / "notes.db"
    EmbeddedStore(path).close()
    for file in others_folder.iterdir():
        file.chmod(0o444 if file == path else 0o666)
    others_folder.chmod(0o777)
    assert open_unprivileged(path) == "store_read_only True"


def test_a_file_that_another_program_writes_to_is_busy(store: EmbeddedStore, path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    store._writer.connection.set_busy_timeout(1)
    with pytest.raises(StoreBusy, match="held by another program"):
        store.execute(note(1))
    other.execute("ROLLBACK")
    other.close()
    store.execute(note(1))
