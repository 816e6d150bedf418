"""`partita backup` and `partita check`."""

from __future__ import annotations

from pathlib import Path

import apsw
from tests.cli.conftest import Run

from partita import EmbeddedStore, Session
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
