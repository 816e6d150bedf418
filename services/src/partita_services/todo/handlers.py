"""What the To-Do service does, as procedures: they say which operations run, and either kind of session runs them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from partita import Precondition, Procedure, f
from partita.errors import AlreadyExists, ConditionFailed, ItemMissing, UniqueTaken, VersionConflict
from partita.recipes.idempotency import Plan
from partita_services.todo.changes import (
    TaskChange,
    TaskDraft,
    check_version,
    completion,
    existing,
    rewrite,
    write_over_latest,
)
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
    return (yield from write_over_latest(write, user, _was_second))


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
    only: Precondition | None = None,
    *,
    keep: int | None = None,
) -> Procedure[Task]:
    """Change fields of a task; a change of another writer in between is kept.

    Raises:
        ItemMissing: the user has no such task.
        VersionConflict: `only` does not allow the version of the task.
    """
    task = yield from task_by_id(user_id, task_id)
    return (yield from rewrite(task, change, now, only, keep=keep))


def remove_task(user_id: str, task_id: str, only: Precondition | None = None) -> Procedure[None]:
    """Delete a task.

    Raises:
        ItemMissing: the user has no such task.
        VersionConflict: `only` does not allow the version of the task.
    """
    if only is None:
        existing((yield from delete_task(task_by_id(user_id, task_id))))
        return
    task = yield from show_task(user_id, task_id)
    check_version(task, only)
    yield from delete_task(task)


def show_tasks(user_id: str, task_ids: Sequence[str]) -> Procedure[tuple[Task, ...]]:
    """The tasks that a search found, as they are now; those that are gone meanwhile are left out."""
    tasks = (yield from tasks_by_ids(user_id, task_ids)) if task_ids else ()
    return tuple(task for task in tasks if task is not None)


def _was_second(conflict: ConditionFailed) -> bool:
    """Whether another call of the same user was first, and not another user who has the email."""
    return isinstance(conflict, VersionConflict | AlreadyExists) and not isinstance(conflict, UniqueTaken)


def _save(plan: Plan[User]) -> Procedure[User]:
    return Plan(plan.result, save_user(plan)).run()
