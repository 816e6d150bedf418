"""Cursors across processes: the processes of a service share a secret, and accept each other's cursors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def main(path: str, cursors: str) -> None:
    """Print the cursor of the first page with each filter; or, if cursors are given, the tasks of the next pages."""
    given: dict[str, str] = json.loads(cursors)
    with EmbeddedStore(path) as store:
        db = session_on(store, FakeClock())
        pages = {name: db.run(tasks_of("u").where(FILTERS[name]).page(1, after=given.get(name))) for name in FILTERS}
    said = {name: [task.task_id for task in page] if given else page.next_cursor for name, page in pages.items()}
    sys.stdout.write(json.dumps(said))


def in_process(seed: str, path: str, cursors: dict[str, Any]) -> dict[str, Any]:
    command = f"from tests.session.test_cursors import main; main({path!r}, {json.dumps(cursors)!r})"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    said = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, Any] = json.loads(said)
    return found


def test_a_cursor_is_good_in_another_process_whatever_order_its_sets_have(tmp_path: Path) -> None:
    path = str(tmp_path / "tasks.db")
    with EmbeddedStore(path) as store:
        db = session_on(store, FakeClock())
        for number in range(2):
            db.run(insert(Task(user_id="u", task_id=str(number), title="milk", tags=TAGS, notes=NOTES)))
    cursors = in_process("1", path, {})
    assert in_process("2", path, cursors) == {name: ["1"] for name in FILTERS}


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
