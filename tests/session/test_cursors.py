"""Cursors between processes: those of one service share a secret, and each may be given the cursor of another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.model.sample import Status, Task, session_on, tasks_of

from partita import Condition, EmbeddedStore, all_of, f, insert
from partita.testing import FakeClock

ROOT = Path(__file__).parents[2]
TAGS = frozenset({"red", "green", "blue", "big", "small"})
NOTES = ["one", "two"]

FILTERS: dict[str, Condition] = {
    "in a set": f(Task.title).is_in({"milk", "bread", "eggs", "tea", "salt"}),
    "in a set of enums": f(Task.status).is_in({Status.OPEN, Status.DOING, Status.DONE}),
    "in a set with None": f(Task.points).is_in({None, 1, 2, 3, -2}),
    "in a set of sets": f(Task.tags).is_in({TAGS, frozenset({"red", "big"}), frozenset({"blue", "small"})}),
    "equal to a set": f(Task.tags).eq(TAGS),
    "both": all_of(f(Task.tags).eq(TAGS), f(Task.notes).eq(NOTES), f(Task.title).is_in({"milk", "bread", "tea"})),
}


def main(path: str, name: str, cursor: str | None = None) -> None:
    """Write the cursor of the first page, or the tasks of the page after a cursor."""
    with EmbeddedStore(path) as store:
        page = session_on(store, FakeClock()).run(tasks_of("u").where(FILTERS[name]).page(1, after=cursor))
    sys.stdout.write(" ".join(task.task_id for task in page) if cursor else str(page.next_cursor))


def in_process(seed: str, *arguments: str) -> str:
    command = f"from tests.session.test_cursors import main; main(*{arguments!r})"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("name", FILTERS)
def test_a_cursor_is_good_in_another_process_whatever_order_its_sets_have(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / "tasks.db")
    with EmbeddedStore(path) as store:
        db = session_on(store, FakeClock())
        for number in range(2):
            db.run(insert(Task(user_id="u", task_id=str(number), title="milk", tags=TAGS, notes=NOTES)))
    cursor = in_process("1", path, name)
    assert in_process("2", path, name, cursor) == "1"


def test_the_filter_of_a_cursor_differs_from_one_that_looks_like_it() -> None:
    filters = [
        f(Task.tags).eq(frozenset({"a", "b"})),
        f(Task.tags).eq(frozenset({"a"})),
        f(Task.tags).ne(frozenset({"a", "b"})),
        f(Task.notes).eq(["a", "b"]),
        f(Task.tags).has("a"),
        all_of(f(Task.tags).has("a"), f(Task.tags).has("b")),
        f(Task.title).is_in({"a", "b"}),
        f(Task.title).is_in({"a"}),
    ]
    assert len({tasks_of("u").where(each).identity() for each in filters}) == len(filters)
