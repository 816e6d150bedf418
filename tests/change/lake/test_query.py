"""SQL over the lake: what a query may name, and the errors of invalid queries."""

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
    with pytest.raises(OperationError, match=r"nothing.*Tables: .*changes, task"):
        query_lake(folder, "SELECT * FROM nothing")


@pytest.mark.parametrize("sql", ["DROP TABLE changes", "INSERT INTO changes VALUES (1)", "COPY task TO 'x.csv'", ""])
def test_only_queries_can_be_run(folder: Path, sql: str) -> None:
    with pytest.raises(OperationError, match="Begin with SELECT"):
        query_lake(folder, sql)


def test_a_folder_without_a_lake_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="There is no lake in"):
        query_lake(tmp_path, "SELECT 1")


COPY = "copy (select 1) to '{file}'"


@pytest.mark.parametrize(
    "sql",
    [
        COPY,
        f"explain {COPY}",
        f"explain analyze {COPY}",
        f"EXPLAIN /* why */ ANALYZE -- so\n VERBOSE {COPY}",
        f"explain format indent {COPY}",
        f"describe {COPY}",
        f"show {COPY}",
        f"select 1; {COPY}",
        f"/* /* */ select 1 -- */ {COPY}",
        f"-- \r{COPY} /*\nselect 1 -- */",
        f"-- \rselect 1\n{COPY}",
        f"/* select 1 {COPY}",
        f"with q as (select 1) {COPY}",
        f"explain with q as ({COPY}) select 1",
        "insert into task_all values (1)",
        "explain analyze insert into task_all values (1)",
        "with q as (insert into task_all values (1)) select 1",
        "delete from task_all",
        "create external table t stored as csv location '{file}'",
        "set datafusion.execution.batch_size = 1",
        "",
    ],
)
def test_nothing_but_a_query_is_run(sql: str, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "written.csv"
    with pytest.raises(OperationError):
        query_lake(folder, sql.format(file=file)).read_all()
    assert not file.exists()
    assert rows(folder, "SELECT count(*) AS n FROM task_all") == [{"n": 1}]


@pytest.mark.parametrize(
    "sql",
    [
        "select 1",
        "\n-- a comment\r\n/* another */ SELECT 1",
        "((select 1) union (select 2))",
        "with q as (select 1) select * from q",
        "values (1)",
        "explain select 1",
        "explain analyze verbose with q as (select 1) select * from q",
        "describe task",
        "select 'copy' as a, 1 as \"insert\"",
    ],
)
def test_each_kind_of_query_is_run(sql: str, folder: Path) -> None:
    assert query_lake(folder, sql).read_all().num_rows > 0
