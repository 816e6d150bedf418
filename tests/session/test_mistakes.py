"""Common mistakes are refused before any request is sent, with a hint at what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.model.sample import Task, task_by_id, tasks_of

from partita import EmbeddedStore, Session, batch_get, batch_write, f, put, transact_get, update
from partita.errors import LimitExceeded, OperationError

TASK: Any = Task(user_id="u", task_id="t")
RENAME: Any = update(TASK, f(Task.title).set("new"))
TASKS: Any = tasks_of("u")


@pytest.mark.parametrize(
    ("mistake", "message", "hint"),
    [
        (lambda db: db.run(task_by_id), "task_by_id is neither an operation nor a procedure", "Call it with"),
        (lambda db: db.run([put(TASK)]), "list is neither an operation nor a procedure", "one at a time"),
        (lambda db: db.run(None), "NoneType is neither an operation nor a procedure", "Run operations"),
        (lambda db: db.transact(task_by_id("u", "t")), "Get is neither a write nor a check", r"transact_get\(\)"),
        (lambda db: db.transact(TASK), "Task is neither a write nor a check", r"put\(\)"),
        (lambda db: db.run(transact_get(TASKS)), "Query does not get one item", "on their own"),
        (lambda db: db.run(batch_get([TASKS])), "Query does not get one item", "on their own"),
        (lambda db: db.run(batch_write([RENAME])), "Update is neither a put nor a delete", r"transact\(\)"),
        (lambda db: db.stream(task_by_id("u", "t"), max_items=3), "Get has no pages to stream", "Stream a query"),
        (lambda db: db.stream(TASKS, max_items="3"), "A stream returns at least 1 item, not '3'", "max_items"),
        (lambda db: db.run(TASKS.page(3, after=3)), "This is not a cursor", "first page"),
        (lambda db: db.run(batch_write([TASK])), "Task is neither a put nor a delete", r"put\(\)"),
    ],
)
def test_a_mistake_is_named(db: Session, mistake: Callable[[Any], object], message: str, hint: str) -> None:
    with pytest.raises(OperationError, match=f"{message}.*{hint}"):
        mistake(db)


def test_a_count_whose_last_page_is_full_is_a_count(db: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.operations._query.COUNTED_PER_PAGE", 2)
    for number in range(4):
        db.run(put(Task(user_id="u", task_id=str(number))))
    assert db.run(tasks_of("u").count(max_pages=2)) == 4
    with pytest.raises(LimitExceeded, match="has more than 1 pages to count"):
        db.run(tasks_of("u").count(max_pages=1))


def test_a_path_is_not_a_provider_of_keys() -> None:
    hint = r"keys=LocalKeys.from_file\(path\)"
    with pytest.raises(OperationError, match=f"'keys.json' is not a provider of keys. Pass a provider, as in {hint}."):
        Session(EmbeddedStore(":memory:"), keys="keys.json")  # type: ignore[arg-type]
