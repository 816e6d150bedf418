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
