"""`partita cdc` and `partita lake`: fill a lake, show its lag, and query it."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.cli.waiting import soon

from partita import EmbeddedStore, Session, insert
from partita.change.lake import Lake
from partita.cli._data_folder import DataFolder
from partita.store import ListTables, ScanTable
from partita_services.todo.model import TABLE, Task

DEADLINE = 60


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def add_task(folder: Path, title: str) -> None:
    with EmbeddedStore(DataFolder(folder).database) as store:
        Session(store).run(insert(Task(user_id="ann", title=title, created_at=1, updated_at=1)))


@pytest.mark.req("T40", "T42")
def test_a_lake_is_filled_with_what_is_there_and_then_with_changes(seeded: Run, folder: Path, lake: Path) -> None:
    first = seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    assert (first.exit_code, first.output.splitlines()[0]) == (0, "todo-app-data: loaded 28 items.")
    add_task(folder, "new")
    second = seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    assert (second.exit_code, second.output.splitlines()[-1]) == (0, "todo-app-data: 1 changes.")
    counted = seeded("lake", "query", "select count(*) as tasks from task", "--lake", str(lake), "--json")
    assert json.loads(counted.output) == [{"tasks": 27}]


@pytest.mark.rule(62)
def test_a_lake_may_begin_at_an_instant(seeded: Run, folder: Path, lake: Path) -> None:
    start = datetime.now(UTC).isoformat()
    add_task(folder, "new")
    filled = seeded("cdc", "run", "todo", "--lake", str(lake), "--once", "--start", start)
    assert (filled.exit_code, filled.output.splitlines()[-1]) == (0, "todo-app-data: 1 changes.")
    counted = seeded("lake", "query", "select count(*) as tasks from task", "--lake", str(lake), "--json")
    assert json.loads(counted.output) == [{"tasks": 1}]
    add_task(folder, "newer")
    again = seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    assert again.output.splitlines()[-1] == "todo-app-data: 1 changes."


@pytest.mark.req("T43")
def test_status_tells_records_and_seconds(seeded: Run, folder: Path, lake: Path) -> None:
    status = ("cdc", "status", "todo", "--lake", str(lake))
    assert "not filled yet" in seeded(*status).output
    assert json.loads(seeded(*status, "--json").output) == [
        {"table": "todo-app-data", "records": None, "seconds": None, "shards": []}
    ]
    seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    add_task(folder, "new")
    (found,) = json.loads(seeded(*status, "--json").output)
    assert found["records"] == 1
    assert found["seconds"] > 0
    (shard,) = found["shards"]
    assert (shard["owner"], shard["records"]) == (None, 1)
    lines = [line.split() for line in seeded(*status).output.splitlines()]
    assert [line[:3] for line in lines[1:]] == [["todo-app-data", "all", "1"], ["todo-app-data", shard["shard"], "-"]]


def test_a_lake_that_nobody_fills_is_forgotten(seeded: Run, folder: Path, lake: Path) -> None:
    fill = ("cdc", "run", "todo", "--lake", str(lake), "--once")
    assert seeded(*fill).exit_code == 0
    forgot = seeded("cdc", "forget", "todo", "--lake", str(lake))
    assert (forgot.exit_code, forgot.output) == (0, f"todo-app-data: forgot 1 shard of {lake}.\n")
    with EmbeddedStore(DataFolder(folder).database) as store:
        assert store.execute(ScanTable("PartitaLeases")).items == []
    add_task(folder, "new")
    assert seeded(*fill).output.splitlines()[-1] == "todo-app-data: 1 changes."


def test_status_makes_no_tables(run: Run, seeded: Run, folder: Path, lake: Path, tmp_path: Path) -> None:
    status = ("cdc", "status", "todo", "--lake", str(lake), "--data", str(tmp_path / "empty"))
    seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    with DataFolder(tmp_path / "empty").open() as store:
        assert "not filled yet" in run(*status).output
        assert store.execute(ListTables()) == ()


@pytest.mark.parametrize("command", [("run", "--once"), ("rebuild",)])
def test_a_table_that_is_not_there_is_named(run: Run, folder: Path, lake: Path, command: tuple[str, ...]) -> None:
    with DataFolder(folder).open() as store:
        result = run("cdc", command[0], "todo", "--lake", str(lake), *command[1:])
        assert store.execute(ListTables()) == ()
    assert (result.exit_code, TABLE.name in result.output) == (1, True)
    assert result.output.endswith(" not found. Create it with `partita tables update`.\n")


@pytest.mark.req("X12")
@pytest.mark.parametrize("command", ["run", "status", "rebuild"])
def test_the_store_can_be_elsewhere(
    command: str, run: Run, tmp_path: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_STORE", "ftp://host")
    result = run("cdc", command, "todo", "--lake", str(lake))
    assert (result.exit_code, "'ftp://host' is not a valid address of a store" in result.output) == (1, True)


@pytest.mark.req("X12", "T40")
def test_a_lake_is_filled_from_where_the_store_says(
    seeded: Run, folder: Path, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_STORE", str(DataFolder(folder).database))
    elsewhere = ("--lake", str(lake), "--data", str(tmp_path / "nothing here"))
    filled = seeded("cdc", "run", "todo", *elsewhere, "--once")
    assert (filled.exit_code, filled.output.splitlines()[0]) == (0, "todo-app-data: loaded 28 items.")
    assert json.loads(seeded("cdc", "status", "todo", *elsewhere, "--json").output)[0]["records"] == 0
    assert seeded("cdc", "rebuild", "todo", *elsewhere).output == "todo-app-data: loaded 28 items.\n"


def test_a_rebuild_loads_the_current_tables_again(seeded: Run, lake: Path) -> None:
    seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    rebuilt = seeded("cdc", "rebuild", "todo", "--lake", str(lake))
    assert (rebuilt.exit_code, rebuilt.output) == (0, "todo-app-data: loaded 28 items.\n")


@pytest.mark.req("T43")
def test_answers_are_tables_json_or_csv(seeded: Run, lake: Path) -> None:
    seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    sql = "select status, count(*) as n, min(due_date) as first from task where status = 'cancelled' group by status"
    ask = ("lake", "query", sql, "--lake", str(lake))
    (row,) = json.loads(seeded(*ask, "--json").output)
    assert (row["status"], row["n"]) == ("cancelled", 2)
    assert list(csv.DictReader(io.StringIO(seeded(*ask, "--csv").output))) == [
        {"status": "cancelled", "n": "2", "first": row["first"]}
    ]
    assert [line.split() for line in seeded(*ask).output.splitlines()] == [
        ["status", "n", "first"],
        ["cancelled", "2", row["first"]],
    ]


def test_whole_numbers_are_numbers(seeded: Run, folder: Path, lake: Path) -> None:
    seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    add_task(folder, "new")
    seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    sql = "select _sequence from changes where _kind = 'insert'"
    assert json.loads(seeded("lake", "query", sql, "--lake", str(lake), "--json").output) == [{"_sequence": 29}]


def test_a_wrong_query_is_one_clear_line(seeded: Run, lake: Path) -> None:
    result = seeded("lake", "query", "select 1", "--lake", str(lake))
    assert (result.exit_code, result.output.startswith("Error: There is no lake in")) == (1, True)


def test_a_service_without_stream_is_named(seeded: Run, lake: Path) -> None:
    result = seeded("cdc", "run", "commitcollect", "--lake", str(lake), "--once")
    assert result.exit_code == 1
    assert result.output == "Error: No table of commitcollect has a stream with new and old images.\n"


def test_a_second_process_is_told_that_one_is_enough(seeded: Run, lake: Path) -> None:
    held = Lake(lake, TABLE)
    result = seeded("cdc", "run", "todo", "--lake", str(lake), "--once")
    assert result.exit_code == 1
    assert "Another process fills the lake" in result.output
    held.close()


@pytest.mark.req("T40")
def test_it_follows_until_it_is_stopped(seeded: Run, folder: Path, lake: Path) -> None:
    command = [sys.executable, "-c", 'from partita.cli import main; main(prog_name="partita")']
    command += ["cdc", "run", "todo", "--lake", str(lake), "--data", str(folder)]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
        assert run.stdout is not None
        while "Following todo" not in (line := run.stdout.readline()):
            assert line, run.stderr.read() if run.stderr else ""
        add_task(folder, "followed")
        sql = "select title from changes where _kind = 'insert'"
        soon(lambda: "followed" in seeded("lake", "query", sql, "--lake", str(lake)).output, pause=0.2)
        run.send_signal(signal.SIGTERM)
        output, _ = run.communicate(timeout=DEADLINE)
    assert (run.returncode, output) == (0, "Stopped.\n")
