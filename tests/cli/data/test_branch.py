"""`partita branch`: copies of the data folder for experiments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore, Session, insert
from partita_services.todo.model import Task, tasks_of_user


def count(folder: Path) -> int:
    with EmbeddedStore(folder / "partita.db") as store:
        return len(Session(store).run(tasks_of_user("demo")))


def add(folder: Path) -> None:
    with EmbeddedStore(folder / "partita.db") as store:
        Session(store).run(insert(Task(user_id="demo", title="later", created_at=1, updated_at=1)))


def test_a_branch_is_made_used_and_dropped(seeded: Run, folder: Path) -> None:
    trial = folder / "branches" / "trial"
    result = seeded("branch", "trial")
    assert (result.exit_code, result.output.startswith(f"{trial}: ")) == (0, True)
    add(trial)
    assert (count(folder), count(trial)) == (26, 27)
    assert seeded("branch", "switch", "trial").output == f"Commands now use {trial}.\n"
    assert seeded("check").output.startswith(f"{trial / 'partita.db'}: consistent")
    assert seeded("branch", "drop", "trial").exit_code == 1
    assert seeded("branch", "switch", "main").exit_code == 0
    assert seeded("check").output.startswith(f"{folder / 'partita.db'}: consistent")
    assert seeded("branch", "drop", "trial").output == "trial: dropped.\n"
    assert not trial.exists()


def test_copies_exports_and_loads_use_the_current_branch(seeded: Run, folder: Path, tmp_path: Path) -> None:
    seeded("branch", "trial")
    add(folder / "branches" / "trial")
    seeded("branch", "switch", "trial")
    for number, source in enumerate(("embedded", str(folder))):
        result = seeded(
            "copy", "--from", source, "--to", str(tmp_path / f"{number}"), "todo-app-data", "--still", "--yes"
        )
        assert (result.exit_code, count(tmp_path / f"{number}")) == (0, 27)
    assert "todo-app-data: 29 items" in seeded("export", str(tmp_path / "out"), "todo-app-data").output
    (tmp_path / "new.jsonl").write_text('{"user_id": "demo", "title": "loaded", "created_at": 1, "updated_at": 1}\n')
    assert seeded("load", str(tmp_path / "new.jsonl"), "--entity", "todo.Task", "--yes").exit_code == 0
    assert (count(folder), count(folder / "branches" / "trial")) == (26, 28)


def test_branches_are_listed(seeded: Run, folder: Path) -> None:
    seeded("branch", "trial")
    seeded("branch", "switch", "trial")
    lines = seeded("branch", "list").output.splitlines()
    assert lines[0].split() == ["BRANCH", "FROM", "MADE", "BYTES", "FOLDER"]
    assert [line[:7].strip() for line in lines[1:]] == ["main", "* trial"]
    found = json.loads(seeded("branch", "list", "--json").output)
    assert [(each["name"], each["current"], each["source"]) for each in found] == [
        ("main", False, None),
        ("trial", True, "main"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("branch", "../x"), "cannot be the name of a branch"),
        (("branch", "switch", "missing"), "There is no branch 'missing'"),
        (("branch", "drop", "main"), "main is the folder itself"),
    ],
)
def test_a_mistake_is_one_line(seeded: Run, arguments: tuple[str, ...], message: str) -> None:
    result = seeded(*arguments)
    assert (result.exit_code, message in result.output) == (1, True)


def test_nothing_to_branch_from_is_said(run: Run, folder: Path) -> None:
    result = run("branch", "trial")
    assert (result.exit_code, "There is nothing in" in result.output) == (1, True)
    assert not folder.exists()
