"""A file of the first format, which had no hashes of partitions, is brought to the one that is written now."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from partita import EmbeddedStore
from partita.expressions import KeyCondition
from partita.store import (
    CreateTable,
    DeleteItem,
    GetItem,
    IndexSchema,
    KeyAttribute,
    PutItem,
    QueryTable,
    ScanTable,
    TableSchema,
)
from partita.store.embedded.upkeep import replace_with_backup, unused

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
FORMER = """
    DROP INDEX key_1;
    DROP INDEX index_1;
    DROP INDEX index_2;
    ALTER TABLE items_1 DROP COLUMN hh;
    ALTER TABLE items_1 DROP COLUMN k1_h;
    CREATE UNIQUE INDEX key_1 ON items_1 (hk, rk);
    CREATE INDEX index_1 ON items_1 (k1_0, k1_1, k1_2, hk, rk) WHERE k1_0 IS NOT NULL;
    CREATE INDEX index_2 ON items_1 (hk, k2_0, rk) WHERE k2_0 IS NOT NULL;
    PRAGMA user_version = 1;
"""


def note(number: int) -> dict[str, object]:
    item: dict[str, object] = {"user": f"u{number % 7}", "at": number, "title": f"t{number}", "until": 4_000_000_000}
    return {**item, "state": "open", "team": f"team{number % 3}"} if number % 2 else item


@pytest.fixture
def former(tmp_path: Path) -> Path:
    """A file as the first format had it, with forty notes."""
    path = tmp_path / "former.db"
    with EmbeddedStore(path) as store:
        store.execute(CreateTable(NOTES))
        for number in range(40):
            store.execute(PutItem("notes", note(number)))
    connection = apsw.Connection(str(path))
    connection.execute(FORMER)
    connection.close()
    return path


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
    connection = apsw.Connection(str(former))
    assert connection.pragma("user_version") == 2
    connection.close()
    check(former)


def test_a_backup_of_it_can_be_restored(former: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with unused(path):
        replace_with_backup(former, path, 0.0)
    check(path)
