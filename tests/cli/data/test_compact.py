"""`partita compact`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

from partita import EmbeddedStore, Session
from partita_services.todo.model import tasks_of_user


def test_it_writes_the_database_again_and_says_how_large_it_is(seeded: Run, folder: Path) -> None:
    before = (folder / "partita.db").stat().st_size
    result = seeded("compact")
    after = (folder / "partita.db").stat().st_size
    assert (result.exit_code, result.output) == (
        0,
        f"{folder / 'partita.db'}: {before:,} bytes before, {after:,} now\n",
    )
    with EmbeddedStore(folder / "partita.db") as store:
        store.verify()
        assert len(Session(store).run(tasks_of_user("demo"))) == 26


def test_it_makes_no_database(run: Run, folder: Path) -> None:
    result = run("compact")
    assert (result.exit_code, "There is no database" in result.output, folder.exists()) == (1, True, False)
