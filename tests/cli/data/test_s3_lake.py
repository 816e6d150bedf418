"""A lake in a bucket, written and read by real commands: `partita cdc`, `partita worker` and `partita lake`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.change.lake.conftest import client_of
from tests.cli.conftest import Run
from tests.cli.waiting import soon
from tests.referee import moto

from partita import EmbeddedStore, Session, insert
from partita.cli import main
from partita.cli._data_folder import DataFolder
from partita.store import ListTables
from partita_services.todo.model import Task

pytestmark = pytest.mark.xdist_group("s3-lake-commands")

PROGRAM = (sys.executable, "-c", "from partita.cli import main; main()")
NUMBERS = count()
DEADLINE = 120


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with moto(tmp_path_factory.mktemp("moto")) as url:
        yield url


@pytest.fixture(scope="module")
def seeded_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeded") / "data"
    seeded = CliRunner().invoke(main, ["seed", "todo"], env={"PARTITA_DATA": str(folder)})
    assert seeded.exit_code == 0
    return folder


@pytest.fixture
def bucket(server: str) -> str:
    name = f"commands-{next(NUMBERS)}"
    client_of(server).create_bucket(Bucket=name)
    return name


@pytest.fixture
def folder(seeded_folder: Path, tmp_path: Path) -> Path:
    """A data folder with the sample data of To-Do."""
    copy = tmp_path / "data"
    copy.mkdir(mode=0o700)
    for file in seeded_folder.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
            (copy / file.name).chmod(0o600)
    return copy


def environment(folder: Path) -> dict[str, str]:
    found = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PARTITA_"))}
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}
    return found | keys | {"PARTITA_DATA": str(folder)}


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Access keys in the environment, and no other credentials."""
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    for name, value in environment(tmp_path).items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)
    return monkeypatch


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command, and stop it at the end of the block."""
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE)
    finally:
        process.kill()
        process.communicate()


def place(server: str, bucket: str) -> str:
    return f"s3://{bucket}/a/lake?endpoint={server}&region=us-east-1"


def objects(server: str, bucket: str) -> list[str]:
    return [each["Key"] for each in client_of(server).list_objects_v2(Bucket=bucket).get("Contents", ())]


def add_task(folder: Path, title: str) -> None:
    with EmbeddedStore(DataFolder(folder).database) as store:
        Session(store).run(insert(Task(user_id="ann", title=title, created_at=1, updated_at=1)))


def asked(run: Run, lake: str, sql: str) -> Any:
    found = run("lake", "query", sql, "--lake", lake, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.output)


def status(run: Run, lake: str) -> Any:
    found = run("cdc", "status", "todo", "--lake", lake, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.output)[0]


@pytest.mark.req("T40", "T42", "T43")
@pytest.mark.usefixtures("keys")
def test_a_lake_in_a_bucket_is_filled_seen_queried_and_built_again(
    server: str, bucket: str, folder: Path, run: Run
) -> None:
    lake = place(server, bucket)
    assert status(run, lake)["records"] is None
    first = run("cdc", "run", "todo", "--lake", lake, "--once")
    assert (first.exit_code, first.output.splitlines()[0]) == (0, "todo-app-data: loaded 28 items.")
    add_task(folder, "new")
    assert status(run, lake)["records"] == 1
    second = run("cdc", "run", "todo", "--lake", lake, "--once")
    assert (second.exit_code, second.output.splitlines()[-1]) == (0, "todo-app-data: 1 changes.")
    assert status(run, lake)["records"] == 0
    assert asked(run, lake, "select count(*) as tasks from task") == [{"tasks": 27}]
    assert all(name.startswith("a/lake/todo-app-data/") for name in objects(server, bucket))
    again = run("cdc", "rebuild", "todo", "--lake", lake)
    assert (again.exit_code, again.output) == (0, "todo-app-data: loaded 29 items.\n")
    assert asked(run, lake, "select title from task where user_id = 'ann'") == [{"title": "new"}]


@pytest.mark.slow
@pytest.mark.req("T41")
@pytest.mark.usefixtures("keys")
def test_workers_fill_it_too_and_one_that_is_killed_leaves_it_whole(
    server: str, bucket: str, folder: Path, run: Run
) -> None:
    lake = place(server, bucket)
    assert run("cdc", "run", "todo", "--lake", lake, "--once").exit_code == 0
    with running(folder, "worker", "todo", "--lake", lake) as worker:
        assert worker.stdout is not None
        said = [worker.stdout.readline() for _ in range(2)]
        assert said == [
            "If a worker is killed, others take over within 30 seconds.\n",
            "1 at work for todo. Stop with Ctrl-C.\n",
        ]
        add_task(folder, "seen by the worker")
        soon(lambda: not status(run, lake)["records"], pause=0.2)
    assert worker.returncode == 0
    with running(folder, "cdc", "run", "todo", "--lake", lake) as killed:
        assert killed.stdout is not None
        while not killed.stdout.readline().startswith("Following"):
            pass
        add_task(folder, "after it")
        killed.kill()
    assert run("cdc", "run", "todo", "--lake", lake, "--once").exit_code == 0
    log = asked(run, lake, "select _sequence from changes where _kind <> 'snapshot'")
    assert len(log) == len({row["_sequence"] for row in log}) == 2
    titles = asked(run, lake, "select title from task where user_id = 'ann' order by title")
    assert titles == [{"title": "after it"}, {"title": "seen by the worker"}]


COMMANDS = (
    ("cdc", "run", "todo", "--once"),
    ("cdc", "status", "todo"),
    ("cdc", "rebuild", "todo"),
    ("lake", "query", "select 1"),
    ("worker", "todo"),
)


def assert_one_line(result: Result, *words: str) -> None:
    assert result.exit_code in (1, 2), result.output
    errors = [line for line in result.output.splitlines() if line]
    assert len(errors) == 1, result.output
    assert errors[0].startswith("Error: ")
    assert all(word in errors[0] for word in words), errors[0]


def tables(folder: Path) -> set[str]:
    """Return the names of the store's tables."""
    with EmbeddedStore(DataFolder(folder).database) as store:
        return {*store.execute(ListTables())}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_what_cannot_be_is_one_line_and_leaves_nothing_behind(
    server: str, bucket: str, folder: Path, run: Run, keys: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    before = tables(folder)
    assert_one_line(run(*command, "--lake", f"s3://{bucket}/x?colour=red"), "s3://BUCKET/PREFIX")
    assert_one_line(run(*command, "--lake", place(server, "no-such-bucket")), "no-such-bucket")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        keys.delenv(name)
    assert_one_line(run(*command, "--lake", "s3://some-bucket/x?region=eu-west-1"), "credentials")
    assert (objects(server, bucket), tables(folder)) == ([], before)


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that rejects all access keys."""
    monkeypatch.setenv("INITIAL_NO_AUTH_ACTION_COUNT", "1")
    with moto(tmp_path) as url:
        client_of(url).create_bucket(Bucket="guarded")
        yield url


@pytest.mark.usefixtures("keys")
def test_refused_credentials_are_one_line(guarded: str, folder: Path, run: Run) -> None:
    before = tables(folder)
    for command in COMMANDS:
        assert_one_line(run(*command, "--lake", place(guarded, "guarded")), "credentials")
    assert tables(folder) == before
