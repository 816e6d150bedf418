"""A store that is prepared once, and branches of it for each test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.change.model import TABLE, Task

from partita import Session, insert
from partita.store import ScanTable
from partita.testing import PreparedStore

PREPARED: list[str] = []


@pytest.fixture(scope="session")
def partita_prepare() -> Callable[[Session], object]:
    def prepare(db: Session) -> None:
        PREPARED.append("once")
        db.create_tables([TABLE])
        db.run(insert(Task(user_id="ann", task_id="prepared")))

    return prepare


def ids(db: Session) -> list[str]:
    return [str(item["task_id"]) for item in db.store.execute(ScanTable("things")).items]


@pytest.mark.parametrize("number", range(3))
def test_each_test_has_what_was_prepared_and_nothing_of_another(partita_branch: Session, number: int) -> None:
    assert ids(partita_branch) == ["prepared"]
    partita_branch.run(insert(Task(user_id="ann", task_id=f"own {number}")))
    assert sorted(ids(partita_branch)) == [f"own {number}", "prepared"]
    assert PREPARED == ["once"]


def test_a_branch_leaves_nothing(tmp_path: Path) -> None:
    prepared = PreparedStore(tmp_path, lambda db: db.create_tables([TABLE]))
    before = sorted(path.name for path in tmp_path.iterdir())
    with prepared.branch() as store, prepared.branch() as other:
        Session(store).run(insert(Task(user_id="ann", task_id="x")))
        assert ids(Session(other)) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == before
