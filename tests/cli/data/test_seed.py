"""`partita seed`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore, Session
from partita.cli._data_folder import DataFolder
from partita.cli.data._seed import begin_seeding
from partita_services.todo.bootstrap import SERVICE as TODO
from partita_services.todo.model import tasks_of_user


@pytest.mark.req("X02")
def test_seeding_twice_changes_nothing(run: Run, folder: Path) -> None:
    assert run("seed", "todo").output.splitlines()[-1] == "todo: 27 new, 0 existed already"
    assert run("seed", "todo").output.splitlines()[-1] == "todo: 0 new, 27 existed already"
    with EmbeddedStore(folder / "partita.db") as store:
        assert len(Session(store).run(tasks_of_user("demo"))) == 26


def test_what_a_first_start_left_undone_is_done_then(run: Run, folder: Path) -> None:
    begin_seeding(TODO, DataFolder(folder))
    run("seed", "todo")
    assert list(folder.glob("seeding-*")) == []


def test_what_was_deleted_comes_back(seeded: Run, folder: Path) -> None:
    with EmbeddedStore(folder / "partita.db") as store:
        task = Session(store).run(tasks_of_user("demo").first())
    assert task is not None
    assert seeded("explain", "delete_task", task.model_dump_json(), "--run").exit_code == 0
    assert seeded("seed", "todo").output.splitlines()[-1] == "todo: 1 new, 26 existed already"
