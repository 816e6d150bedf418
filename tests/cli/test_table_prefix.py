"""Every command with `--store` accepts the table prefix of a stage: `--table-prefix`, or `PARTITA_TABLE_PREFIX`."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore, Session, TableNames
from partita.cli import main
from partita.store import ListTables
from partita_services.todo.model import task_by_id


def stored(folder: Path) -> tuple[str, ...]:
    with EmbeddedStore(folder / "partita.db") as store:
        return store.execute(ListTables())


def commands(group: click.Group) -> list[click.Command]:
    return [
        each
        for command in group.commands.values()
        for each in (commands(command) if isinstance(command, click.Group) else [command])
    ]


def test_every_command_with_a_store_or_a_queue_has_the_option() -> None:
    options = [{parameter.name for parameter in command.params} for command in commands(main)]
    assert [names for names in options if names & {"store", "queue"} and not names >= {"table_prefix", "profile"}] == []


def test_tables_are_made_under_the_prefix(run: Run, folder: Path) -> None:
    made = run("tables", "create", "countries", "--table-prefix", "dev-")
    assert (made.exit_code, made.output) == (0, "dev-countries: created\n")
    assert stored(folder) == ("dev-countries",)
    assert run("tables", "diff", "countries", "--table-prefix", "dev-").exit_code == 0
    assert run("tables", "diff", "countries").exit_code == 1


def test_the_environment_may_name_the_prefix(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_TABLE_PREFIX", "dev-")
    assert run("tables", "update", "countries").exit_code == 0
    assert stored(folder) == ("dev-countries",)


def test_sample_data_of_two_stages_do_not_meet(run: Run, folder: Path) -> None:
    first, again = (run("seed", "countries", "--table-prefix", "dev-").output for _ in range(2))
    other = run("seed", "countries", "--table-prefix", "test-").output
    assert (first == other, first == again, stored(folder)) == (True, False, ("dev-countries", "test-countries"))


def test_explain_shows_and_runs_the_request_of_the_stage(run: Run, folder: Path) -> None:
    run("tables", "create", "todo", "--table-prefix", "dev-")
    for options in ((), ("--run",)):
        result = run("explain", "task_by_id", "demo", "t1", "--json", "--table-prefix", "dev-", *options)
        assert json.loads(result.output)["request"]["TableName"] == "dev-todo-app-data"
    with EmbeddedStore(folder / "partita.db") as store:
        assert Session(store, table_names=TableNames(prefix="dev-")).run(task_by_id("demo", "t1")) is None


def test_queues_have_the_prefix_too(run: Run, folder: Path) -> None:
    assert run("queue", "create", "events", "--table-prefix", "dev-").exit_code == 0
    assert [path.name for path in folder.glob("queue-*.db")] == ["queue-dev-events.db"]
    assert run("queue", "stats", "events", "--table-prefix", "dev-").exit_code == 0
    missing = run("queue", "stats", "events", "--table-prefix", "test-")
    assert (missing.exit_code, "'test-events'" in missing.output) == (1, True)


def test_a_prefix_that_cannot_be_one_is_refused(run: Run, folder: Path) -> None:
    result = run("tables", "create", "--table-prefix", "dev/")
    assert (result.exit_code, "'dev/' is not a valid prefix of table names" in result.output) == (2, True)
    assert not folder.exists()


def test_templates_and_policies_have_the_names_of_the_stage(run: Run, tmp_path: Path) -> None:
    assert run("deploy", "synth", "todo", "events", "--out", str(tmp_path), "--table-prefix", "dev-").exit_code == 0
    todo, events = (
        json.loads((tmp_path / f"{name}.template.json").read_text())["Resources"] for name in ("todo", "events")
    )
    assert todo["TodoAppData"]["Properties"]["TableName"] == "dev-todo-app-data"
    queues = [each["Properties"]["QueueName"] for each in events.values() if each["Type"] == "AWS::SQS::Queue"]
    assert sorted(queues) == [
        "dev-events-dead.fifo",
        "dev-events-notices-dead.fifo",
        "dev-events-notices.fifo",
        "dev-events.fifo",
    ]
    policies = run("deploy", "iam", "todo", "events", "--json", "--table-prefix", "dev-").output
    assert "table/todo-app-data" not in policies
    assert "table/dev-todo-app-data/index/GSI1" in policies
    assert ":dev-events.fifo" in policies


def test_a_profile_that_is_not_there_is_one_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    command = ("tables", "diff", "todo", "--store", "dynamodb://")
    by_option = run(*command, "--profile", "no-such-profile")
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
    by_variable = run(*command)
    assert [(result.exit_code, "no-such-profile" in result.output) for result in (by_option, by_variable)] == [
        (1, True),
        (1, True),
    ]
