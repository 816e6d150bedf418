"""Opening files: stores, newer and damaged stores, and other files. A file that is not a store is never changed."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest
from tests.store.embedded.support import BY_OWNER, TABLE, OpenStore, note, read

from partita._sqlite import open_database
from partita.errors import StoreClosed, StoreDamaged, StoreError, StoreNewer
from partita.store._requests import CreateTable, ListTables, ScanTable
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_what_was_written_is_there_after_opening_again(open_store: OpenStore) -> None:
    with open_store() as first:
        first.execute(CreateTable(TABLE))
        first.execute(note(1, text="kept"))
    assert read(open_store(), 1) == {"pk": "p", "sk": "000001", "text": "kept"}


def test_an_empty_file_becomes_a_store(path: Path, open_store: OpenStore) -> None:
    path.touch()
    assert open_store().execute(ListTables()) == ()


def test_a_text_file_is_refused_and_left_as_it_is(path: Path) -> None:
    path.write_text("not a database, " * 1_000)
    before = files_of(path.parent)
    with pytest.raises(StoreDamaged, match=r"notes\.db is not a database"):
        EmbeddedStore(path)
    assert before == files_of(path.parent)


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_another_programs_database_is_refused_and_left_as_it_is(path: Path, journal: str) -> None:
    other = apsw.Connection(str(path))
    other.pragma("journal_mode", journal)
    other.execute("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)")
    before = files_of(path.parent)
    with pytest.raises(StoreDamaged, match="not a Partita store"):
        EmbeddedStore(path)
    assert before == files_of(path.parent)
    other.close()


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(path: Path) -> None:
    EmbeddedStore(path).close()
    connection = open_database(str(path))
    connection.pragma("user_version", 6)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreNewer, match="has format 6; this version supports 5"):
        EmbeddedStore(path)
    assert before == path.read_bytes()


def test_a_damaged_catalog_is_refused_and_left_as_it_is(store: EmbeddedStore, path: Path) -> None:
    store.close()
    damaged = path.read_bytes()[:4_096] + b"\xaa" * 8_192
    path.write_bytes(damaged)
    with pytest.raises(StoreDamaged, match=r"notes\.db is damaged"):
        EmbeddedStore(path)
    assert damaged == path.read_bytes()


@pytest.mark.parametrize(
    "damage",
    ["DELETE FROM indexes", "DROP TABLE streams", "UPDATE tables SET definition = '{}'", "DROP TABLE store"],
)
def test_a_catalog_whose_parts_do_not_fit_is_refused(open_store: OpenStore, path: Path, damage: str) -> None:
    with open_store() as store:
        store.execute(CreateTable(TableSchema("notes", TABLE.hash, TABLE.range, (BY_OWNER,))))
    connection = open_database(str(path))
    connection.execute(damage)
    connection.close()
    with pytest.raises(StoreDamaged, match=r"The catalog of the store .*notes\.db is damaged"):
        EmbeddedStore(path)


def test_damage_among_the_items_is_named_when_it_is_met(store: EmbeddedStore, path: Path) -> None:
    for number in range(100):
        store.execute(note(number, text="x" * 500))
    store.close()
    content = path.read_bytes()
    path.write_bytes(content[:-40_960] + b"\xaa" * 40_960)
    with EmbeddedStore(path) as again, pytest.raises(StoreDamaged, match="damaged"):
        again.verify()


def test_a_folder_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        EmbeddedStore(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list open files")
def test_an_opening_that_failed_leaves_no_file_open(store: EmbeddedStore, path: Path) -> None:
    store._writer.connection.execute("DROP TABLE streams")
    store.close()
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(StoreDamaged):
        EmbeddedStore(path)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list open files")
def test_a_store_that_is_dropped_leaves_no_file_open(path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        EmbeddedStore(path, durable=False).execute(ListTables())
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"The folder of .* does not exist"):
        EmbeddedStore(tmp_path / "nowhere" / "notes.db")


def test_a_closed_store_refuses_everything(store: EmbeddedStore) -> None:
    read(store, 1)
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        read(store, 1)
    with pytest.raises(StoreClosed):
        store.execute(note(1))


def test_closing_leaves_one_file_beside_the_locks(store: EmbeddedStore, path: Path) -> None:
    store.execute(note(1))
    store.close()
    assert {"notes.db", "notes.db.lock", "notes.db.turn"} == set(files_of(path.parent))


def test_something_that_is_not_a_request_is_refused(store: EmbeddedStore) -> None:
    with pytest.raises(TypeError, match="str is not a request"):
        store.execute("SELECT 1")  # type: ignore[arg-type]


def test_closing_reaches_every_thread(store: EmbeddedStore) -> None:
    working = threading.Barrier(7)

    def work(number: int) -> str:
        store.execute(note(number))
        working.wait()
        try:
            while True:
                store.execute(note(number) if number % 2 else ScanTable("notes"))
        except StoreError as error:
            return error.code

    with ThreadPoolExecutor(6) as threads:
        endings = [threads.submit(work, number) for number in range(6)]
        working.wait()
        store.close()
    assert {ending.result() for ending in endings} == {"store_closed"}
