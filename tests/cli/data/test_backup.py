"""`partita backup` and `partita check`."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore, Session
from partita.queue import Send
from partita.queue.embedded import EmbeddedQueue
from partita_services.todo.model import tasks_of_user


def test_a_backup_has_the_data(seeded: Run, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    result = seeded("backup", str(target))
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == f"{target}: {target.stat().st_size:,} bytes"
    with EmbeddedStore(target) as store:
        assert len(Session(store).run(tasks_of_user("demo"))) == 26


def test_a_backup_never_overwrites(seeded: Run, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    result = seeded("backup", str(target))
    assert result.exit_code == 1
    assert "Error: " in result.output
    assert target.read_text() == "precious"


def test_a_sound_database_passes_the_check(seeded: Run, folder: Path) -> None:
    result = seeded("check")
    assert (result.exit_code, result.output) == (0, f"{folder / 'partita.db'}: sound\n")


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
    target = tmp_path / f"{'long' * 60}.db"  # the name of the unfinished copy is longer than any may be
    result = seeded("backup", str(target))
    assert (result.exit_code, result.output.splitlines()[-1].startswith(f"Error: The store {target} ")) == (1, True)
    assert str(folder) not in result.output


def test_the_check_covers_queues(seeded: Run, folder: Path) -> None:
    with EmbeddedQueue(folder / "queue-events.db", "events") as queue:
        queue.execute(Send("body", "group", "id"))
    result = seeded("check")
    sound = f"{folder / 'partita.db'}: sound\n{folder / 'queue-events.db'}: sound\n"
    assert (result.exit_code, result.output) == (0, sound)
    (folder / "queue-events.db").write_bytes(b"junk" * 1_000)
    result = seeded("check")
    assert (result.exit_code, "queue-events.db is not a database" in result.output) == (1, True)
    assert "move the file away" in result.output


def test_a_damaged_database_is_not_copied(seeded: Run, folder: Path, tmp_path: Path) -> None:
    connection = apsw.Connection(str(folder / "partita.db"))
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
    said = f"Error: The database {folder / 'partita.db'} is empty, but beside it is {beside}. Restore it"
    assert (result.exit_code, result.output.startswith(said)) == (1, True)
    assert (folder / "partita.db").stat().st_size == 0


def test_an_empty_file_alone_becomes_a_database(run: Run, folder: Path) -> None:
    folder.mkdir()
    (folder / "partita.db").touch()
    assert (run("seed", "todo").exit_code, run("check").exit_code) == (0, 0)
