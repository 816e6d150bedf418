"""Bytes that change on the disk: every read is right or says that the store is damaged, and none is wrong."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.store.embedded.support import BY_OWNER, TABLE, note

from partita._sqlite import open_database
from partita.errors import StoreDamaged, StoreError, StoreNewer
from partita.expressions import KeyCondition
from partita.store import (
    BatchGetItem,
    CreateTable,
    DescribeStream,
    GetItem,
    QueryTable,
    ReadStream,
    Request,
    ScanTable,
    TransactGetItems,
)
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore

ITEMS = 60
ROUNDS = 60
SCHEMA = TableSchema(TABLE.name, TABLE.hash, TABLE.range, (BY_OWNER,), stream="NEW_AND_OLD_IMAGES")


def keys() -> list[dict[str, str]]:
    return [{"pk": "p", "sk": f"{number:06}"} for number in range(ITEMS)]


def reads(store: EmbeddedStore) -> Iterator[Request[Any]]:
    """Every way in which an item, an index or a stream is read."""
    gets = tuple(GetItem("notes", key) for key in keys())
    yield from gets
    yield BatchGetItem(gets)
    yield TransactGetItems(gets)
    yield QueryTable("notes", KeyCondition((("pk", "p"),)))
    yield ScanTable("notes")
    yield QueryTable("notes", KeyCondition((("owner", "o1"),)), index="by-owner")
    yield ScanTable("notes", index="by-owner")
    yield DescribeStream("notes")
    [shard] = store.execute(DescribeStream("notes")).shards
    yield ReadStream("notes", shard.id, 0, 100)


def answers(path: Path) -> list[object]:
    """What each read gives; one that meets damage gives None."""
    found: list[object] = []
    try:
        with EmbeddedStore(path) as store:
            for request in reads(store):
                try:
                    found.append(store.execute(request))
                except StoreDamaged:
                    found.append(None)
    except (StoreDamaged, StoreNewer):  # it cannot be opened, or a stream not be described
        pass
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that is half in its file and half in its log, as a killed process leaves it."""
    folder = tmp_path_factory.mktemp("flipped")
    with EmbeddedStore(folder / "live.db") as store:
        store.execute(CreateTable(SCHEMA))
        store._writer.connection.pragma("wal_autocheckpoint", 0)
        for number in range(ITEMS):
            store.execute(note(number, owner=f"o{number % 3}", rank=number, text=f"{number} " * 40))
            if number == ITEMS // 2:
                store._writer.connection.pragma("wal_checkpoint", "TRUNCATE")
        for part in ("", "-wal"):
            shutil.copy(folder / f"live.db{part}", folder / f"killed.db{part}")
    return folder


def copied(files: Path, folder: Path, name: str) -> Path:
    path = folder / "store.db"
    for part in ("", "-wal"):
        path.with_name(f"store.db{part}").unlink(missing_ok=True)
        if (files / f"{name}{part}").exists():
            shutil.copy(files / f"{name}{part}", folder / f"store.db{part}")
    return path


def flip(file: Path, rng: random.Random) -> None:
    content = bytearray(file.read_bytes())
    position = rng.randrange(len(content))
    content[position] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def wrong(found: list[object], right: list[object]) -> list[object]:
    return [each for each, expected in zip(found, right, strict=False) if each is not None and each != expected]


def test_no_read_of_a_file_with_a_flipped_bit_is_wrong(files: Path, tmp_path: Path) -> None:
    right, rng, noticed = answers(copied(files, tmp_path, "live.db")), random.Random(1), 0
    assert len(right) == ITEMS + 8
    for _ in range(ROUNDS):
        path = copied(files, tmp_path, "live.db")
        flip(path, rng)
        found = answers(path)
        assert wrong(found, right) == []
        noticed += None in found or len(found) < len(right)
    assert noticed > ROUNDS / 2


def test_the_same_bits_give_wrong_reads_without_checksums(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the test above can fail."""
    right, rng, found = answers(copied(files, tmp_path, "live.db")), random.Random(1), 0
    monkeypatch.setattr("partita._sqlite._database_file.file_system", lambda: "unix")
    for _ in range(ROUNDS):
        path = copied(files, tmp_path, "live.db")
        flip(path, rng)
        found += bool(wrong(answers(path), right))
    assert found > ROUNDS / 10


def test_a_log_with_a_flipped_bit_is_read_right_or_refused(files: Path, tmp_path: Path) -> None:
    """Or it ends before its last commit, which looks like one that was never finished."""
    path = copied(files, tmp_path, "killed.db")
    right = answers(path)
    without_the_last = _without_the_last_commit(files, tmp_path)
    rng = random.Random(2)
    for _ in range(ROUNDS):
        path = copied(files, tmp_path, "killed.db")
        flip(path.with_name("store.db-wal"), rng)
        found = answers(path)
        assert not found or wrong(found, right) == [] or wrong(found, without_the_last) == []


def _without_the_last_commit(files: Path, folder: Path) -> list[object]:
    path = copied(files, folder, "killed.db")
    log = path.with_name("store.db-wal")
    log.write_bytes(log.read_bytes()[:-1])
    return answers(path)


def test_what_is_checked_and_backed_up_meets_the_damage_too(files: Path, tmp_path: Path) -> None:
    path = copied(files, tmp_path, "live.db")
    path.write_bytes(path.read_bytes().replace(b"12 12 12 12", b"12 12 13 12"))
    with EmbeddedStore(path) as store:
        with pytest.raises(StoreDamaged, match="is not what was written"):
            store.verify()
        with pytest.raises(StoreDamaged, match="is not what was written"):
            store.backup(tmp_path / "copy.db")
        with pytest.raises(StoreDamaged, match="is not what was written"), store.snapshot() as snapshot:
            snapshot.execute(ScanTable("notes"))
    assert not (tmp_path / "copy.db").exists()


def test_a_header_that_denies_its_checksums_is_damaged(files: Path, tmp_path: Path) -> None:
    path = copied(files, tmp_path, "live.db")
    content = bytearray(path.read_bytes())
    content[20] = 0
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match="its pages should have checksums"):
        EmbeddedStore(path)


def test_every_page_of_a_large_copy_has_its_checksum(tmp_path: Path) -> None:
    """SQLite writes pages of a large copy before the header that says that they have one."""
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
    with pytest.raises(StoreError, match="have checksums, which cannot be kept here"):
        EmbeddedStore(path)
