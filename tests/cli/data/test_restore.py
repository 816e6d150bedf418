"""`partita restore`: a backup replaces the database, whatever the last process left there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import Result
from tests.cli.conftest import Run

from partita import EmbeddedStore, Session, insert
from partita._sqlite import ProcessLock, open_database
from partita.change import Consumer
from partita.store.embedded.upkeep import _restore
from partita_services.todo.model import TABLE, Task, tasks_of_user
from partita_services.todo.projection import TaskProjection

KILLED = """
import os, signal, sys
from partita import EmbeddedStore, Session, insert
from partita_services.todo.model import Task
session = Session(EmbeddedStore(sys.argv[1]))
session.run(insert(Task(user_id="ann", title=sys.argv[2], created_at=1, updated_at=1)))
os.kill(os.getpid(), signal.SIGKILL)
"""

IDLE = """
import sys
from partita import EmbeddedStore
with EmbeddedStore(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def database(folder: Path) -> Path:
    return folder / "partita.db"


@pytest.fixture
def backup(run: Run, database: Path, tmp_path: Path) -> Path:
    """A backup of only the database, with the sample data."""
    target = tmp_path / "a copy?.db"
    assert run("seed", "todo").exit_code == 0
    with EmbeddedStore(database) as store:
        store.backup(target)
    return target


def write_and_die(path: Path, title: str) -> None:
    """Add a task in a process that then kills itself, so that the task is only in the log."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), title], check=False)
    assert (done.returncode, log_of(path).exists()) == (-signal.SIGKILL, True)


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def add(path: Path, *titles: str) -> None:
    with EmbeddedStore(path) as store:
        for title in titles:
            Session(store).run(insert(Task(user_id="ann", title=title, created_at=1, updated_at=1)))


def titles(path: Path) -> list[str]:
    """Verify the store, and return the titles of the added tasks."""
    with EmbeddedStore(path) as store:
        store.verify()
        assert len(Session(store).run(tasks_of_user("demo"))) == 26
        return [task.title for task in Session(store).run(tasks_of_user("ann"))]


def kept_by(result: Result) -> Path:
    assert result.exit_code == 0, result.output
    restored, kept = result.output.splitlines()[-2:]
    assert ": restored from " in restored
    return Path(kept.removeprefix("The previous contents are kept as "))


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Keep the store open in another process, which is idle."""
    command = [sys.executable, "-c", IDLE, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield
        process.communicate()


def test_a_log_that_a_killed_process_left_is_not_taken_for_that_of_the_backup(
    run: Run, backup: Path, database: Path
) -> None:
    write_and_die(database, "later")
    before = backup.read_bytes()
    kept = kept_by(run("restore", str(backup)))
    assert (kept.parent, kept.name.startswith("partita.db.before-2")) == (database.parent, True)
    assert (titles(database), titles(kept)) == ([], ["later"])
    assert backup.read_bytes() == before
    assert list(backup.parent.glob("a copy?.db-*")) == []


def test_a_damaged_database_is_kept_with_its_log(run: Run, backup: Path, database: Path) -> None:
    write_and_die(database, "later")
    database.write_bytes(b"damaged" * 1_000)
    log = log_of(database).read_bytes()
    kept = kept_by(run("restore", str(backup)))
    assert (kept.read_bytes(), log_of(kept).read_bytes()) == (b"damaged" * 1_000, log)
    assert titles(database) == []


def test_a_log_whose_database_is_gone_is_kept(run: Run, backup: Path, database: Path) -> None:
    write_and_die(database, "later")
    log = log_of(database).read_bytes()
    database.unlink()
    kept = kept_by(run("restore", str(backup)))
    assert (kept.exists(), log_of(kept).read_bytes()) == (False, log)
    assert titles(database) == []


def test_what_was_kept_can_be_restored_with_its_log(run: Run, backup: Path, database: Path, tmp_path: Path) -> None:
    write_and_die(database, "later")
    pair = tmp_path / "kept.db"
    shutil.copy(database, pair)
    shutil.copy(log_of(database), log_of(pair))
    kept_by(run("restore", str(backup)))
    kept_by(run("restore", str(pair)))
    assert titles(database) == ["later"]
    assert log_of(pair).exists()


def test_a_store_in_use_is_left_alone(run: Run, backup: Path, database: Path) -> None:
    with in_use(database):
        result = run("restore", str(backup))
        assert (result.exit_code, result.output) == (
            1,
            f"Error: The store {database} is in use. First stop `partita serve` and all other users of it.\n",
        )
    assert list(database.parent.glob("*.before-*")) == []
    kept_by(run("restore", str(backup)))


def test_who_wants_to_open_the_store_meanwhile_has_to_wait(database: Path) -> None:
    database.parent.mkdir()
    with closing(ProcessLock(database)) as lock:
        with _restore.unused(database):
            assert not lock.acquire(blocking=False)
        assert lock.acquire(blocking=False)


@pytest.mark.parametrize("content", [b"", b"no database" * 100])
def test_a_file_that_is_no_store_is_refused(run: Run, folder: Path, tmp_path: Path, content: bytes) -> None:
    assert run("tables", "create", "todo").exit_code == 0
    file = tmp_path / "other"
    file.write_bytes(content)
    before = sorted(folder.iterdir())
    result = run("restore", str(file))
    assert result.exit_code == 1
    assert result.output.splitlines()[-1].startswith(f"Error: The file {file} is ")
    assert result.output.endswith("Choose another backup; nothing was changed.\n")
    assert sorted(folder.iterdir()) == before


def test_a_damaged_backup_is_refused(run: Run, backup: Path, folder: Path, database: Path) -> None:
    with open_database(str(backup)) as connection:
        connection.execute("UPDATE items_1 SET size = size + 1")
    connection.close()
    add(database, "later")
    before = sorted(folder.iterdir())
    result = run("restore", str(backup))
    assert result.exit_code == 1
    assert f"Error: The store {backup} is damaged: table" in result.output
    assert sorted(folder.iterdir()) == before
    assert titles(database) == ["later"]


def test_a_backup_that_ends_too_early_is_refused(run: Run, backup: Path, database: Path) -> None:
    os.truncate(backup, backup.stat().st_size // 2)
    result = run("restore", str(backup))
    assert (result.exit_code, f"Error: The store {backup} is damaged" in result.output) == (1, True)
    assert titles(database) == []


def test_a_file_that_is_not_there_is_a_usage_error(run: Run, folder: Path) -> None:
    assert run("restore", "nothing.db").exit_code == 2
    assert not folder.exists()


def test_a_new_folder_gets_the_database(run: Run, backup: Path, tmp_path: Path) -> None:
    result = run("restore", str(backup), "--data", str(tmp_path / "new"))
    assert (result.exit_code, "are kept as" in result.output) == (0, False)
    assert titles(tmp_path / "new" / "partita.db") == []


def test_a_backup_of_a_store_in_memory_becomes_one_with_a_log(run: Run, folder: Path, tmp_path: Path) -> None:
    with EmbeddedStore(":memory:") as store:
        store.backup(tmp_path / "memory.db")
    assert run("restore", str(tmp_path / "memory.db")).exit_code == 0
    with EmbeddedStore(folder / "partita.db"):
        assert log_of(folder / "partita.db").exists()


@pytest.mark.parametrize("synced", range(3))
def test_whenever_it_is_interrupted_there_is_a_whole_store(
    run: Run, backup: Path, database: Path, synced: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_and_die(database, "later")
    calls = iter(range(3))

    def interrupted(_: Path) -> None:
        if next(calls) == synced:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_restore, "sync", interrupted)
        assert run("restore", str(backup)).exit_code == 1
    assert list(database.parent.glob("*.restoring*")) == []
    assert titles(database) == ([] if synced == 2 else ["later"])


def test_the_log_is_not_missed_where_only_the_last_step_fails(
    run: Run, backup: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_and_die(database, "later")

    def interrupted(*_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", interrupted)
        assert run("restore", str(backup)).exit_code == 1
    assert titles(database) == ["later"]


def test_what_was_derived_from_the_old_database_is_removed(run: Run, backup: Path, folder: Path) -> None:
    derived = ["todo-projection.db", "todo-projection.db-wal", "backfill-accounts-account.json", "seeding-todo"]
    for name in (*derived, "queue-events.db", "secret.key"):
        (folder / name).touch()
    kept_by(run("restore", str(backup)))
    assert [name for name in derived if (folder / name).exists()] == []
    assert [(folder / name).exists() for name in ("queue-events.db", "secret.key")] == [True, True]


def test_consumers_start_again_however_far_the_restored_stream_has_come(
    run: Run, backup: Path, database: Path, tmp_path: Path
) -> None:
    add(database, "lost 1", "lost 2")
    status = ("cdc", "status", "todo", "--lake", str(tmp_path / "lake"))
    assert run("cdc", "run", "todo", "--lake", str(tmp_path / "lake"), "--once").exit_code == 0
    for _ in range(2):  # also when the same backup is restored again
        kept_by(run("restore", str(backup)))
        add(database, *(f"new {number}" for number in range(40)))
        result = run(*status)
        assert (result.exit_code, "is not the one that was read before" in result.output) == (1, True)
        assert run("cdc", "rebuild", "todo", "--lake", str(tmp_path / "lake")).exit_code == 0
        assert run(*status).exit_code == 0


def test_streams_of_tables_that_are_made_again_are_others(run: Run, folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    projection = TaskProjection(tmp_path / "projection.db")
    with EmbeddedStore(folder / "partita.db") as store:
        store.backup(tmp_path / "empty.db")
        Session(store).create_tables([TABLE])
        Consumer(store, TABLE, projection).catch_up()
    old = projection.positions().keys()
    kept_by(run("restore", str(tmp_path / "empty.db")))
    with EmbeddedStore(folder / "partita.db") as store:
        Session(store).create_tables([TABLE])
        Consumer(store, TABLE, projection).rebuild()
    assert projection.positions().keys().isdisjoint(old)
    projection.close()
