"""`partita backup` and `partita check`."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore, Session, insert
from partita._sqlite import open_database
from partita.folder import unpacked
from partita.queue import Acknowledge, Receive, Send
from partita.queue.embedded import EmbeddedQueue
from partita_services.todo.model import Task, tasks_of_user


def test_a_backup_has_the_data(seeded: Run, tmp_path: Path) -> None:
    target = tmp_path / "archive"
    result = seeded("backup", str(target))
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == f"{target}: {target.stat().st_size:,} bytes"
    with unpacked(target, tmp_path) as (_, found), EmbeddedStore(found / "partita.db") as store:
        assert len(Session(store).run(tasks_of_user("demo"))) == 26


def _fill(folder: Path) -> None:
    """Add other files to a data folder: a queue, a projection and a secret key."""
    with EmbeddedQueue(folder / "queue-todo-reminders.db", "todo-reminders") as queue:
        queue.execute(Send("body", "group", "id"))
    (folder / "todo-projection.db").write_text("derived")
    (folder / "secret.key").write_bytes(b"k" * 32)
    (folder / "secret.key").chmod(0o600)


def test_a_backup_is_restored_with_its_queues(seeded: Run, folder: Path, tmp_path: Path) -> None:
    _fill(folder)
    said = seeded("backup", str(tmp_path / "archive")).output
    assert "Not archived: " in said
    assert "secret.key" in said
    with EmbeddedQueue(folder / "queue-todo-reminders.db", "todo-reminders") as queue:
        (message,) = queue.execute(Receive())
        queue.execute(Acknowledge((message.receipt,)))
    with EmbeddedStore(folder / "partita.db") as store:
        Session(store).run(insert(Task(user_id="demo", title="later", created_at=1, updated_at=1)))
    result = seeded("restore", str(tmp_path / "archive"))
    assert (result.exit_code, result.output.count("are kept as")) == (0, 2)
    with EmbeddedQueue(folder / "queue-todo-reminders.db", "todo-reminders") as queue:
        assert [message.body for message in queue.execute(Receive())] == ["body"]
    with EmbeddedStore(folder / "partita.db") as store:
        assert len(Session(store).run(tasks_of_user("demo"))) == 26
    assert not (folder / "todo-projection.db").exists()
    assert (folder / "secret.key").read_bytes() == b"k" * 32


def test_a_backup_with_secrets_makes_a_new_folder_whole(seeded: Run, folder: Path, tmp_path: Path) -> None:
    _fill(folder)
    assert seeded("backup", str(tmp_path / "archive"), "--secrets").exit_code == 0
    new = tmp_path / "new"
    assert seeded("restore", str(tmp_path / "archive"), "--data", str(new)).exit_code == 0
    assert (new / "secret.key").read_bytes() == b"k" * 32
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in new.iterdir() if path.is_file()} == {
        path.name: 0o600 for path in new.iterdir()
    }


def test_what_is_in_use_is_not_replaced(seeded: Run, folder: Path, tmp_path: Path) -> None:
    _fill(folder)
    seeded("backup", str(tmp_path / "archive"))
    before = {path.name: path.read_bytes() for path in folder.glob("*.db")}
    for name in ("partita.db", "queue-todo-reminders.db"):
        with closing(apsw.Connection(str(folder / name))) as connection:
            connection.execute("BEGIN; SELECT * FROM sqlite_schema")
            result = seeded("restore", str(tmp_path / "archive"))
            assert (result.exit_code, "is in use" in result.output) == (1, True)
            connection.execute("ROLLBACK")
    assert before == {path.name: path.read_bytes() for path in folder.glob("*.db")}
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_a_damaged_backup_changes_nothing(seeded: Run, folder: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    seeded("backup", str(archive))
    archive.write_bytes(archive.read_bytes()[:-20])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = seeded("restore", str(archive))
    assert (result.exit_code, f"The archive {archive} is damaged" in result.output) == (1, True)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    elsewhere = tmp_path / "not-there"
    assert seeded("restore", str(archive), "--data", str(elsewhere)).exit_code == 1
    assert not elsewhere.exists()


def test_a_restore_that_was_killed_is_finished_by_the_next_command(
    seeded: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(folder)
    seeded("backup", str(tmp_path / "archive"))
    with EmbeddedStore(folder / "partita.db") as store:
        Session(store).run(insert(Task(user_id="demo", title="later", created_at=1, updated_at=1)))
    linked = os.link

    def killed(source: str, target: str, **more: Any) -> None:
        if "queue-" in str(source):
            raise KeyboardInterrupt
        linked(source, target, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", killed)
        assert seeded("restore", str(tmp_path / "archive")).exit_code == 1
    assert (folder / "restore.json").exists()
    assert seeded("check").exit_code == 0
    assert not (folder / "restore.json").exists()
    with EmbeddedStore(folder / "partita.db") as store:
        assert len(Session(store).run(tasks_of_user("demo"))) == 26


def test_a_backup_never_overwrites(seeded: Run, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    result = seeded("backup", str(target))
    assert result.exit_code == 1
    assert "Error: " in result.output
    assert target.read_text() == "precious"


def test_a_backup_may_go_into_a_pipe(
    seeded: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    result = seeded("backup", "-")
    assert (result.exit_code, sorted(path.name for path in tmp_path.iterdir())) == (0, before)
    assert result.stderr.startswith("partita.db: ")
    (tmp_path / "archive").write_bytes(result.stdout_bytes)
    assert seeded("restore", str(tmp_path / "archive"), "--data", str(tmp_path / "new")).exit_code == 0
    assert (tmp_path / "new" / "partita.db").exists()
    assert list(folder.glob(".*")) == []


def test_an_archive_is_not_written_to_a_terminal(seeded: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    result = seeded("backup", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "An archive is not written to a terminal" in result.stderr


def test_a_reader_that_goes_away_ends_the_backup_quietly(seeded: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **__: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("partita.folder._archive._write", gone)
    result = seeded("backup", "-")
    assert (result.exit_code, result.output) == (1, "")


def test_a_sound_database_passes_the_check(seeded: Run, folder: Path) -> None:
    result = seeded("check")
    assert (result.exit_code, result.output) == (0, f"{folder / 'partita.db'}: consistent\n")


def test_damage_is_found(seeded: Run, folder: Path) -> None:
    connection = apsw.Connection(str(folder / "partita.db"))
    tables = connection.execute("SELECT name FROM sqlite_master WHERE name GLOB 'items_[0-9]*' AND type = 'table'")
    for (name,) in list(tables):
        connection.execute(f"UPDATE {name} SET size = size + 1")  # noqa: S608
    connection.close()
    result = seeded("check")
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")


def test_a_backup_into_nowhere_names_the_folder_that_is_missing(seeded: Run, tmp_path: Path) -> None:
    result = seeded("backup", str(tmp_path / "nodir" / "copy.db"))
    said = f"Error: The folder {tmp_path / 'nodir'} does not exist. Create it first."
    assert (result.exit_code, result.output.splitlines()[-1]) == (1, said)


def test_a_backup_that_cannot_be_written_is_named_and_not_the_database(
    seeded: Run, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / f"{'long' * 70}.db"
    result = seeded("backup", str(target))
    assert (result.exit_code, result.output.splitlines()[-1].startswith(f"Error: The file {target} ")) == (1, True)
    assert str(folder) not in result.output


def test_the_check_covers_queues(seeded: Run, folder: Path) -> None:
    with EmbeddedQueue(folder / "queue-events.db", "events") as queue:
        queue.execute(Send("body", "group", "id"))
    result = seeded("check")
    consistent = f"{folder / 'partita.db'}: consistent\n{folder / 'queue-events.db'}: consistent\n"
    assert (result.exit_code, result.output) == (0, consistent)
    (folder / "queue-events.db").write_bytes(b"junk" * 1_000)
    result = seeded("check")
    assert (result.exit_code, "queue-events.db is not a database" in result.output) == (1, True)
    assert "move the file away" in result.output


def test_a_damaged_database_is_not_copied(seeded: Run, folder: Path, tmp_path: Path) -> None:
    connection = open_database(str(folder / "partita.db"))  # checksums stay valid, so only a check finds the damage
    connection.execute("UPDATE items_1 SET size = size + 1")
    connection.close()
    result = seeded("backup", str(tmp_path / "copy.db"))
    assert (result.exit_code, f"The store {folder / 'partita.db'} is damaged" in result.output) == (1, True)
    assert [file.name for file in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("beside", ["secret.key", "queue-events.db", "todo-projection.db"])
@pytest.mark.parametrize("command", [("check",), ("seed", "todo"), ("backup", "copy.db")])
def test_an_emptied_database_is_not_taken_for_a_new_one(
    beside: str, command: tuple[str, ...], run: Run, folder: Path
) -> None:
    folder.mkdir()
    (folder / "partita.db").touch()
    (folder / beside).touch()
    result = run(*command)
    said = f"Error: The database {folder / 'partita.db'} is empty, although {beside} exists. Restore it"
    assert (result.exit_code, result.output.startswith(said)) == (1, True)
    assert (folder / "partita.db").stat().st_size == 0


def test_an_empty_file_alone_becomes_a_database(run: Run, folder: Path) -> None:
    folder.mkdir()
    (folder / "partita.db").touch()
    assert (run("seed", "todo").exit_code, run("check").exit_code) == (0, 0)
