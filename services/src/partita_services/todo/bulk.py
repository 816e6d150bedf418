"""Many tasks at once. Each is written separately, so a call that was interrupted can be sent again, and continues."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from pydantic import BaseModel

from partita import Procedure
from partita.errors import ConditionFailed, ItemMissing, VersionConflict
from partita.recipes.idempotency import run_plan
from partita_services.todo.changes import TaskChange, find_task, rewrite
from partita_services.todo.model import Status, Task, completed_tasks, delete_completed_task, tasks_by_ids

MAX_DELETES: Final = 1_000
"""The maximum number of tasks that one call deletes, so that a request ends in time."""
_PAGE: Final = 100


class TaskOutcome(StrEnum):
    """The outcome for one task."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    MISSING = "missing"
    CONFLICT = "conflict"


class TaskResult(BaseModel):
    """The outcome for one task. `conflict`: others kept changing the task, so try again."""

    task_id: str
    outcome: TaskOutcome
    version: int | None = None


class Deletion(BaseModel):
    """How many tasks were deleted. `more`: others are left, so call again."""

    deleted: int
    more: bool


def change_status(
    user_id: str, task_ids: Sequence[str], status: Status, now: int, *, keep: int | None = None
) -> Procedure[list[TaskResult]]:
    """Give many tasks the same status. Tasks that already have it stay as they are."""
    wanted = tuple(dict.fromkeys(task_ids))
    tasks = yield from tasks_by_ids(user_id, wanted)
    results = []
    for task_id, task in zip(wanted, tasks, strict=True):
        results.append((yield from _change_one(user_id, task_id, task, status, now, keep)))
    return results


def _change_one(
    user_id: str, task_id: str, known: Task | None, status: Status, now: int, keep: int | None
) -> Procedure[TaskResult]:
    change = TaskChange(status=status)
    try:
        known = known or (yield from find_task(user_id, task_id))
        changed = yield from rewrite(user_id, task_id, change, now, keep=keep, commit=run_plan, known=known)
    except ItemMissing:
        return TaskResult(task_id=task_id, outcome=TaskOutcome.MISSING)
    except VersionConflict:
        return TaskResult(task_id=task_id, outcome=TaskOutcome.CONFLICT)
    outcome = TaskOutcome.UNCHANGED if changed is known else TaskOutcome.CHANGED
    return TaskResult(task_id=task_id, outcome=outcome, version=changed.version)


def delete_completed(user_id: str, limit: int = MAX_DELETES) -> Procedure[Deletion]:
    """Delete the completed tasks of a user. A task that is reopened in the meantime is kept."""
    deleted = inspected = 0
    cursor: str | None = None
    while inspected < limit:
        page = yield from completed_tasks(user_id).page(min(_PAGE, limit - inspected), after=cursor)
        for task in page:
            try:
                deleted += (yield from delete_completed_task(task)) is not None
            except ConditionFailed:
                continue  # reopened, or deleted by another call
        inspected += len(page)
        cursor = page.next_cursor
        if cursor is None:
            break
    return Deletion(deleted=deleted, more=cursor is not None)
