"""Projections on SQLite: a batch, its positions and the changes that are set aside are committed together."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.change.meddling import MeddlingStore
from tests.change.model import SHARD, TABLE, Task, User, item_of, operations, play, stored

from partita import EmbeddedStore, Session, batch_write, delete, put
from partita.change import Consumer, ItemChange, SqliteProjection, _projection
from partita.errors import InvalidItem, ModelError, StoreDamaged, StoreError
from partita.store import PutItem
from partita.testing import Crash

TABLES = """
    CREATE TABLE counts (status TEXT PRIMARY KEY, tasks INTEGER NOT NULL);
    CREATE VIRTUAL TABLE titles USING fts5 (key UNINDEXED, title);
    CREATE VIEW busy AS SELECT status FROM counts WHERE tasks > 1;
"""


def count(connection: apsw.Connection, change: ItemChange) -> None:
    """Count tasks by status, up and down."""
    if change.entity is not Task:
        return
    if change.old is not None:
        connection.execute("UPDATE counts SET tasks = tasks - 1 WHERE status = ?", (change.old.status.value,))
    if change.new is not None:
        values = (change.new.status.value,)
        connection.execute("INSERT INTO counts VALUES (?, 1) ON CONFLICT DO UPDATE SET tasks = tasks + 1", values)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "projection.db"


@pytest.fixture
def projection(path: Path) -> Iterator[SqliteProjection]:
    projection = SqliteProjection(path, tables=TABLES, apply=count)
    yield projection
    projection.close()


def counted(projection: SqliteProjection) -> dict[str, int]:
    return dict(projection.read("SELECT status, tasks FROM counts WHERE tasks <> 0"))


def truth(store: EmbeddedStore) -> dict[str, int]:
    """Return the correct counts, from the stored tasks."""
    tasks = [item for item in stored(store) if Task.__entity__.owns(item)]
    return dict(Counter(item["status"] for item in tasks))


def without_poison(script: Iterator[PutItem]) -> Iterator[PutItem]:
    return (
        request for request in script if not isinstance(request, PutItem) or request.item.get("estimate") != "no number"
    )


@pytest.mark.req("T16", "T17")
@pytest.mark.parametrize("seed", range(5))
def test_counts_equal_the_truth_after_any_writes(
    seed: int, store: EmbeddedStore, db: Session, projection: SqliteProjection
) -> None:
    rng = random.Random(seed)
    script = without_poison(operations(rng))  # type: ignore[arg-type]

    def write() -> None:
        for _ in range(rng.randrange(6)):
            store.execute(next(script))

    for _ in range(10):
        write()
    consumer = Consumer(MeddlingStore(store, write), TABLE, projection, batch=7)
    for _ in range(40):  # it loads, then follows, while others write
        consumer.step()
    Consumer(store, TABLE, projection).catch_up()
    assert counted(projection) == truth(store)
    store.sweep()
    Consumer(store, TABLE, projection).catch_up()
    assert counted(projection) == truth(store)


@pytest.mark.parametrize("seed", range(5))
def test_a_crash_in_the_middle_of_a_batch_counts_nothing_twice(
    seed: int, store: EmbeddedStore, db: Session, path: Path
) -> None:
    rng = random.Random(seed)
    script = without_poison(operations(rng))  # type: ignore[arg-type]

    def crashing(connection: apsw.Connection, change: ItemChange) -> None:
        count(connection, change)
        if rng.random() < 0.02:
            raise Crash

    crashes = 0
    for _ in range(30):
        for _ in range(20):
            store.execute(next(script))
        projection = SqliteProjection(path, tables=TABLES, apply=crashing)
        try:
            Consumer(store, TABLE, projection, batch=10).catch_up()
        except Crash:
            crashes += 1
        finally:
            projection.close()
    projection = SqliteProjection(path, tables=TABLES, apply=count)
    Consumer(store, TABLE, projection).catch_up()
    assert counted(projection) == truth(store)
    assert crashes > 3
    projection.close()


def test_what_does_not_fit_is_set_aside_with_its_reason(
    store: EmbeddedStore, db: Session, projection: SqliteProjection
) -> None:
    consumer = Consumer(store, TABLE, projection)
    consumer.step()
    db.run(put(Task(user_id="u", task_id="1")))
    bad = {**item_of(Task(user_id="u", task_id="2")), "estimate": "many"}
    store.execute(PutItem(TABLE.name, bad))
    db.run(put(Task(user_id="u", task_id="3")))
    consumer.step()
    assert counted(projection) == {"open": 2}
    (aside,) = projection.set_aside()
    assert (aside.kind, aside.keys, aside.shard, aside.sequence) == (
        "insert",
        {"PK": "TASK#u", "SK": "TASK#2"},
        SHARD,
        2,
    )
    assert "estimate" in aside.reason
    assert projection.positions() == {SHARD: 3}


def test_changes_share_a_way_back_until_one_does_not_fit(
    store: EmbeddedStore, db: Session, projection: SqliteProjection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_projection, "_TOGETHER", 5)
    db.run(batch_write([put(Task(user_id="u", task_id=f"{number:02}")) for number in range(20)]))
    ways: list[str] = []

    def traced(_: object, sql: str, __: object) -> bool:
        ways.append(sql)
        return True

    projection._connection.exec_trace = traced
    Consumer(store, TABLE, projection).rebuild()
    assert sum("SAVEPOINT" in sql and "RELEASE" not in sql for sql in ways) == 20 / 5
    ways.clear()
    store.execute(PutItem(TABLE.name, {**item_of(Task(user_id="u", task_id="07")), "estimate": "no number"}))
    Consumer(store, TABLE, projection).rebuild()
    assert len(projection.set_aside()) == 1
    assert sum(counted(projection).values()) == 19
    taken = [sql for sql in ways if "SAVEPOINT" in sql and "RELEASE" not in sql and "ROLLBACK" not in sql]
    assert len(taken) == 2 + 20 / 5 + 5  # the change: 2; all items: groups of 5, and one group item by item


def test_what_was_done_for_a_change_that_is_set_aside_is_undone(store: EmbeddedStore, db: Session, path: Path) -> None:
    def half(connection: apsw.Connection, change: ItemChange) -> None:
        connection.execute("INSERT INTO seen VALUES (?)", (change.sequence,))
        if change.sequence == 2:
            raise InvalidItem("no", item={})

    projection = SqliteProjection(path, tables="CREATE TABLE seen (sequence INTEGER)", apply=half)
    consumer = Consumer(store, TABLE, projection)
    consumer.step()
    for number in range(3):
        db.run(put(Task(user_id="u", task_id=f"{number}")))
    consumer.step()
    assert projection.read("SELECT sequence FROM seen") == [(1,), (3,)]
    projection.close()


def test_any_other_error_stops_and_keeps_nothing_of_the_batch(store: EmbeddedStore, db: Session, path: Path) -> None:
    def broken(connection: apsw.Connection, change: ItemChange) -> None:
        count(connection, change)
        if change.sequence == 2:
            raise ZeroDivisionError

    projection = SqliteProjection(path, tables=TABLES, apply=broken)
    consumer = Consumer(store, TABLE, projection)
    consumer.step()
    for number in range(3):
        db.run(put(Task(user_id="u", task_id=f"{number}")))
    with pytest.raises(ZeroDivisionError):
        consumer.step()
    assert (counted(projection), projection.positions(), projection.set_aside()) == ({}, {SHARD: 0}, [])
    projection.close()


def test_a_batch_that_comes_again_is_passed_over(
    store: EmbeddedStore, db: Session, projection: SqliteProjection, path: Path
) -> None:
    Consumer(store, TABLE, projection).step()
    db.run(put(Task(user_id="u", task_id="1")))
    second = SqliteProjection(path, tables=TABLES, apply=count)
    late = Consumer(store, TABLE, second)
    late.lag()  # it has read the position of the projection
    Consumer(store, TABLE, projection).catch_up()
    late.catch_up()
    assert counted(projection) == {"open": 1}
    second.close()


def test_it_goes_on_where_it_was(store: EmbeddedStore, db: Session, path: Path) -> None:
    for number in range(3):
        db.run(put(Task(user_id="u", task_id=f"{number}")))
        projection = SqliteProjection(path, tables=TABLES, apply=count)
        assert Consumer(store, TABLE, projection).catch_up() == 1
        assert counted(projection) == {"open": number + 1}
        projection.close()


CHANGED = {"tables": {"tables": TABLES + "CREATE TABLE more (x)", "version": 1}, "version": {"version": 2}}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED.keys())
def test_a_changed_declaration_starts_over(
    changed: dict[str, object], store: EmbeddedStore, db: Session, projection: SqliteProjection, path: Path
) -> None:
    play(store, random.Random(1), 100)
    Consumer(store, TABLE, projection).catch_up()
    projection.close()
    renewed = SqliteProjection(path, **{"tables": TABLES, "apply": count, **changed})  # type: ignore[arg-type]
    assert (renewed.positions(), counted(renewed)) == ({}, {})
    Consumer(store, TABLE, renewed).catch_up()
    assert renewed.positions()
    renewed.close()


def test_a_rebuild_replaces_everything(store: EmbeddedStore, db: Session, projection: SqliteProjection) -> None:
    consumer = Consumer(store, TABLE, projection)
    db.run(put(Task(user_id="u", task_id="1")))
    bad = {**item_of(Task(user_id="u", task_id="2")), "estimate": "many"}
    store.execute(PutItem(TABLE.name, bad))
    consumer.catch_up()
    assert len(projection.set_aside()) == 1
    store.execute(PutItem(TABLE.name, item_of(Task(user_id="u", task_id="2"))))
    consumer.rebuild()
    assert (counted(projection), projection.set_aside()) == ({"open": 2}, [])


def test_it_is_read_from_any_thread(store: EmbeddedStore, db: Session, projection: SqliteProjection) -> None:
    db.run(put(Task(user_id="u", task_id="1")))
    db.run(put(User(user_id="u")))
    Consumer(store, TABLE, projection).catch_up()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: counted(projection), range(20))) == [{"open": 1}] * 20


def test_the_way_back_of_a_statement_is_not_written_to_a_file(store: EmbeddedStore, db: Session, path: Path) -> None:
    places: list[int] = []

    def note(connection: apsw.Connection, _: ItemChange) -> None:
        places.append(connection.pragma("temp_store"))

    db.run(put(User(user_id="u1")))
    with closing(SqliteProjection(path, tables=TABLES, apply=note)) as projection:
        Consumer(store, TABLE, projection).catch_up()
    assert set(places) == {2}  # SQLite's number for memory


def test_reading_cannot_write(projection: SqliteProjection) -> None:
    with pytest.raises(StoreError):
        projection.read("DELETE FROM counts")


def test_a_removed_item_is_counted_down(store: EmbeddedStore, db: Session, projection: SqliteProjection) -> None:
    consumer = Consumer(store, TABLE, projection)
    db.run(put(Task(user_id="u", task_id="1")))
    consumer.catch_up()
    db.run(delete(Task(user_id="u", task_id="1")))
    consumer.catch_up()
    assert counted(projection) == {}


def test_what_was_removed_is_in_no_file(store: EmbeddedStore, db: Session, path: Path) -> None:
    """It is not in the row, nor in the words of the full-text index, nor in the log."""

    def titles(connection: apsw.Connection, change: ItemChange) -> None:
        connection.execute("DELETE FROM titles WHERE key = ?", (change.keys["SK"],))
        if change.new is not None:
            connection.execute("INSERT INTO titles VALUES (?, ?)", (change.keys["SK"], change.new.title))

    def files() -> list[str]:
        return [file.name for file in path.parent.iterdir() if b"planted" in file.read_bytes().lower()]

    projection = SqliteProjection(path, tables=TABLES, apply=titles)
    consumer = Consumer(store, TABLE, projection)
    consumer.step()
    for number in range(30):
        db.run(put(Task(user_id="u", task_id=f"{number}", title=f"word{number}")))
    db.run(put(Task(user_id="u", task_id="x", title="Planted " * 5_000)))
    consumer.catch_up()
    assert files() != []
    db.run(delete(Task(user_id="u", task_id="x")))
    consumer.catch_up()
    assert files() == []
    assert projection.read("SELECT count(*) FROM titles WHERE titles MATCH 'word7'") == [(1,)]
    projection.close()


def test_it_opens_while_another_process_loads(store: EmbeddedStore, db: Session, path: Path) -> None:
    db.run(put(Task(user_id="u", task_id="1")))
    made = SqliteProjection(path, tables=TABLES, apply=count)
    Consumer(store, TABLE, made).step()
    with closing(apsw.Connection(str(path))) as loading:
        loading.execute("BEGIN IMMEDIATE")  # held until the rollback below
        with closing(SqliteProjection(path, tables=TABLES, apply=count)) as second:
            assert second.positions() == made.positions()
        loading.execute("ROLLBACK")
    made.close()


def test_a_byte_that_has_changed_is_damage(path: Path) -> None:
    with closing(SqliteProjection(path, tables="CREATE TABLE words (word TEXT)", apply=count)) as made:
        made._connection.execute("INSERT INTO words VALUES ('swordfish')")
    path.write_bytes(path.read_bytes().replace(b"swordfish", b"swordfisk"))
    with (
        closing(SqliteProjection(path, tables="CREATE TABLE words (word TEXT)", apply=count)) as damaged,
        pytest.raises(StoreDamaged, match="the checksum of a page does not match"),
    ):
        damaged.read("SELECT word FROM words")


def test_an_async_function_is_refused_instead_of_never_running(path: Path) -> None:
    async def count_later(connection: apsw.Connection, change: ItemChange) -> None:
        count(connection, change)

    with pytest.raises(ModelError, match=r"count_later is async, so it would never run\. Write def"):
        SqliteProjection(path, tables=TABLES, apply=count_later)
    assert not path.exists()
