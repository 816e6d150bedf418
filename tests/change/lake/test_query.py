"""SQL over the lake: what a query may name, and what is said when it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from tests.change.lake.truth import rows
from tests.change.model import TABLE, Task

from partita import EmbeddedStore, Entity, Key, Registry, Session, Table, put
from partita.change import Consumer
from partita.change.lake import Lake, lake_tables, query_lake
from partita.errors import OperationError

pytestmark = pytest.mark.req("T43")


def fill(folder: Path, store: EmbeddedStore, table: Table) -> None:
    lake = Lake(folder, table)
    Consumer(store, table, lake).catch_up()
    lake.close()


@pytest.fixture
def folder(store: EmbeddedStore, db: Session, tmp_path: Path) -> Path:
    db.run(put(Task(user_id="u", task_id="t", estimate=4)))
    fill(tmp_path, store, TABLE)
    return tmp_path


def test_each_entity_and_the_log_have_a_name(folder: Path) -> None:
    assert sorted(lake_tables(folder)) == ["changes", "task", "task_all", "user", "user_all"]


def test_tables_can_be_joined(folder: Path) -> None:
    sql = "SELECT sum(task.estimate) AS total FROM task JOIN changes ON task._key = changes._key"
    assert rows(folder, sql) == [{"total": 4}]


def test_two_tables_in_one_lake_have_different_names(folder: Path, store: EmbeddedStore) -> None:
    other = Table("other-things", stream="NEW_AND_OLD_IMAGES", registry=Registry())

    class Note(Entity, table=other):
        primary: ClassVar = Key("NOTE#{note_id}", "NOTE")
        note_id: str

    db = Session(store)
    db.create_tables([other])
    db.run(put(Note(note_id="n")))
    fill(folder, store, other)
    assert rows(folder, "SELECT note_id FROM note") == [{"note_id": "n"}]
    assert rows(folder, "SELECT note_id FROM other_things_note_all") == [{"note_id": "n"}]
    assert rows(folder, "SELECT entity FROM other_things_changes") == [{"entity": "Note"}]
    assert rows(folder, "SELECT entity FROM things_changes") == [{"entity": "Task"}]
    assert "changes" not in lake_tables(folder)


def test_the_error_of_a_wrong_query_says_what_there_is(folder: Path) -> None:
    with pytest.raises(OperationError, match=r"nothing.*There is: .*changes, task"):
        query_lake(folder, "SELECT * FROM nothing")


@pytest.mark.parametrize("sql", ["DROP TABLE changes", "INSERT INTO changes VALUES (1)", "COPY task TO 'x.csv'", ""])
def test_only_queries_can_be_run(folder: Path, sql: str) -> None:
    with pytest.raises(OperationError, match="Begin with SELECT"):
        query_lake(folder, sql)


def test_a_folder_without_a_lake_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="There is no lake in"):
        query_lake(tmp_path, "SELECT 1")
