"""Damaged items: requests that read them get an error, and other requests do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import apsw
import pytest
from tests.store.embedded.support import BY_OWNER, TABLE, Clock, enqueue, note, read

from partita.errors import StoreDamaged
from partita.expressions._ast import KeyCondition, SetAction, Update, Value
from partita.expressions._ast import Path as At
from partita.store._requests import (
    BatchGetItem,
    CreateTable,
    DeleteItem,
    DescribeStream,
    GetItem,
    QueryTable,
    ReadStream,
    Request,
    ScanTable,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
)
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore

KEY = {"pk": "p", "sk": "000001"}
GET = GetItem("notes", KEY)
RENAME = UpdateItem("notes", KEY, Update(sets=(SetAction(At(("text",)), Value("new")),)))


@pytest.fixture
def store(path: Path, clock: Clock) -> Iterator[EmbeddedStore]:
    schema = TableSchema("notes", TABLE.hash, TABLE.range, (BY_OWNER,), stream="NEW_AND_OLD_IMAGES")
    with EmbeddedStore(path, durable=False, clock=clock) as store:
        store.execute(CreateTable(schema))
        store.execute(note(1, owner="o", rank=1, text="a text", price=Decimal("1.25"), tags={"a", "b"}))
        yield store


def damage(path: Path, before: bytes, after: bytes) -> None:
    """Change bytes of the item and of its stream record, as a failing disk would."""
    connection = apsw.Connection(str(path))
    item: bytes = connection.execute("SELECT item FROM items_1").get
    assert before in item
    for statement in ("UPDATE items_1 SET item = ?", "UPDATE changes_1 SET new = ?"):
        connection.execute(statement, (item.replace(before, after),))
    connection.close()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"a text", b"\xff text", id="no UTF-8"),
        pytest.param(b"1.25", b"1.x5", id="no number"),
        pytest.param(b"1.25", b"\xff.25", id="no digits"),
        pytest.param(b"\x92\xa1a\xa1b", b"\x92\xa1a\x81b", id="a set with a map in it"),
        pytest.param(b"\x92\xa1a\xa1b", b"\xa4aaab", id="a set that is a text"),
        pytest.param(b"\x01" + b"1.25", b"\x77" + b"1.25", id="no known extension"),
        pytest.param(b"\xa2pk", b"\xa3pk", id="shifted"),
        pytest.param(b"\x87", b"\x97", id="a list"),
        pytest.param(b"\xa2pk", b"\x02\x02\x02", id="a name that is a number"),
    ],
)
def test_an_item_that_cannot_be_read_is_damage(store: EmbeddedStore, path: Path, before: bytes, after: bytes) -> None:
    damage(path, before, after)
    with pytest.raises(StoreDamaged, match=r"notes\.db is damaged: its content cannot be decoded"):
        store.execute(GET)


def read_stream(store: EmbeddedStore) -> object:
    [shard] = store.execute(DescribeStream("notes")).shards
    return store.execute(ReadStream("notes", shard.id, 0, 10))


USES: list[Callable[[EmbeddedStore], object]] = [
    lambda store: store.execute(GET),
    lambda store: store.execute(BatchGetItem((GET,))),
    lambda store: store.execute(TransactGetItems((GET,))),
    lambda store: store.execute(QueryTable("notes", KeyCondition((("pk", "p"),)))),
    lambda store: store.execute(QueryTable("notes", KeyCondition((("pk", "p"),)), count_only=True)),
    lambda store: store.execute(QueryTable("notes", KeyCondition((("owner", "o"),)), index="by-owner")),
    lambda store: store.execute(ScanTable("notes")),
    lambda store: store.execute(note(1)),
    lambda store: store.execute(RENAME),
    lambda store: store.execute(DeleteItem("notes", KEY)),
    lambda store: store.execute(TransactWriteItems((RENAME,))),
    read_stream,
    lambda store: store.verify(),
]


@pytest.mark.parametrize("use", USES)
def test_who_meets_damage_gets_an_error(
    store: EmbeddedStore, path: Path, use: Callable[[EmbeddedStore], object]
) -> None:
    damage(path, b"a text", b"\xff text")
    with pytest.raises(StoreDamaged, match=r"notes\.db is damaged"):
        use(store)
    store.execute(note(2))
    assert read(store, 2) is not None


@pytest.mark.parametrize("value", ["5", "NULL", "'text'", "1.5"])
@pytest.mark.parametrize("use", USES)
def test_an_item_that_is_not_bytes_is_damage(
    store: EmbeddedStore, path: Path, use: Callable[[EmbeddedStore], object], value: str
) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA writable_schema = ON")
    for name in ("items_1", "changes_1"):
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE name = ?", (name,))
    connection.close()
    connection = apsw.Connection(str(path))
    connection.execute(f"UPDATE items_1 SET item = {value}; UPDATE changes_1 SET keys = {value}")  # noqa: S608
    connection.close()
    with pytest.raises(StoreDamaged):
        use(store)


def test_those_who_share_a_commit_with_who_meets_damage_are_not_disturbed(store: EmbeddedStore, path: Path) -> None:
    damage(path, b"a text", b"\xff text")
    requests: list[Request[object]] = [note(2), RENAME, note(3)]
    writes = enqueue(store, *requests)
    store.execute(note(4))
    assert [type(write.error) for write in writes] == [type(None), StoreDamaged, type(None)]
    assert all(read(store, number) is not None for number in (2, 3, 4))


def test_a_catalog_that_is_not_text_is_damage(store: EmbeddedStore, path: Path) -> None:
    store.close()
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE tables SET definition = CAST(x'ff' AS TEXT)")
    connection.close()
    with pytest.raises(StoreDamaged, match=r"The catalog of the store .*notes\.db is damaged"):
        EmbeddedStore(path)


def test_an_error_of_the_callers_own_is_not_damage(
    store: EmbeddedStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def decode(*_: object) -> None:
        b"\xff".decode()

    def parse(_: Clock) -> float:
        return float("yesterday")

    with pytest.raises(UnicodeDecodeError):
        store.backup(path.with_name("copy.db"), progress=decode)
    monkeypatch.setattr(Clock, "__call__", parse)
    with pytest.raises(ValueError, match="yesterday"):
        store.execute(RENAME)
