"""The rules of the To-Do service, run on prepared responses, and concurrent changes, none of which is lost."""

from __future__ import annotations

import threading
from contextlib import closing
from datetime import date
from typing import Any

import pytest

from partita import EmbeddedStore, Operation, Precondition, Procedure, Session
from partita.errors import AlreadyExists, ConditionFailed, ItemMissing, UniqueTaken, VersionConflict
from partita.recipes.idempotency import run_plan
from partita.testing import FakeClock, Realism, RealisticStore
from partita_services.todo.bulk import TaskOutcome, change_status
from partita_services.todo.changes import MAX_TRIES, TaskChange, with_change
from partita_services.todo.handlers import _was_second, change_task, remove_task, show_task
from partita_services.todo.model import TABLE, Status, Task, create_task, task_by_id

OPEN = Task(user_id="ann", task_id="t1", title="a", created_at=1, updated_at=1, version=3)


def run_on(procedure: Procedure[Any], *responses: Any) -> tuple[list[Operation[Any]], Any]:
    """Run a procedure on prepared responses, of which errors are raised in it; return its operations and its result."""
    asked = [next(procedure)]
    for response in responses:
        try:
            error = isinstance(response, Exception)
            asked.append(procedure.throw(response) if error else procedure.send(response))
        except StopIteration as stop:
            return asked, stop.value
    raise AssertionError(f"It asks for {asked[-1]}.")


@pytest.mark.req("T31")
def test_completion_is_dated_when_it_happens_and_only_then() -> None:
    completed = with_change(OPEN, {"status": Status.COMPLETED}, now=10)
    assert (completed.completed_at, completed.updated_at) == (10, 10)
    renamed = with_change(completed, {"title": "b"}, now=20)
    assert (renamed.completed_at, renamed.updated_at) == (10, 20)
    again = with_change(renamed, {"status": Status.COMPLETED}, now=30)
    assert again is renamed
    for status in (Status.PENDING, Status.IN_PROGRESS, Status.CANCELLED):
        assert with_change(renamed, {"status": status}, now=30).completed_at is None


@pytest.mark.parametrize("change", [{}, {"title": "a"}, {"description": None, "status": Status.PENDING}])
def test_a_change_that_changes_nothing_writes_nothing(change: TaskChange) -> None:
    asked, task = run_on(change_task("ann", "t1", change, now=10), OPEN)
    assert [operation.name for operation in asked] == ["task_by_id"]
    assert task is OPEN


@pytest.mark.req("T30")
def test_a_change_is_made_again_on_what_another_writer_wrote() -> None:
    theirs = OPEN.model_copy(update={"description": "theirs", "version": 4})
    ours = theirs.model_copy(update={"title": "ours", "updated_at": 10, "version": 5})
    conflict = VersionConflict("second", current=theirs)
    asked, _ = run_on(change_task("ann", "t1", {"title": "ours"}, now=10), OPEN, conflict, ours)
    written = asked[-1].entity  # type: ignore[attr-defined]
    assert (written.title, written.description, written.version) == ("ours", "theirs", 4)


def test_a_change_that_always_comes_second_is_a_conflict() -> None:
    theirs = [OPEN.model_copy(update={"version": 4 + n}) for n in range(MAX_TRIES)]
    conflicts = [VersionConflict("second", current=task) for task in theirs]
    with pytest.raises(VersionConflict):
        run_on(change_task("ann", "t1", {"title": "ours"}, now=10), OPEN, *conflicts)


@pytest.mark.req("T30")
def test_a_version_that_is_not_allowed_changes_nothing() -> None:
    with pytest.raises(VersionConflict):
        run_on(change_task("ann", "t1", {"title": "ours"}, 10, only=Precondition(frozenset({1, 2}))), OPEN, OPEN)
    with pytest.raises(VersionConflict):
        run_on(remove_task("ann", "t1", only=Precondition(frozenset({1, 2}))), OPEN, OPEN)


def test_what_is_missing_cannot_be_changed_or_removed() -> None:
    with pytest.raises(ItemMissing):
        run_on(change_task("ann", "t1", {"title": "ours"}, now=10), None, None)
    with pytest.raises(ItemMissing):
        run_on(run_plan(remove_task("ann", "t1")), ItemMissing("gone"))
    with pytest.raises(ItemMissing):
        run_on(remove_task("ann", "t1", only=Precondition(frozenset({1}))), None, None)


@pytest.mark.req("T30", "T18")
def test_a_caller_s_own_last_write_counts_although_reads_may_be_stale(fake_clock: FakeClock) -> None:
    stale = RealisticStore(EmbeddedStore(":memory:", clock=fake_clock), Realism(stale_seconds=60), clock=fake_clock)
    with closing(stale):
        db = Session(stale, clock=fake_clock)
        db.create_tables([TABLE])
        task = db.run(create_task(OPEN.model_copy(update={"version": 0})))
        assert db.run(show_task("ann", "t1")) == task
        changed = db.run(change_task("ann", "t1", {"title": "b"}, 10, Precondition(frozenset({task.version}))))
        (done, again) = [db.run(change_status("ann", ["t1"], Status.COMPLETED, 20))[0] for _ in range(2)]
        assert (done.outcome, again.outcome) == (TaskOutcome.CHANGED, TaskOutcome.UNCHANGED)
        stale.catch_up()
        db.run(change_task("ann", "t1", {"title": "c"}, 30))
        last = Precondition(frozenset({changed.version + 2}))
        db.run(run_plan(remove_task("ann", "t1", last)))
        assert db.run(task_by_id("ann", "t1").consistent()) is None


def test_a_task_deleted_in_between_is_missing() -> None:
    deleted = VersionConflict("second", current=None)
    with pytest.raises(ItemMissing):
        run_on(change_task("ann", "t1", {"title": "ours"}, now=10), OPEN, deleted)


@pytest.mark.req("T30")
def test_concurrent_changes_lose_no_field(partita_store: EmbeddedStore) -> None:
    db = Session(partita_store)
    db.create_tables([TABLE])
    db.run(create_task(OPEN.model_copy(update={"version": 0})))
    changes: list[TaskChange] = [
        {"title": "new"},
        {"description": "new"},
        {"category": "new"},
        {"status": Status.COMPLETED},
    ]
    changes += [{"due_date": date(2026, 1, 1 + day)} for day in range(20)]
    barrier = threading.Barrier(len(changes))

    def run(change: TaskChange) -> None:
        barrier.wait()
        db.run(change_task("ann", "t1", change, now=10))

    threads = [threading.Thread(target=run, args=(change,)) for change in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    task = db.run(task_by_id("ann", "t1"))
    assert task is not None
    assert (task.title, task.description, task.category) == ("new", "new", "new")
    assert (task.status, task.completed_at, task.version) == (Status.COMPLETED, 10, 25)


@pytest.mark.parametrize(
    ("conflict", "expected"),
    [
        (VersionConflict("another write was first"), True),
        (AlreadyExists("another write was first"), True),
        (UniqueTaken("email", "ada@example.org", owner="u2"), False),
        (ItemMissing("it is gone"), False),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_user_is_written_again_after_the_user_s_own_call_and_not_where_another_has_the_email(
    conflict: ConditionFailed,
    expected: bool,  # noqa: FBT001
) -> None:
    assert _was_second(conflict) is expected
