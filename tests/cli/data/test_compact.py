"""`partita compact`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore, Session
from partita.cli.data import _compact
from partita.store.embedded import Progress
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


def test_a_terminal_sees_how_far_it_is(seeded: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[int, int]] = []

    @contextmanager
    def watched(label: str) -> Iterator[Progress]:
        assert label == "Compacting"
        yield lambda done, total: shown.append((done, total))

    monkeypatch.setattr(_compact, "progress_bar", watched)
    assert seeded("compact").exit_code == 0
    assert shown[0][0] == 0
    assert shown[-1][0] == shown[-1][1] > 0


def test_it_makes_no_database(run: Run, folder: Path) -> None:
    result = run("compact")
    assert (result.exit_code, "There is no database" in result.output, folder.exists()) == (1, True, False)
