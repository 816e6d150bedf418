"""Changing a task: the rules of completion, and how changes by other writers are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from partita import Precondition, Procedure, retry_on_conflict
from partita.errors import ConditionFailed, ItemMissing, PartitaError, VersionConflict
from partita.recipes.idempotency import Plan
from partita.recipes.texts import VisibleText
from partita_services.todo.filters import Day
from partita_services.todo.model import (
    Category,
    Description,
    Priority,
    Status,
    Task,
    Title,
    latest_task,
    task_by_id,
    update_task,
)

R = TypeVar("R")

NewTitle = Annotated[Title, VisibleText()]
NewDescription = Annotated[Description, VisibleText(lines=True)]
NewCategory = Annotated[Category, VisibleText()]
"""As callers write them; texts that were stored earlier may have other characters."""

MAX_TRIES: Final = 100
"""How often a change is tried while other writers are faster. After each failure, one of them has made progress."""


class TaskDraft(BaseModel):
    """A task to be created."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: NewTitle
    description: NewDescription | None = None
    status: Status = Status.PENDING
    priority: Priority | None = None
    category: NewCategory | None = None
    due_date: Day | None = None


class TaskChange(TypedDict, total=False):
    """The fields of a task to change. A field that is left out stays; null clears a field."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # read by Pydantic, not a field

    title: NewTitle
    description: NewDescription | None
    status: Status
    priority: Priority | None
    category: NewCategory | None
    due_date: Day | None


def find_task(user_id: str, task_id: str, only: Precondition | None = None) -> Procedure[Task]:
    """Return a task. The first read may be stale, so it is confirmed that the task is missing, or has another version.

    Raises:
        ItemMissing: the user has no such task.
        VersionConflict: `only` does not allow the version of the task.
    """
    task = yield from task_by_id(user_id, task_id)
    if task is None or not is_allowed(task, only):
        task = existing((yield from latest_task(user_id, task_id)))
        check_version(task, only)
    return task


def rewrite(
    user_id: str,
    task_id: str,
    change: TaskChange,
    now: int,
    only: Precondition | None = None,
    *,
    keep: int | None = None,
    commit: Callable[[Procedure[Plan[Task]]], Procedure[R]],
    known: Task | None = None,
) -> Procedure[R]:
    """Change fields of a task; changes by other writers since it was read are kept.

    After a conflict the task is not read again, because the conflict contains it.

    Args:
        user_id: the user who has the task.
        task_id: the task.
        change: the fields to change.
        now: the current time.
        only: the versions that may be changed.
        keep: for how many seconds a completed task is kept; None for ever.
        commit: writes the plan, like `run_plan`, or together with the record of the caller's request.
        known: the task, if it was read already.

    Raises:
        ItemMissing: there is no such task, or it was deleted.
        VersionConflict: `only` does not allow the version of the task.
    """
    states: list[Task | None] = [] if known is None else [known]

    def plan() -> Procedure[Plan[Task]]:
        if states:
            task = existing(states[-1])
            check_version(task, only)
        else:
            task = yield from find_task(user_id, task_id, only)
        changed = with_change(task, change, now, keep)
        if changed is task:
            return Plan(task)
        write = update_task(changed)
        return Plan(write.saved, write)

    def attempt() -> Procedure[R]:
        try:
            return (yield from commit(plan()))
        except ConditionFailed as conflict:
            states.append(conflict.current)
            raise

    def when(error: PartitaError) -> bool:
        return isinstance(error, VersionConflict) and (error.current is None or is_allowed(error.current, only))

    return (yield from retry_on_conflict(attempt, tries=MAX_TRIES, when=when))


def with_change(task: Task, change: TaskChange, now: int, keep: int | None = None) -> Task:
    """The task with the change; the same object if nothing differs.

    The time of completion is set when the status becomes completed, and cleared when the status changes again. So is
    the time of deletion, `keep` seconds later, unless completed tasks are kept for ever.
    """
    changed = task.model_copy(update=dict(change))
    if changed == task:
        return task
    moved = {} if changed.status is task.status else completion(changed.status, now, keep)
    return changed.model_copy(update={"updated_at": now, **moved})


def completion(status: Status, now: int, keep: int | None) -> dict[str, int | None]:
    """The fields about completion for a task that gets this status."""
    is_completed = status is Status.COMPLETED
    expires = now + keep if is_completed and keep is not None else None
    return {"completed_at": now if is_completed else None, "ttl": expires}


def existing(task: Task | None) -> Task:
    """Return the task.

    Raises:
        ItemMissing: the task is None.
    """
    if task is None:
        raise no_task()
    return task


def no_task() -> ItemMissing:
    """The error for a task that does not exist."""
    return ItemMissing("There is no such task.")


def is_allowed(task: Task, only: Precondition | None) -> bool:
    """Whether a precondition allows the version of a task; None allows every version."""
    return only is None or only.allows(task.version)


def check_version(task: Task, only: Precondition | None) -> None:
    """Check that the version of a task is allowed.

    Raises:
        VersionConflict: it is not.
    """
    if not is_allowed(task, only):
        raise VersionConflict("The task has changed since you read it.", current=task)
