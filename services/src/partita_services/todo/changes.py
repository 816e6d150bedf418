"""Changing a task: the rules of completion, and how no change of another writer is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from partita import Precondition, Procedure, retry_on_conflict
from partita.errors import ConditionFailed, ItemMissing, PartitaError, VersionConflict
from partita.recipes.idempotency import Plan
from partita_services.todo.filters import Day
from partita_services.todo.model import Category, Description, Priority, Status, Task, Title, update_task

R = TypeVar("R")

MAX_TRIES: Final = 100
"""How often a change is tried while other writers are first. Each time, one of them has made progress."""


class TaskDraft(BaseModel):
    """A task as it is given to be created."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Title
    description: Description | None = None
    status: Status = Status.PENDING
    priority: Priority | None = None
    category: Category | None = None
    due_date: Day | None = None


class TaskChange(TypedDict, total=False):
    """The fields of a task to change. What is left out stays; null clears a field."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # read by Pydantic, not a field

    title: Title
    description: Description | None
    status: Status
    priority: Priority | None
    category: Category | None
    due_date: Day | None


def rewrite(
    read: Callable[[], Procedure[Task | None]],
    change: TaskChange,
    now: int,
    only: Precondition | None = None,
    *,
    keep: int | None = None,
    commit: Callable[[Procedure[Plan[Task]]], Procedure[R]],
) -> Procedure[R]:
    """Change fields of a task; what another writer changed since it was read is kept.

    Args:
        read: gives the task. After a conflict it is not read again: the conflict brings it along.
        change: the fields.
        now: the time.
        only: the versions that may be changed.
        keep: for how many seconds a completed task is kept.
        commit: writes the plan, such as `run_plan`, or together with the record of the caller's request.

    Raises:
        ItemMissing: there is no such task, or not any more.
        VersionConflict: `only` does not allow the version of the task.
    """
    known: list[Task | None] = []

    def plan() -> Procedure[Plan[Task]]:
        task = existing(known[-1] if known else (yield from read()))
        check_version(task, only)
        changed = with_change(task, change, now, keep)
        if changed is task:
            return Plan(task)
        write = update_task(changed)
        return Plan(write.saved, write)

    def attempt() -> Procedure[R]:
        try:
            return (yield from commit(plan()))
        except ConditionFailed as conflict:
            known.append(conflict.current)
            raise

    def when(error: PartitaError) -> bool:
        return isinstance(error, VersionConflict) and (error.current is None or is_allowed(error.current, only))

    return (yield from retry_on_conflict(attempt, tries=MAX_TRIES, when=when))


def with_change(task: Task, change: TaskChange, now: int, keep: int | None = None) -> Task:
    """The task with the change; the same one where nothing differs.

    The time of completion is set when the status becomes completed, and cleared when it leaves it; so is the time of
    deletion, `keep` seconds later, where completed tasks are not kept forever.
    """
    changed = task.model_copy(update=dict(change))
    if changed == task:
        return task
    moved = {} if changed.status is task.status else completion(changed.status, now, keep)
    return changed.model_copy(update={"updated_at": now, **moved})


def completion(status: Status, now: int, keep: int | None) -> dict[str, int | None]:
    """The fields about completion of a task that gets the status."""
    is_completed = status is Status.COMPLETED
    expires = now + keep if is_completed and keep is not None else None
    return {"completed_at": now if is_completed else None, "ttl": expires}


def given(task: Task | None) -> Procedure[Task | None]:
    """A task that was read before, where a procedure that reads it is asked for."""
    return task
    yield  # a procedure is a generator


def existing(task: Task | None) -> Task:
    """The task that was asked for.

    Raises:
        ItemMissing: there is none.
    """
    if task is None:
        raise ItemMissing("There is no such task.")
    return task


def is_allowed(task: Task, only: Precondition | None) -> bool:
    """Whether a precondition, where there is one, allows the version of a task."""
    return only is None or only.allows(task.version)


def check_version(task: Task, only: Precondition | None) -> None:
    """Refuse a task in a version that is not allowed.

    Raises:
        VersionConflict: it is in another.
    """
    if not is_allowed(task, only):
        raise VersionConflict("The task has changed since you read it.", current=task)
