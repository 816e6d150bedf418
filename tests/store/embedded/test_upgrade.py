"""Files of earlier formats are upgraded to the current one.

Format 1 had no hashes of partitions, format 2 no checksums of pages. In both and in format 3, SQLite numbered the
records of streams. Format 4 is the current one without checksums.
"""

from __future__ import annotations

import errno
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from partita import EmbeddedStore
from partita._sqlite import open_database, read_header
from partita.errors import StoreBusy
from partita.expressions import KeyCondition
from partita.store import (
    CreateTable,
    DeleteItem,
    DescribeStream,
    GetItem,
    IndexSchema,
    KeyAttribute,
    PutItem,
    QueryTable,
    ReadStream,
    ScanTable,
    TableSchema,
)
from partita.store.embedded.upkeep import replace_with_backup, unused
from partita.testing import FakeClock

NOTES = TableSchema(
    "notes",
    KeyAttribute("user"),
    KeyAttribute("at", "N"),
    indexes=(
        IndexSchema("by_state", (KeyAttribute("state"), KeyAttribute("team")), (KeyAttribute("at", "N"),)),
        IndexSchema("by_title", (KeyAttribute("user"),), (KeyAttribute("title"),), local=True),
    ),
    ttl="until",
    stream="NEW_IMAGE",
)
NUMBERED_BY_SQLITE = """
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY', 'PRIMARY KEY AUTOINCREMENT') WHERE name GLOB 'changes_*';
    INSERT INTO sqlite_sequence VALUES ('changes_1', 40);
    PRAGMA writable_schema = RESET;
    PRAGMA user_version = {};
"""
WITHOUT_HASHES = """
    DROP INDEX key_1;
    DROP INDEX index_1;
    DROP INDEX index_2;
    ALTER TABLE items_1 DROP COLUMN hh;
    ALTER TABLE items_1 DROP COLUMN k1_h;
    CREATE UNIQUE INDEX key_1 ON items_1 (hk, rk);
    CREATE INDEX index_1 ON items_1 (k1_0, k1_1, k1_2, hk, rk) WHERE k1_0 IS NOT NULL;
    CREATE INDEX index_2 ON items_1 (hk, k2_0, rk) WHERE k2_0 IS NOT NULL;
"""


def note(number: int) -> dict[str, object]:
    item: dict[str, object] = {"user": f"u{number % 7}", "at": number, "title": f"t{number}", "until": 4_000_000_000}
    return {**item, "state": "open", "team": f"team{number % 3}"} if number % 2 else item


@pytest.fixture
def without_checksums(tmp_path: Path) -> Path:
    """A file in format 4; an application with its own default VFS creates such files."""
    own = apsw.VFS("own", apsw.vfs_names()[0], makedefault=True)
    path = with_notes(tmp_path / "former.db")
    own.unregister()
    assert version_of(path) == (4, False)
    return path


@pytest.fixture
def first(without_checksums: Path) -> Path:
    """A file in format 1."""
    with closing(apsw.Connection(str(without_checksums))) as connection:
        connection.execute(WITHOUT_HASHES + NUMBERED_BY_SQLITE.format(1))
    return without_checksums


@pytest.fixture
def second(without_checksums: Path) -> Path:
    """A file in format 2."""
    with closing(apsw.Connection(str(without_checksums))) as connection:
        connection.execute(NUMBERED_BY_SQLITE.format(2))
    return without_checksums


@pytest.fixture
def third(tmp_path: Path) -> Path:
    """A file in format 3."""
    path = with_notes(tmp_path / "former.db")
    with closing(open_database(str(path))) as connection:
        connection.execute(NUMBERED_BY_SQLITE.format(3))
    assert version_of(path) == (3, True)
    return path


@pytest.fixture(params=["first", "second", "third"])
def former(request: pytest.FixtureRequest) -> Path:
    """A file in each of the earlier formats."""
    path: Path = request.getfixturevalue(request.param)
    return path


