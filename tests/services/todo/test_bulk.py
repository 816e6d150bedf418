"""Changes of many tasks: each task has a result, and a call that was interrupted anywhere can be repeated."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import httpx
import pytest

from partita import Delete, EmbeddedStore, Operation, Procedure, Put, Session, f, update
from partita.errors import PartitaError
from partita.store._interface import Store
from partita.store._requests import DeleteItem, PutItem
from partita.testing import Crash, FakeClock, FaultyStore
from partita_services.todo import bulk
from partita_services.todo.bulk import Deletion, TaskOutcome, change_status, delete_completed
from partita_services.todo.model import TABLE, Status, Task, create_task, delete_task, task_by_id, tasks_of_user

R = TypeVar("R")

MANY = [f"t{number:03}" for number in range(6)]


@pytest.fixture
def store(partita_store: Store) -> FaultyStore:
    return FaultyStore(partita_store)


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    session = Session(store, clock=fake_clock, strict_budgets=True)
    session.create_tables([TABLE])
    return session


def add(db: Session, task_id: str, status: Status = Status.PENDING, user_id: str = "ann") -> Task:
    made = Task(user_id=user_id, task_id=task_id, title="a", status=status, created_at=1, updated_at=1)
    return db.run(create_task(made))


def statuses(db: Session) -> dict[str, Status]:
    return {task.task_id: task.status for task in db.run(tasks_of_user("ann"))}


def run_with(db: Session, work: Procedure[R], before: Callable[[Operation[Any]], None]) -> R:
    """Run a procedure as a session does, and call `before` with each of its operations first."""
    advance: Callable[[], Operation[Any]] = partial(next, work)
    while True:
        try:
            operation = advance()
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        before(operation)
        try:
            advance = partial(work.send, db.run(operation))
        except PartitaError as error:
            advance = partial(work.throw, error)


@pytest.mark.req("T18")
def test_every_task_has_a_result(db: Session) -> None:
    add(db, "open")
    add(db, "done", Status.COMPLETED)
    add(db, "hers", user_id="bob")
    results = db.run(change_status("ann", ["open", "gone", "done", "hers", "open"], Status.COMPLETED, now=10))
    assert [(result.task_id, result.outcome, result.version) for result in results] == [
        ("open", TaskOutcome.CHANGED, 2),
        ("gone", TaskOutcome.MISSING, None),
        ("done", TaskOutcome.UNCHANGED, 1),
        ("hers", TaskOutcome.MISSING, None),
    ]
    changed = db.run(task_by_id("ann", "open"))
    assert changed is not None
    assert (changed.status, changed.completed_at, changed.updated_at) == (Status.COMPLETED, 10, 10)


@pytest.mark.req("T18")
def test_a_task_that_others_keep_changing_is_a_conflict(db: Session) -> None:
    for task_id in MANY[:2]:
        add(db, task_id)

    def another_writer(operation: Operation[Any]) -> None:
        if isinstance(operation, Put) and operation.entity.task_id == MANY[0]:
            db.run(update(task_by_id("ann", MANY[0]), f(Task.title).set("changed")))

    results = run_with(db, change_status("ann", MANY[:2], Status.CANCELLED, now=10), another_writer)
    assert [result.outcome for result in results] == [TaskOutcome.CONFLICT, TaskOutcome.CHANGED]


@pytest.mark.req("T18")
@pytest.mark.parametrize("nth", range(1, len(MANY) + 1))
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_change_of_many_that_was_cut_off_goes_on(nth: int, when: str, db: Session, store: FaultyStore) -> None:
    for task_id in MANY:
        add(db, task_id)
    getattr(store, f"crash_{when}")(nth, on=PutItem)
    with pytest.raises(Crash):
        db.run(change_status("ann", MANY, Status.COMPLETED, now=10))
    done = nth if when == "after" else nth - 1
    results = db.run(change_status("ann", MANY, Status.COMPLETED, now=20))
    expected = [TaskOutcome.UNCHANGED] * done + [TaskOutcome.CHANGED] * (len(MANY) - done)
    assert [result.outcome for result in results] == expected
    assert {task.version for task in db.run(tasks_of_user("ann"))} == {2}


@pytest.mark.req("T18", "T53")
def test_a_change_of_many_costs_a_read_and_a_write_each(db: Session, embedded: EmbeddedStore) -> None:
    for task_id in MANY:
        add(db, task_id)
    with db.meter.watch() as seen:
        db.run(change_status("ann", MANY, Status.COMPLETED, now=10))
    assert [(run.name, run.read, run.write) for run in seen] == [
        ("tasks_by_ids", 3, 0),
        *[("update_task", 0, 3)] * len(MANY),
    ]


@pytest.mark.req("T19")
def test_only_the_completed_tasks_of_the_user_are_deleted(db: Session) -> None:
    for status in Status:
        add(db, status, status)
    add(db, "hers", Status.COMPLETED, user_id="bob")
    assert db.run(delete_completed("ann")) == Deletion(deleted=1, more=False)
    assert set(statuses(db).values()) == set(Status) - {Status.COMPLETED}
    assert db.run(task_by_id("bob", "hers")) is not None
    assert db.run(delete_completed("ann")) == Deletion(deleted=0, more=False)


@pytest.mark.req("T19")
def test_one_call_deletes_so_many_and_no_more(db: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "_PAGE", 2)
    for task_id in MANY:
        add(db, task_id, Status.COMPLETED)
    assert db.run(delete_completed("ann", limit=3)) == Deletion(deleted=3, more=True)
    assert db.run(delete_completed("ann", limit=4)) == Deletion(deleted=3, more=False)


@pytest.mark.req("T19")
@pytest.mark.parametrize("nth", range(1, len(MANY) + 1))
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_deletion_that_was_cut_off_goes_on(nth: int, when: str, db: Session, store: FaultyStore) -> None:
    for task_id in MANY:
        add(db, task_id, Status.COMPLETED)
    getattr(store, f"crash_{when}")(nth, on=DeleteItem)
    with pytest.raises(Crash):
        db.run(delete_completed("ann"))
    left = len(MANY) - (nth if when == "after" else nth - 1)
    assert len(statuses(db)) == left
    assert db.run(delete_completed("ann")) == Deletion(deleted=left, more=False)
    assert statuses(db) == {}


@pytest.mark.req("T19")
def test_a_task_that_is_reopened_or_deleted_meanwhile_is_left_alone(db: Session) -> None:
    for task_id in MANY:
        add(db, task_id, Status.COMPLETED)

    def another_writer(operation: Operation[Any]) -> None:
        if isinstance(operation, Delete) and len(statuses(db)) == len(MANY):
            db.run(update(task_by_id("ann", MANY[1]), f(Task.status).set(Status.PENDING)))
            db.run(delete_task(task_by_id("ann", MANY[2])))

    deletion = run_with(db, delete_completed("ann"), another_writer)
    assert deletion == Deletion(deleted=len(MANY) - 2, more=False)
    assert statuses(db) == {MANY[1]: Status.PENDING}


@pytest.mark.req("T19")
def test_one_call_deletes_so_many_and_says_that_there_are_more(db: Session) -> None:
    for task_id in MANY:
        add(db, task_id, Status.COMPLETED)
    assert db.run(delete_completed("ann", limit=4)) == Deletion(deleted=4, more=True)
    assert db.run(delete_completed("ann", limit=4)) == Deletion(deleted=2, more=False)


@pytest.mark.req("T18", "T19")
async def test_both_are_reached_over_http(api: httpx.AsyncClient) -> None:
    made = [(await api.post("/tasks", json={"title": "a"})).json()["task_id"] for _ in range(2)]
    change = {"task_ids": [*made, "gone"], "status": "completed"}
    changed = await api.post("/tasks/bulk/status", json=change)
    assert changed.json()["results"] == [
        *({"task_id": task_id, "outcome": "changed", "version": 2} for task_id in made),
        {"task_id": "gone", "outcome": "missing", "version": None},
    ]
    deleted = await api.post("/tasks/bulk/delete-completed")
    assert (deleted.status_code, deleted.json()) == (200, {"deleted": 2, "more": False})
