"""What the To-Do service does, as procedures: they say which operations run, and either kind of session runs them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import date
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, field_validator
from typing_extensions import TypedDict

from partita import Condition, Operation, Procedure, Put, Query, Span, all_of, f
from partita.errors import ItemMissing, VersionConflict
from partita_services.todo.model import (
    Category,
    Description,
    Email,
    Name,
    Priority,
    Status,
    Task,
    Title,
    User,
    create_task,
    delete_task,
    save_user,
    task_by_id,
    tasks_due_on,
    tasks_due_within,
    tasks_in_category,
    tasks_of_user,
    tasks_with_priority,
    tasks_with_status,
    update_task,
    user_by_id,
)

E = TypeVar("E", User, Task)

MAX_TRIES: Final = 10
"""How often a change is made again because another writer was first."""


def _written_as_a_day(value: object) -> object:
    # Pydantic would take a number, too, and read it as a time.
    if isinstance(value, date) or (isinstance(value, str) and _DAY.fullmatch(value)):
        return value
    raise ValueError("a day is written as YYYY-MM-DD")


_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
Day = Annotated[date, BeforeValidator(_written_as_a_day)]


class Profile(BaseModel):
    """What a user says of themselves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    email: Email
    name: Name


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


class TaskFilter(BaseModel):
    """Which tasks are asked for; all of the conditions that are given hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: Status | None = None
    priority: Priority | None = None
    category: Category | None = None
    due_from: Day | None = None
    due_to: Day | None = None
    due: Day | None = None

    @field_validator("due_to")
    @classmethod
    def _range_runs_forward(cls, last: date | None, others: ValidationInfo) -> date | None:
        first = others.data.get("due_from")
        if first is not None and last is not None and last < first:
            raise ValueError("due_to is before due_from")
        return last

    @field_validator("due")
    @classmethod
    def _one_day_or_range(cls, day: date | None, others: ValidationInfo) -> date | None:
        if day is not None and (others.data.get("due_from") or others.data.get("due_to")):
            raise ValueError("due cannot be combined with due_from or due_to")
        return day


def show_user(user_id: str) -> Procedure[User]:
    """A user's profile.

    Raises:
        ItemMissing: the user has not said anything of themselves yet.
    """
    user = yield from user_by_id(user_id)
    if user is None:
        raise ItemMissing("You have no profile yet.", hint="Send one with PUT.")
    return user


def write_user(user_id: str, profile: Profile, now: int) -> Procedure[User]:
    """Write a user's profile; the first time its version is 1."""

    def write(user: User | None) -> Procedure[User]:
        if user is None:
            user = User(user_id=user_id, **profile.model_dump(), created_at=now, updated_at=now)
        else:
            user = user.model_copy(update={**profile.model_dump(), "updated_at": now})
        return (yield from save_user(user))

    user = yield from user_by_id(user_id)
    return (yield from _again_on_conflict(write, user))


def add_task(user_id: str, draft: TaskDraft, now: int) -> Put[Task]:
    """Create a task."""
    completed_at = now if draft.status is Status.COMPLETED else None
    return create_task(
        Task(user_id=user_id, **draft.model_dump(), created_at=now, updated_at=now, completed_at=completed_at)
    )


def show_task(user_id: str, task_id: str) -> Procedure[Task]:
    """One task.

    Raises:
        ItemMissing: the user has no such task.
    """
    task = yield from task_by_id(user_id, task_id)
    return _existing(task)


def change_task(
    user_id: str, task_id: str, change: TaskChange, now: int, only: Collection[int] | None = None
) -> Procedure[Task]:
    """Change fields of a task; a change of another writer in between is kept.

    Raises:
        ItemMissing: the user has no such task.
        VersionConflict: the task is in none of the versions that `only` allows.
    """

    def write(task: Task | None) -> Procedure[Task]:
        task = _existing(task)
        _check_version(task, only)
        changed = with_change(task, change, now)
        return task if changed is task else (yield from update_task(changed))

    task = yield from task_by_id(user_id, task_id)
    return (yield from _again_on_conflict(write, task))


def remove_task(user_id: str, task_id: str, only: Collection[int] | None = None) -> Procedure[None]:
    """Delete a task.

    Raises:
        ItemMissing: the user has no such task.
        VersionConflict: the task is in none of the versions that `only` allows.
    """
    if only is None:
        _existing((yield from delete_task(task_by_id(user_id, task_id))))
        return
    task = yield from show_task(user_id, task_id)
    _check_version(task, only)
    yield from delete_task(task)


def find_tasks(user_id: str, wanted: TaskFilter) -> Query[Task]:
    """One index serves the most selective condition; the others filter inside its key range."""
    served: list[tuple[Query[Task], Condition]] = []
    if wanted.due is not None:
        served.append((tasks_due_on(user_id, wanted.due), f(Task.due_date).eq(wanted.due)))
    if wanted.category is not None:
        served.append((tasks_in_category(user_id, wanted.category), f(Task.category).eq(wanted.category)))
    if wanted.due_from is not None or wanted.due_to is not None:
        served.append(_due_within(user_id, wanted.due_from, wanted.due_to))
    if wanted.status is not None:
        served.append((tasks_with_status(user_id, wanted.status), f(Task.status).eq(wanted.status)))
    if wanted.priority is not None:
        served.append((tasks_with_priority(user_id, wanted.priority), f(Task.priority).eq(wanted.priority)))
    if not served:
        return tasks_of_user(user_id)
    (chosen, _), *others = served
    return chosen.where(all_of(*(condition for _, condition in others))) if others else chosen


def with_change(task: Task, change: TaskChange, now: int) -> Task:
    """The task with the change; the same one where nothing differs.

    The moment of completion is set when the status becomes completed, and cleared when it leaves it.
    """
    changed = task.model_copy(update=dict(change))
    if changed == task:
        return task
    completed_at = None
    if changed.status is Status.COMPLETED:
        completed_at = task.completed_at if task.status is Status.COMPLETED else now
    return changed.model_copy(update={"updated_at": now, "completed_at": completed_at})


def _due_within(user_id: str, first: date | None, last: date | None) -> tuple[Query[Task], Condition]:
    low, high = first or date.min, last or date.max
    return tasks_due_within(user_id, Span(first, last)), f(Task.due_date).between(low, high)


def _again_on_conflict(write: Callable[[E | None], Procedure[E]], current: E | None) -> Procedure[E]:
    """Write, and where another writer was first, write over what that one wrote."""
    for _ in range(MAX_TRIES - 1):
        try:
            return (yield from write(current))
        except VersionConflict as conflict:
            if conflict.current == current:
                raise  # refused by the write itself
            current = conflict.current
    return (yield from write(current))


def _existing(task: Task | None) -> Task:
    if task is None:
        raise ItemMissing("There is no such task.")
    return task


def _check_version(task: Task, only: Collection[int] | None) -> None:
    if only is not None and task.version not in only:
        raise VersionConflict("The task has changed since you read it.", current=task)


HANDLERS: Final[Mapping[str, Callable[..., Procedure[Any] | Operation[Any]]]] = {
    "GET /me": show_user,
    "PUT /me": write_user,
    "POST /tasks": add_task,
    "GET /tasks": find_tasks,
    "GET /tasks/{task_id}": show_task,
    "PATCH /tasks/{task_id}": change_task,
    "DELETE /tasks/{task_id}": remove_task,
}
"""Everything that the service does, by the route that asks for it."""
