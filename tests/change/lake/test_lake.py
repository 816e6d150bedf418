"""The contents of the lake's tables, and changes of the model, which break none of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from deltalake import DeltaTable
from pyarrow.parquet import ParquetFile
from tests.change.lake.truth import rows
from tests.change.model import SHARD, TABLE, Secret, Status, Task, User, item_of

from partita import EmbeddedStore, Entity, Key, Registry, Session, Table, batch_write, delete, put
from partita.change import Consumer, Lag
from partita.change.lake import Lake, LakeLocation, Place, _delta, lake_lag
from partita.change.lake._delta import LakeTable
from partita.errors import RebuildRequired, StoreBusy, StoreReadOnly
from partita.store import DeleteItem, PutItem
from partita.testing import FakeClock


def delta_log(place: LakeLocation) -> DeltaTable:
    """Return the log of changes as other programs see it."""
    log = place.child(TABLE.name, "changes")
    return DeltaTable(log.uri, storage_options=log.options())


TASK = Task(user_id="u", task_id="t", title="Call", estimate=3, due=date(2026, 1, 5), tags=frozenset({"b", "a"}))
KEY = '["TASK#u","TASK#t"]'


@pytest.fixture
def lake(place: Place) -> Iterator[Lake]:
    lake = Lake(place, TABLE)
    yield lake
    lake.close()


@pytest.fixture
def consumer(store: EmbeddedStore, db: Session, lake: Lake, fake_clock: FakeClock) -> Consumer:
    consumer = Consumer(store, TABLE, lake, clock=fake_clock)
    consumer.step()
    return consumer


@pytest.mark.req("T40")
def test_the_log_tells_what_happened(
    db: Session, consumer: Consumer, place: LakeLocation, fake_clock: FakeClock
) -> None:
    db.run(put(TASK))
    db.run(put(TASK.model_copy(update={"status": Status.DONE})))
    db.run(delete(TASK))
    consumer.catch_up()
    columns = "entity, date, _key, _kind, _at, _by_ttl, _shard, _sequence, _problem, status, due, tags"
    found = rows(place, f"SELECT {columns} FROM changes ORDER BY _sequence")  # noqa: S608 - our own columns
    at = datetime.fromtimestamp(fake_clock(), UTC)
    shared = {"entity": "Task", "date": at.date(), "_key": KEY, "_at": at, "_by_ttl": False, "_shard": SHARD}
    shared |= {"_problem": None, "due": date(2026, 1, 5), "tags": ["a", "b"]}
    assert found == [
        shared | {"_kind": "insert", "_sequence": 1, "status": "open"},
        shared | {"_kind": "modify", "_sequence": 2, "status": "done"},
        shared | {"_kind": "remove", "_sequence": 3, "status": "done"},
    ]


def test_what_is_loaded_is_written_before_it_is_too_much_for_memory(
    store: EmbeddedStore, db: Session, tmp_path: Path, fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_delta, "_ROW_GROUP", 10)
    db.run(batch_write([put(Task(user_id="u", task_id=f"{number:02}")) for number in range(25)]))
    with closing(Lake(tmp_path / "lake", TABLE)) as lake:
        Consumer(store, TABLE, lake, clock=fake_clock).rebuild()
    files = [ParquetFile(file).metadata for file in (tmp_path / "lake").rglob("*.parquet")]
    assert sorted((each.num_rows, each.num_row_groups) for each in files if each.num_rows) == [(25, 3), (25, 3)]
    assert {each.row_group(0).column(0).compression for each in files} == {"SNAPPY"}


@pytest.mark.req("T40")
def test_the_log_is_partitioned_by_entity_and_date(db: Session, consumer: Consumer, place: LakeLocation) -> None:
    db.run(put(TASK))
    db.run(put(User(user_id="u")))
    consumer.catch_up()
    log = delta_log(place)
    assert log.metadata().partition_columns == ["entity", "date"]
    found = {tuple(sorted(partition.items())) for partition in log.partitions()}
    assert found == {(("date", "2026-01-01"), ("entity", "Task")), (("date", "2026-01-01"), ("entity", "User"))}


def test_a_removed_item_stays_as_a_tombstone(db: Session, consumer: Consumer, place: LakeLocation) -> None:
    db.run(put(TASK))
    consumer.catch_up()
    db.run(delete(TASK))
    consumer.catch_up()
    assert rows(place, "SELECT * FROM task") == []
    assert rows(place, "SELECT title, _deleted, _by_ttl FROM task_all") == [
        {"title": "Call", "_deleted": True, "_by_ttl": False}
    ]


@pytest.mark.req("T44")
def test_what_expired_differs_from_what_was_deleted(
    store: EmbeddedStore, db: Session, consumer: Consumer, place: LakeLocation, fake_clock: FakeClock
) -> None:
    db.run(put(Task(user_id="u", task_id="1", ttl=int(fake_clock()) + 10)))
    db.run(put(Task(user_id="u", task_id="2")))
    fake_clock.advance(20)
    store.sweep()
    db.run(delete(Task(user_id="u", task_id="2")))
    consumer.catch_up()
    expected = [{"task_id": "1", "_by_ttl": True}, {"task_id": "2", "_by_ttl": False}]
    assert rows(place, "SELECT task_id, _by_ttl FROM changes WHERE _kind = 'remove' ORDER BY 1") == expected
    assert rows(place, "SELECT task_id, _by_ttl FROM task_all WHERE _deleted ORDER BY 1") == expected


def test_an_item_stays_in_the_partition_of_its_first_day(
    db: Session, consumer: Consumer, place: LakeLocation, fake_clock: FakeClock
) -> None:
    db.run(put(TASK))
    consumer.catch_up()
    fake_clock.advance(86_400)
    db.run(put(TASK.model_copy(update={"title": "Write"})))
    consumer.catch_up()
    assert rows(place, "SELECT title, date FROM task") == [{"title": "Write", "date": date(2026, 1, 1)}]
    assert rows(place, "SELECT date FROM changes ORDER BY 1") == [
        {"date": date(2026, 1, 1)},
        {"date": date(2026, 1, 2)},
    ]


@pytest.mark.req("T40")
def test_an_entity_stays_out_by_declaration(db: Session, consumer: Consumer, place: LakeLocation, lake: Lake) -> None:
    db.run(put(Secret(key="k")))
    assert consumer.catch_up() == 1
    assert rows(place, "SELECT * FROM changes") == []
    assert "secret" not in place.child(TABLE.name, "current").children()
    assert lake.positions() == {SHARD: 1}


def test_undeclared_items_are_in_the_log(store: EmbeddedStore, consumer: Consumer, place: LakeLocation) -> None:
    store.execute(PutItem(TABLE.name, {"PK": "legacy", "SK": "1", "n": 1}))
    consumer.catch_up()
    assert rows(place, "SELECT entity, _key, _old, _new FROM changes") == [
        {"entity": "_undeclared", "_key": '["legacy","1"]', "_old": None, "_new": '{"PK":"legacy","SK":"1","n":1}'}
    ]


@pytest.mark.parametrize("estimate", ["many", 2**70])
def test_what_does_not_fit_is_in_the_log_with_its_reason(
    estimate: Any, store: EmbeddedStore, db: Session, consumer: Consumer, place: LakeLocation
) -> None:
    db.run(put(TASK))
    store.execute(PutItem(TABLE.name, {**item_of(TASK), "title": "Bad", "estimate": estimate}))
    db.run(put(User(user_id="u")))
    consumer.catch_up()
    (bad,) = rows(place, "SELECT _sequence, _new, _problem, title FROM changes WHERE _problem IS NOT NULL")
    assert (bad["_sequence"], bad["title"]) == (2, None)
    assert "Bad" in bad["_new"]
    assert rows(place, "SELECT title FROM task") == [{"title": "Call"}]
    assert len(rows(place, "SELECT * FROM user")) == 1


def test_an_item_that_did_not_fit_is_removed_like_any_other(
    store: EmbeddedStore, db: Session, consumer: Consumer, place: LakeLocation
) -> None:
    db.run(put(TASK))
    bad = {**item_of(TASK), "estimate": "many"}
    store.execute(PutItem(TABLE.name, bad))
    store.execute(DeleteItem(TABLE.name, {"PK": bad["PK"], "SK": bad["SK"]}))
    consumer.catch_up()
    assert rows(place, "SELECT * FROM task") == []


def test_fields_of_one_name_share_a_column_unless_their_types_differ(
    db: Session, consumer: Consumer, place: LakeLocation
) -> None:
    db.run(put(TASK))
    db.run(put(User(user_id="u", title="Ada", estimate="much")))
    consumer.catch_up()
    assert rows(place, "SELECT entity, title, estimate, estimate_string FROM changes ORDER BY 1") == [
        {"entity": "Task", "title": "Call", "estimate": 3, "estimate_string": None},
        {"entity": "User", "title": "Ada", "estimate": None, "estimate_string": "much"},
    ]


def note_table(**fields: Any) -> tuple[Table, Any]:
    """Declare the same table with these fields, like another version of the code; return it and its entity."""
    table = Table("notes", stream="NEW_AND_OLD_IMAGES", registry=Registry())
    body = {"primary": Key("NOTE#{note_id}", "NOTE"), **fields}
    hints = {"primary": ClassVar, "note_id": str, **{name: type(default) for name, default in fields.items()}}
    make: Any = type(Entity)
    note = make("Note", (Entity,), {"__annotations__": hints, "__module__": __name__, **body}, table=table)
    return table, note


@pytest.mark.req("T43")
def test_a_changed_model_adds_columns_and_breaks_nothing(store: EmbeddedStore, place: LakeLocation) -> None:
    days: list[dict[str, Any]] = [{"size": 1}, {"size": 2, "colour": "red"}, {"colour": "blue"}, {"size": "big"}]
    for day, fields in enumerate(days):
        table, note = note_table(**fields)
        db = Session(store)
        db.create_tables([table])
        lake = Lake(place, table)
        consumer = Consumer(store, table, lake)
        consumer.catch_up()
        db.run(put(note(note_id=f"{day}")))
        consumer.catch_up()
        lake.close()
    expected = [
        {"note_id": "0", "size": 1, "colour": None, "size_string": None},
        {"note_id": "1", "size": 2, "colour": "red", "size_string": None},
        {"note_id": "2", "size": None, "colour": "blue", "size_string": None},
        {"note_id": "3", "size": None, "colour": None, "size_string": "big"},
    ]
    for name in ("note", "changes"):
        assert rows(place, f"SELECT note_id, size, colour, size_string FROM {name} ORDER BY 1") == expected  # noqa: S608


@pytest.mark.req("T43")
def test_a_row_that_is_written_again_keeps_no_value_of_a_field_that_is_gone(
    store: EmbeddedStore, place: LakeLocation
) -> None:
    days: list[dict[str, Any]] = [{"size": 1, "colour": "red"}, {"size": "big"}]
    for fields in days:
        table, note = note_table(**fields)
        db = Session(store)
        db.create_tables([table])
        with closing(Lake(place, table)) as lake:
            consumer = Consumer(store, table, lake)
            consumer.catch_up()
            db.run(put(note(note_id="n")))
            consumer.catch_up()
    assert rows(place, "SELECT size, colour, size_string FROM note") == [
        {"size": None, "colour": None, "size_string": "big"}
    ]


def test_an_entity_that_is_declared_later_gets_its_items_by_a_rebuild(
    store: EmbeddedStore, place: LakeLocation
) -> None:
    table, _ = note_table(size=1)
    db = Session(store)
    db.create_tables([table])
    store.execute(PutItem("notes", {"PK": "TAG#1", "SK": "TAG", "name": "red"}))
    lake = Lake(place, table)
    Consumer(store, table, lake).catch_up()
    assert not lake.incomplete
    lake.close()

    class Tag(Entity, table=table):
        primary: ClassVar = Key("TAG#{tag_id}", "TAG")
        tag_id: str = ""
        name: str

    store.execute(PutItem("notes", {"PK": "TAG#2", "SK": "TAG", "tag_id": "2", "name": "blue"}))
    lake = Lake(place, table)
    consumer = Consumer(store, table, lake)
    consumer.catch_up()
    assert (lake.incomplete, rows(place, "SELECT name FROM tag")) == (True, [])
    consumer.rebuild()
    assert (lake.incomplete, rows(place, "SELECT name FROM tag ORDER BY 1")) == (
        False,
        [{"name": "blue"}, {"name": "red"}],
    )
    lake.close()
    assert Tag.__entity__.table is table


def test_one_process_fills_a_lake(lake: Lake, place: LakeLocation) -> None:
    with pytest.raises(StoreBusy, match="Another process fills the lake"):
        Lake(place, TABLE)
    lake.close()
    Lake(place, TABLE).close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        Lake(tmp_path / "file", TABLE)


@pytest.mark.req("T43")
def test_its_lag_is_known_while_it_is_being_filled(
    store: EmbeddedStore, db: Session, consumer: Consumer, place: LakeLocation, fake_clock: FakeClock
) -> None:
    db.run(put(TASK))
    fake_clock.advance(5)
    assert lake_lag(place, TABLE, store, fake_clock()) == Lag(1, 5.0)
    consumer.catch_up()
    assert lake_lag(place, TABLE, store, fake_clock()) == Lag(0, 0.0)
    assert lake_lag(place.child("none"), TABLE, store, fake_clock()) is None


def test_a_lake_that_missed_changes_is_rebuilt(
    store: EmbeddedStore, db: Session, consumer: Consumer, place: LakeLocation, fake_clock: FakeClock
) -> None:
    db.run(put(TASK))
    consumer.catch_up()
    db.run(delete(TASK))
    db.run(put(Task(user_id="u", task_id="new")))
    fake_clock.advance(25 * 3_600)
    store.sweep()
    with pytest.raises(RebuildRequired):
        consumer.catch_up()
    consumer.rebuild()
    assert rows(place, "SELECT task_id FROM task") == [{"task_id": "new"}]
    kinds = rows(place, "SELECT task_id, _kind FROM changes ORDER BY _at")
    assert kinds == [{"task_id": "t", "_kind": "insert"}, {"task_id": "new", "_kind": "snapshot"}]


def test_small_files_are_put_together(store: EmbeddedStore, db: Session, place: LakeLocation) -> None:
    lake = Lake(place, TABLE, open_table=partial(LakeTable, tidy_every=5))
    consumer = Consumer(store, TABLE, lake)
    for number in range(12):
        db.run(put(Task(user_id="u", task_id=f"{number}")))
        consumer.catch_up()
    lake.close()
    assert len(delta_log(place).file_uris()) < 8
    assert rows(place, "SELECT count(*) AS changes FROM changes") == [{"changes": 12}]
    again = Lake(place, TABLE)
    assert again.positions() == {SHARD: 12}
    again.close()


def test_commits_of_other_programs_are_passed_over(
    db: Session, consumer: Consumer, lake: Lake, place: LakeLocation
) -> None:
    for number in range(3):
        db.run(put(Task(user_id="u", task_id=f"{number}")))
        consumer.step()
    lake.close()
    delta_log(place).optimize.compact()
    again = Lake(place, TABLE)
    assert again.positions() == {SHARD: 3}
    again.close()


@pytest.mark.skipif(os.name != "posix", reason="has no modes")
def test_a_lake_is_its_owners_alone(tmp_path: Path) -> None:
    Lake(tmp_path / "lake", TABLE).close()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "lake", tmp_path / "lake" / TABLE.name)}
    lock = stat.S_IMODE((tmp_path / "lake" / TABLE.name / ".lock").stat().st_mode)
    assert (modes, lock) == ({0o700}, 0o600)
