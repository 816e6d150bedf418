"""What the To-Do service does, as procedures: they say which operations run, and either kind of session runs them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from partita import Procedure, f
from partita.errors import ItemMissing
from partita.recipes.idempotency import Plan
from partita_services.todo.bulk import change_status, delete_completed
from partita_services.todo.changes import (
    TaskChange,
    TaskDraft,
    again_on_conflict,
    check_version,
    completion,
    existing,
    rewrite,
)
from partita_services.todo.filters import find_tasks
from partita_services.todo.model import (
    USERS,
    Email,
    Name,
    Task,
    User,
    create_task,
    delete_task,
    save_user,
    task_by_id,
    tasks_by_ids,
    user_by_id,
)
from partita_services.todo.projection import TaskProjection


class Profile(BaseModel):
    """What a user says of themselves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    email: Email
    name: Name


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
    """Write a user's profile; the first time its version is 1.

    Raises:
        UniqueTaken: another user has the email.
    """

    def write(user: User | None) -> Procedure[User]:
        if user is None:
            made = User(user_id=user_id, **profile.model_dump(), created_at=now, updated_at=now)
            return (yield from _save(USERS.insert(made)))
        changes = (
            f(User.email).set(profile.email),
            f(User.name).set(profile.name),
            f(User.updated_at).set(now),
        )
        return (yield from _save(USERS.update(user, *changes)))

    user = yield from user_by_id(user_id)
    return (yield from again_on_conflict(write, user))


def add_task(user_id: str, draft: TaskDraft, now: int, keep: int | None = None) -> Plan[Task]:
    """Plan to create a task."""
    task = Task(user_id=user_id, **draft.model_dump(), created_at=now, updated_at=now)
    write = create_task(task.model_copy(update=completion(task.status, now, keep)))
    return Plan(write.saved, write)


def show_task(user_id: str, task_id: str) -> Procedure[Task]:
    """One task.

    Raises:
        ItemMissing: the user has no such task.
    """
    task = yield from task_by_id(user_id, task_id)
    return existing(task)


def change_task(
    user_id: str,
    task_id: str,
    change: TaskChange,
    now: int,
    only: Collection[int] | None = None,
    *,
    keep: int | None = None,
) -> Procedure[Task]:
    """Change fields of a task; a change of another writer in between is kept.

    Raises:
        ItemMissing: the user has no such task.
        VersionConflict: the task is in none of the versions that `only` allows.
    """
    task = yield from task_by_id(user_id, task_id)
    return (yield from rewrite(task, change, now, only, keep=keep))


def remove_task(user_id: str, task_id: str, only: Collection[int] | None = None) -> Procedure[None]:
    """Delete a task.

    Raises:
        ItemMissing: the user has no such task.
        VersionConflict: the task is in none of the versions that `only` allows.
    """
    if only is None:
        existing((yield from delete_task(task_by_id(user_id, task_id))))
        return
    task = yield from show_task(user_id, task_id)
    check_version(task, only)
    yield from delete_task(task)


def found_tasks(user_id: str, task_ids: Sequence[str]) -> Procedure[tuple[Task, ...]]:
    """The tasks that a search found, as they are now; those that are gone meanwhile are left out."""
    tasks = (yield from tasks_by_ids(user_id, task_ids)) if task_ids else ()
    return tuple(task for task in tasks if task is not None)


def _save(plan: Plan[User]) -> Procedure[User]:
    return Plan(plan.result, save_user(plan)).run()


HANDLERS: Final[Mapping[str, Callable[..., Any]]] = {
    "GET /me": show_user,
    "PUT /me": write_user,
    "POST /tasks": add_task,
    "GET /tasks": find_tasks,
    "GET /tasks/search": found_tasks,
    "GET /tasks/counts": TaskProjection.counts,
    "POST /tasks/bulk/status": change_status,
    "POST /tasks/bulk/delete-completed": delete_completed,
    "GET /tasks/{task_id}": show_task,
    "PATCH /tasks/{task_id}": change_task,
    "DELETE /tasks/{task_id}": remove_task,
}
"""Everything that the service does, by the route that asks for it."""