def with_notes(path: Path) -> Path:
    """A file with forty notes."""
    with EmbeddedStore(path) as store:
        store.execute(CreateTable(NOTES))
        for number in range(40):
            store.execute(PutItem("notes", note(number)))
    return path


def version_of(path: Path) -> tuple[int, bool]:
    header = read_header(str(path))
    assert header is not None
    return header.user_version, header.has_checksums


def check(path: Path) -> None:
    with EmbeddedStore(path) as store:
        store.verify()
        assert len(store.execute(ScanTable("notes")).items) == 40
        assert store.execute(GetItem("notes", {"user": "u3", "at": 3})).item == note(3)
        by_state = KeyCondition((("state", "open"), ("team", "team0")))
        found = store.execute(QueryTable("notes", by_state, index="by_state")).items
        assert [item["at"] for item in found] == [3, 9, 15, 21, 27, 33, 39]
        by_title = KeyCondition((("user", "u1"),))
        assert len(store.execute(QueryTable("notes", by_title, index="by_title")).items) == 6
        store.execute(DeleteItem("notes", {"user": "u3", "at": 3}))
        store.execute(PutItem("notes", note(3)))
        store.verify()


def test_it_is_brought_up_to_date_when_it_is_opened(former: Path) -> None:
    check(former)
    assert version_of(former) == (5, True)
    check(former)


def test_its_stream_goes_on_after_its_last_record(former: Path) -> None:
    with EmbeddedStore(former) as store:
        (shard,) = store.execute(DescribeStream("notes")).shards
        store.execute(PutItem("notes", note(40)))
        assert [record.sequence for record in store.execute(ReadStream("notes", shard.id, 39)).records] == [40, 41]
        store.split_shard("notes", shard.id)
        store.execute(PutItem("notes", note(41)))
        assert {each.start for each in store.execute(DescribeStream("notes")).shards} == {0, 41}
        store.verify()


def test_its_stream_goes_on_after_trimmed_records(former: Path) -> None:
    clock = FakeClock()
    clock.advance(10**9)
    with EmbeddedStore(former, clock=clock) as store:
        store.sweep()
        (shard,) = store.execute(DescribeStream("notes")).shards
        assert (shard.trimmed, store.execute(ReadStream("notes", shard.id)).records) == (40, [])
        store.execute(PutItem("notes", note(41)))
        assert [record.sequence for record in store.execute(ReadStream("notes", shard.id)).records] == [41]


def test_it_is_not_upgraded_while_a_process_of_an_earlier_version_uses_it(former: Path) -> None:
    before = version_of(former)
    with closing(open_database(str(former))) as other:
        assert other.execute("SELECT count(*) FROM items_1").get == 40
        with pytest.raises(StoreBusy, match=r"an earlier format, and a process has it open.*Stop it first"):
            EmbeddedStore(former)
        other.execute("UPDATE items_1 SET hk = hk")  # the process continues as before
        assert version_of(former) == before
    check(former)


def test_a_file_that_another_program_has_open_is_used_as_it_is(without_checksums: Path) -> None:
    with closing(apsw.Connection(str(without_checksums))) as other:
        assert other.execute("SELECT count(*) FROM items_1").get == 40
        check(without_checksums)
        assert version_of(without_checksums) == (4, False)
    check(without_checksums)
    assert version_of(without_checksums) == (5, True)


def test_a_file_of_which_no_copy_fits_on_the_disk_is_used_as_it_is(
    without_checksums: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("partita._sqlite._checksums.seal_pages", full)
        check(without_checksums)
    assert [file.name for file in without_checksums.parent.glob("*partial*")] == []
    check(without_checksums)
    assert version_of(without_checksums) == (5, True)


def test_a_backup_of_it_can_be_restored(former: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with unused(path):
        replace_with_backup(former, path, 0.0)
    check(path)
