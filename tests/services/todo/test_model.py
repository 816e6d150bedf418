"""Every access pattern of the To-Do model: its result, order, pages and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

import pytest

from partita import EmbeddedStore, Get, Query, Session, Span, f
from partita.model import schema_of
from partita.store import PutItem
from partita.testing import assert_budget
from partita_services.todo.model import (
    TABLE,
    USERS,
    Priority,
    Status,
    Task,
    User,
    claim_on,
    completed_tasks,
    create_task,
    delete_task,
    save_user,
    task_by_id,
    tasks_by_category,
    tasks_by_due_date,
    tasks_by_priority,
    tasks_by_status,
    tasks_due_on,
    tasks_due_within,
    tasks_in_category,
    tasks_of_user,
    tasks_with_priority,
    tasks_with_status,
    update_task,
    user_by_id,
)

JANUARY = [date(2026, 1, day) for day in range(1, 32)]

SAMPLES = (
    # id, status, priority, category, due
    ("t01", Status.PENDING, Priority.LOW, "home", JANUARY[9]),
    ("t02", Status.COMPLETED, Priority.URGENT, "work", JANUARY[0]),
    ("t03", Status.PENDING, None, None, None),
    ("t04", Status.IN_PROGRESS, Priority.HIGH, "C#", JANUARY[10]),
    ("t05", Status.COMPLETED, Priority.MEDIUM, "C", JANUARY[9]),
    ("t06", Status.CANCELLED, Priority.URGENT, "work", JANUARY[30]),
    ("t07", Status.PENDING, Priority.HIGH, "C#/F#", None),
)


def task(task_id: str, **fields: Any) -> Task:
    known: dict[str, Any] = {"user_id": "ann", "title": "a", "created_at": 1, "updated_at": 1}
    return Task(task_id=task_id, **known | fields)


@pytest.fixture
def db(partita_db: Session) -> Session:
    """A session on a store with some tasks of Ann, and one of another user."""
    for task_id, status, priority, category, due in SAMPLES:
        made = task(task_id, status=status, priority=priority, category=category, due_date=due)
        partita_db.run(create_task(made))
    partita_db.run(create_task(task("t99", user_id="ann2", status=Status.PENDING, category="work")))
    return partita_db


def found(tasks: Iterable[Task]) -> str:
    return " ".join(task.task_id for task in tasks)


EXPECTED: list[tuple[str, Callable[[], Query[Task]], str]] = [
    ("T03", lambda: tasks_of_user("ann"), "t01 t02 t03 t04 t05 t06 t07"),
    ("T04", lambda: tasks_by_status("ann"), "t06 t02 t05 t04 t01 t03 t07"),
    ("T05", lambda: tasks_with_status("ann", Status.PENDING), "t01 t03 t07"),
    ("T06", lambda: tasks_by_due_date("ann"), "t02 t01 t05 t04 t06"),
    ("T07", lambda: tasks_due_on("ann", JANUARY[9]), "t01 t05"),
    ("T08", lambda: tasks_due_within("ann", Span.between(JANUARY[0], JANUARY[10])), "t02 t01 t05 t04"),
    ("T08", lambda: tasks_due_within("ann", Span.between(JANUARY[9], JANUARY[9])), "t01 t05"),
    ("T08", lambda: tasks_due_within("ann", Span.since(JANUARY[10])), "t04 t06"),
    ("T08", lambda: tasks_due_within("ann", Span.until(JANUARY[9])), "t02 t01 t05"),
    ("T09", lambda: tasks_by_priority("ann"), "t02 t06 t04 t07 t05 t01"),
    ("T10", lambda: tasks_with_priority("ann", Priority.HIGH), "t04 t07"),
    ("T11", lambda: tasks_by_category("ann"), "t05 t04 t07 t01 t02 t06"),
    ("T12", lambda: tasks_in_category("ann", "work"), "t02 t06"),
    ("T12", lambda: tasks_in_category("ann", "C"), "t05"),
    ("T12", lambda: tasks_in_category("ann", "C#"), "t04"),
    ("T13", lambda: completed_tasks("ann"), "t02 t05"),
]
EVERY_LIST = [pytest.param(make, ids, id=name) for name, make, ids in EXPECTED]


@pytest.mark.req("T03", "T04", "T05", "T06", "T07", "T08", "T09", "T10", "T11", "T12", "T13", "T51")
@pytest.mark.parametrize(("make", "expected"), EVERY_LIST)
def test_a_list_has_its_tasks_in_order(make: Callable[[], Query[Task]], expected: str, db: Session) -> None:
    assert expected == found(assert_budget(db, make()))


@pytest.mark.parametrize(("make", "expected"), EVERY_LIST)
def test_a_task_of_someone_else_with_anns_index_keys_is_on_no_list(
    make: Callable[[], Query[Task]], expected: str, db: Session
) -> None:
    for sample in list(db.run(tasks_of_user("ann"))):
        stored = schema_of(Task).item(sample)
        db.store.execute(PutItem(TABLE.name, {**stored, "PK": "TASK#eve", "SK": f"TASK#{sample.task_id}x"}))
    assert expected == found(db.run(make()))
    assert len(expected.split()) == db.run(make().count())


@pytest.mark.req("T15")
@pytest.mark.parametrize(("make", "expected"), EVERY_LIST)
def test_its_pages_have_each_task_once(make: Callable[[], Query[Task]], expected: str, db: Session) -> None:
    pages: list[Task] = []
    cursor: str | None = None
    while True:
        page = db.run(make().page(2, after=cursor))
        pages += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert expected == found(pages)


@pytest.mark.req("T01")
def test_a_user_is_read_by_id(partita_db: Session) -> None:
    user = User(user_id="ann", email="ann@example.com", name="Ann", created_at=1, updated_at=1)
    plan = USERS.insert(user)
    assert_budget(partita_db, save_user(plan))
    assert assert_budget(partita_db, user_by_id("ann")) == plan.result
    assert assert_budget(partita_db, user_by_id("bob")) is None


@pytest.mark.req("T53")
def test_a_user_is_written_with_the_claim_on_the_email(partita_db: Session, embedded: EmbeddedStore) -> None:
    user = User(user_id="ann", email="ann@example.com", name="Ann", created_at=1, updated_at=1)
    plan = USERS.insert(user)
    assert consumed(partita_db, save_user(plan)) == 4
    renamed = USERS.update(plan.result, f(User.name).set("Anne"))
    assert consumed(partita_db, save_user(renamed)) == 2
    moved = USERS.update(renamed.result, f(User.email).set("ann@example.org"))
    assert consumed(partita_db, save_user(moved)) == 6
    assert partita_db.run(claim_on("email", "ann@example.com")) is None


@pytest.mark.req("T02")
def test_a_task_is_read_by_its_owner_and_id(db: Session) -> None:
    read = assert_budget(db, task_by_id("ann", "t01"))
    assert read == task("t01", priority=Priority.LOW, category="home", due_date=JANUARY[9], version=1)
    assert assert_budget(db, task_by_id("ann2", "t01")) is None


FULL: dict[str, Any] = {"priority": Priority.LOW, "category": "home", "due_date": JANUARY[0], "description": "x" * 600}
"""Fields that put a task into all four indexes, and make it almost 1 KB."""


def consumed(db: Session, operation: Any) -> float:
    with db.meter.watch() as seen:
        db.run(operation)
    return sum(run.write for run in seen)


@pytest.mark.req("T21", "T53")
def test_a_create_writes_the_table_and_every_index(partita_db: Session) -> None:
    assert consumed(partita_db, create_task(task("new", **FULL))) == 5
    assert consumed(partita_db, create_task(task("bare"))) == 2


@pytest.mark.req("T22", "T53")
def test_an_update_moves_the_entries_that_it_changes(partita_db: Session) -> None:
    saved = partita_db.run(create_task(task("new", **FULL)))
    saved = saved.model_copy(update={"title": "b"})
    assert consumed(partita_db, update_task(saved)) == 5
    changed = saved.model_copy(update={"status": Status.COMPLETED, "version": 2})
    assert consumed(partita_db, update_task(changed)) == 6
    again = partita_db.run(task_by_id("ann", "new"))
    assert again is not None
    moved = again.model_copy(
        update={"status": Status.PENDING, "priority": Priority.HIGH, "category": "work", "due_date": JANUARY[1]}
    )
    assert consumed(partita_db, update_task(moved)) == 9


@pytest.mark.req("T23", "T53")
@pytest.mark.parametrize("at", ["entity", "key"])
def test_a_delete_costs_as_much_as_a_create(at: str, partita_db: Session) -> None:
    saved = partita_db.run(create_task(task("new", **FULL)))
    named: Task | Get[Task] = saved if at == "entity" else task_by_id("ann", "new")
    assert consumed(partita_db, delete_task(named)) == 5
    assert partita_db.run(tasks_of_user("ann")).items == ()
    assert partita_db.run(tasks_by_category("ann")).items == ()


@pytest.mark.req("T53")
def test_a_full_page_of_1_kb_tasks_is_the_budget(partita_db: Session) -> None:
    for number in range(101):
        partita_db.run(create_task(task(f"t{number:03}", **FULL)))
    page = assert_budget(partita_db, tasks_of_user("ann").page(100))
    assert len(page) == 100
    assert page.next_cursor is not None


def test_every_pattern_is_documented_and_has_a_budget() -> None:
    lacking = [name for name, pattern in TABLE.patterns.items() if not pattern.doc or pattern.budget is None]
    assert lacking == []
