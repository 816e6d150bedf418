"""Bytes that change on the disk: every read is correct or reports damage, and none is wrong."""

from __future__ import annotations

import os
import random
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.embedded.flipping import (
    ITEMS,
    SCHEMA,
    copied,
    filled,
    flip,
    responses,
    without_the_last_commit,
    wrong,
)

from partita._sqlite import open_database
from partita.errors import StoreDamaged, StoreError
from partita.store import CreateTable, ScanTable
from partita.store.embedded import EmbeddedStore

ROUNDS = 60


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("flipped"))


def test_no_read_of_a_file_with_a_flipped_bit_is_wrong(files: Path, tmp_path: Path) -> None:
    right, rng, noticed = responses(copied(files, tmp_path, "live.db")), random.Random(1), 0
    assert len(right) == ITEMS + 8
    for _ in range(ROUNDS):
        path = copied(files, tmp_path, "live.db")
        flip(path, rng)
        found = responses(path)
        assert wrong(found, right) == []
        noticed += None in found or len(found) < len(right)
    assert noticed > ROUNDS / 2


def test_the_same_bits_give_wrong_reads_without_checksums(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prove that the test above can fail."""
    right, rng, found = responses(copied(files, tmp_path, "live.db")), random.Random(1), 0
    monkeypatch.setattr("partita._sqlite._database_file.file_system", lambda: "unix")
    for _ in range(ROUNDS):
        path = copied(files, tmp_path, "live.db")
        flip(path, rng)
        found += bool(wrong(responses(path), right))
    assert found > ROUNDS / 10


def test_a_file_that_ends_too_early_is_read_right_or_refused(files: Path, tmp_path: Path) -> None:
    """The file may also end in the middle of a page."""
    right, rng = responses(copied(files, tmp_path, "live.db")), random.Random(3)
    for _ in range(ROUNDS // 2):
        path = copied(files, tmp_path, "live.db")
        os.truncate(path, path.stat().st_size - rng.randrange(1, 3 * 4096))
        assert wrong(responses(path), right) == []


def test_a_log_with_a_flipped_bit_is_read_right_or_refused(files: Path, tmp_path: Path) -> None:
    """The log may also end before its last commit, like one whose last commit was never finished."""
    path = copied(files, tmp_path, "killed.db")
    right = responses(path)
    without_the_last = without_the_last_commit(files, tmp_path)
    rng = random.Random(2)
    for _ in range(ROUNDS):
        path = copied(files, tmp_path, "killed.db")
        flip(path.with_name("store.db-wal"), rng)
        found = responses(path)
        assert not found or wrong(found, right) == [] or wrong(found, without_the_last) == []


def test_what_is_checked_and_backed_up_meets_the_damage_too(files: Path, tmp_path: Path) -> None:
    path = copied(files, tmp_path, "live.db")
    path.write_bytes(path.read_bytes().replace(b"12 12 12 12", b"12 12 13 12"))
    with EmbeddedStore(path) as store:
        with pytest.raises(StoreDamaged, match="the checksum of a page does not match"):
            store.verify()
        with pytest.raises(StoreDamaged, match="the checksum of a page does not match"):
            store.backup(tmp_path / "copy.db")
        with pytest.raises(StoreDamaged, match="the checksum of a page does not match"), store.snapshot() as snapshot:
            snapshot.execute(ScanTable("notes"))
    assert not (tmp_path / "copy.db").exists()


def test_a_header_that_denies_its_checksums_is_damaged(files: Path, tmp_path: Path) -> None:
    path = copied(files, tmp_path, "live.db")
    content = bytearray(path.read_bytes())
    content[20] = 0
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match="it does not enable page checksums"):
        EmbeddedStore(path)


def test_every_page_of_a_large_copy_has_its_checksum(tmp_path: Path) -> None:
    """SQLite writes pages of a large copy before the header that enables their checksums."""
    with EmbeddedStore(tmp_path / "store.db", durable=False) as store:
        store.execute(CreateTable(SCHEMA))
        store._writer.connection.execute("CREATE TABLE filling (content)")
        store._writer.connection.executemany("INSERT INTO filling VALUES (zeroblob(?))", [(4_000,)] * 4_000)
        store.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").stat().st_size > 12 * 1024 * 1024
    with closing(open_database(str(tmp_path / "copy.db"))) as connection:
        assert connection.execute("SELECT sum(length(content)) FROM filling").get == 16_000_000


def test_a_file_with_checksums_is_not_written_without_them(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copied(files, tmp_path, "live.db")
    monkeypatch.setattr("partita._sqlite._database_file.file_system", lambda: None)
    with pytest.raises(StoreError, match="have checksums, which this process cannot maintain"):
        EmbeddedStore(path)
