"""Changing a task: the rules of completion, and how no change of another writer is lost."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from partita import Procedure
from partita.errors import AlreadyExists, ItemMissing, UniqueTaken, VersionConflict
from partita_services.todo.filters import Day
from partita_services.todo.model import Category, Description, Priority, Status, Task, Title, User, update_task

E = TypeVar("E", User, Task)

MAX_TRIES: Final = 100
"""How often a change is made at most because another writer was first. Each time, that one got something done."""


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

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # read by Pydantic, no field

    title: Title
    description: Description | None
    status: Status
    priority: Priority | None
    category: Category | None
    due_date: Day | None


def rewrite(
    task: Task | None, change: TaskChange, now: int, only: Collection[int] | None = None, *, keep: int | None = None
) -> Procedure[Task]:
    """Change fields of a task that was read; what another writer changed since is kept.

    Raises:
        ItemMissing: there is no such task, or not any more.
        VersionConflict: the task is in none of the versions that `only` allows.
    """

    def write(task: Task | None) -> Procedure[Task]:
        task = existing(task)
        check_version(task, only)
        changed = with_change(task, change, now, keep)
        return task if changed is task else (yield from update_task(changed))

    return (yield from again_on_conflict(write, task))


def with_change(task: Task, change: TaskChange, now: int, keep: int | None = None) -> Task:
    """The task with the change; the same one where nothing differs.

    The moment of completion is set when the status becomes completed, and cleared when it leaves it; so is the moment
    of deletion, `keep` seconds later, where completed tasks are not kept forever.
    """
    changed = task.model_copy(update=dict(change))
    if changed == task:
        return task
    moved = {} if changed.status is task.status else completion(changed.status, now, keep)
    return changed.model_copy(update={"updated_at": now, **moved})


def completion(status: Status, now: int, keep: int | None) -> dict[str, int | None]:
    """What a task that gets the status says of its completion."""
    is_completed = status is Status.COMPLETED
    expires = now + keep if is_completed and keep is not None else None
    return {"completed_at": now if is_completed else None, "ttl": expires}


def again_on_conflict(write: Callable[[E | None], Procedure[E]], current: E | None) -> Procedure[E]:
    """Write, and where another writer was first, write over what that one wrote."""
    for _ in range(MAX_TRIES - 1):
        try:
            return (yield from write(current))
        except (VersionConflict, AlreadyExists) as conflict:
            if conflict.current == current or isinstance(conflict, UniqueTaken):
                raise  # refused by the write itself, or in favour of another user
            current = conflict.current
    return (yield from write(current))


def existing(task: Task | None) -> Task:
    """The task that was asked for.

    Raises:
        ItemMissing: there is none.
    """
    if task is None:
        raise ItemMissing("There is no such task.")
    return task


def check_version(task: Task, only: Collection[int] | None) -> None:
    """Refuse a task in a version that is not allowed.

    Raises:
        VersionConflict: it is in another.
    """
    if only is not None and task.version not in only:
        raise VersionConflict("The task has changed since you read it.", current=task)
