"""`partita todo expire-completed`: sets the time limit of tasks that were completed before it was introduced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from partita import EmbeddedStore, Operation, Put, Session
from partita.cli import main
from partita.errors import VersionConflict
from partita.runtime import run as run_requests
from partita_services.todo.model import TABLE, Status, Task, create_task, task_by_id
from partita_services.todo.retention import RetentionProgress, retention_page

pytestmark = pytest.mark.req("T26")

DAY = 86_400
LATER = 4_000_000_000


def run(folder: Path, *arguments: str, days: str = "") -> Result:
    environment = {"PARTITA_TODO_KEEP_COMPLETED_DAYS": days}
    command = ["todo", "expire-completed", "--data", str(folder), "--wcu-per-second", "1000000", *arguments]
    return CliRunner().invoke(main, command, env=environment)


def owner_of(number: int) -> str:
    return f"u{number % 4}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with 150 tasks of four users, each of whom has completed some."""
    with EmbeddedStore(tmp_path / "partita.db") as store:
        db = Session(store)
        db.create_tables([TABLE])
        for number in range(150):
            status = Status.COMPLETED if number % 3 == 0 else Status.PENDING
            completed_at = LATER if status is Status.COMPLETED else None
            task = Task(user_id=owner_of(number), task_id=f"{number:03}", title="t", created_at=1, updated_at=1)
            db.run(create_task(task.model_copy(update={"status": status, "completed_at": completed_at})))
    return tmp_path


def limits(folder: Path) -> set[tuple[Status, int | None]]:
    with EmbeddedStore(folder / "partita.db") as store:
        tasks = [Session(store).run(task_by_id(owner_of(number), f"{number:03}")) for number in range(150)]
        return {(task.status, task.ttl) for task in tasks if task is not None}


def test_tasks_that_were_completed_before_get_their_time_limit(folder: Path) -> None:
    assert run(folder, "--days", "30").stdout.splitlines()[-1] == "150 tasks read, 50 changed."
    assert limits(folder) == {(Status.COMPLETED, LATER + 30 * DAY), (Status.PENDING, None)}
    assert run(folder, days="30").stdout.splitlines()[-1] == "150 tasks read, 0 changed."


def test_another_limit_replaces_it_and_never_takes_it_away(folder: Path) -> None:
    run(folder, "--days", "30")
    run(folder, "--days", "60")
    assert (Status.COMPLETED, LATER + 60 * DAY) in limits(folder)
    assert run(folder, "--never").stdout.splitlines()[-1] == "150 tasks read, 50 changed."
    assert limits(folder) == {(Status.COMPLETED, None), (Status.PENDING, None)}


def test_it_must_be_said_for_how_long(folder: Path) -> None:
    assert run(folder).exit_code == 2
    assert run(folder, "--days", "3", "--never").exit_code == 2


def test_a_stopped_run_goes_on_where_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("partita_services.todo.commands.time.sleep", stop)
    assert run(folder, "--days", "30").exit_code == 1
    monkeypatch.undo()
    result = run(folder, "--days", "30")
    assert result.stdout.startswith("Resuming after 100 tasks of an earlier run.")
    assert result.stdout.splitlines()[-1] == "150 tasks read, 50 changed."
    assert list(folder.glob("*expire-completed*")) == []


def test_what_somebody_changes_meanwhile_is_theirs(folder: Path) -> None:
    with EmbeddedStore(folder / "partita.db") as store:
        db = Session(store).maintenance("a test")
        progress = RetentionProgress(30 * DAY)

        def execute(request: Operation[Any]) -> Any:
            if isinstance(request, Put):
                raise VersionConflict("second")
            return db.run(request)

        while not progress.done:
            progress = run_requests(retention_page(progress), execute)
    assert (progress.inspected, progress.changed, progress.overtaken) == (150, 0, 50)
