"""The procedures of the To-Do service: they yield operations, which a sync or an async session runs."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from partita import Action, Change, Precondition, Procedure, delete, f, put, retry_on_conflict
from partita.errors import AlreadyExists, ConditionFailed, ItemMissing, PartitaError, UniqueTaken, VersionConflict
from partita.recipes.idempotency import Plan, run_plan
from partita.recipes.texts import VisibleText
from partita_services.todo.changes import (
    MAX_TRIES,
    TaskChange,
    TaskDraft,
    completion,
    find_task,
    no_task,
    rewrite,
)
from partita_services.todo.filters import Zone
from partita_services.todo.model import (
    USERS,
    Email,
    Hour,
    Name,
    Task,
    User,
    create_task,
    delete_task,
    save_user,
    slot_at,
    task_by_id,
    tasks_by_ids,
    user_by_id,
)
from partita_services.todo.reminders import next_reminder, slot_of

R = TypeVar("R")


def _composed(email: str) -> str:
    """Return an email in the one form (NFC) in which it is unique, however its accents were typed."""
    return unicodedata.normalize("NFC", email)


class Profile(BaseModel):
    """A user's profile, as the user writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    email: Annotated[Email, VisibleText(), AfterValidator(_composed)]
    name: Annotated[Name, VisibleText()]
    remind_at: Hour | None = None
    time_zone: Zone | None = None


def show_user(user_id: str) -> Procedure[User]:
    """A user's profile.

    Raises:
        ItemMissing: the user has no profile yet.
    """
    user = yield from user_by_id(user_id)
    if user is None:
        raise ItemMissing("You have no profile yet.", hint="Send one with PUT.")
    return user


def write_user(user_id: str, profile: Profile, now: int) -> Procedure[User]:
    """Write a user's profile; a new profile has version 1.

    Raises:
        UniqueTaken: another user has the email.
    """
    known: list[User | None] = []

    def write() -> Procedure[User]:
        user = known[-1] if known else (yield from user_by_id(user_id))
        try:
            return (yield from _save(_profile_plan(user_id, user, profile, now)))
        except ConditionFailed as conflict:
            known.append(conflict.current)
            raise

    return (yield from retry_on_conflict(write, tries=MAX_TRIES, when=_was_second))


def _profile_plan(user_id: str, user: User | None, profile: Profile, now: int) -> Plan[User]:
    due_at = None if profile.remind_at is None else next_reminder(profile.remind_at, profile.time_zone, now)
    if user is None:
        made = User(user_id=user_id, **profile.model_dump(), next_reminder=due_at, created_at=now, updated_at=now)
        plan = USERS.insert(made)
        return Plan(plan.result, *plan.actions, *_move_slot(user_id, None, due_at))
    given = {**profile.model_dump(), "next_reminder": due_at, "updated_at": now}
    plan = USERS.update(user, *(_to(getattr(User, name), value) for name, value in given.items()))
    return Plan(plan.result, *plan.actions, *_move_slot(user_id, user.next_reminder, due_at))


def _to(field: Any, value: Any) -> Change:
    return f(field).remove() if value is None else f(field).set(value)


def _move_slot(user_id: str, before: int | None, after: int | None) -> Iterator[Action]:
    if before == after:
        return
    if before is not None:
        slot = slot_of(user_id, before)
        yield delete(slot_at(slot.shard, slot.due_at, user_id))
    if after is not None:
        yield put(slot_of(user_id, after))


def add_task(user_id: str, draft: TaskDraft, now: int, keep: int | None = None) -> Plan[Task]:
    """Plan to create a task."""
    given = {**draft.model_dump(), **completion(draft.status, now, keep)}
    write = create_task(Task(user_id=user_id, **given, created_at=now, updated_at=now))
    return Plan(write.saved, write)


def show_task(user_id: str, task_id: str) -> Procedure[Task]:
    """One task.

    Raises:
        ItemMissing: the user has no such task.
    """
    return (yield from find_task(user_id, task_id))


def change_task(
    user_id: str,
    task_id: str,
    change: TaskChange,
    now: int,
    only: Precondition | None = None,
    *,
    keep: int | None = None,
) -> Procedure[Task]:
    """Change fields of a task; changes by other writers in the meantime are kept.

    Raises:
        ItemMissing: the user has no such task.
        VersionConflict: `only` does not allow the version of the task.
    """
    return (yield from change_task_by(run_plan, user_id, task_id, change, now, only, keep=keep))


def change_task_by(
    commit: Callable[[Procedure[Plan[Task]]], Procedure[R]],
    user_id: str,
    task_id: str,
    change: TaskChange,
    now: int,
    only: Precondition | None = None,
    *,
    keep: int | None = None,
) -> Procedure[R]:
    """The same as `change_task`, but `commit` writes the plan, for example with the record of a request."""
    return (yield from rewrite(user_id, task_id, change, now, only, keep=keep, commit=commit))


def remove_task(user_id: str, task_id: str, only: Precondition | None = None) -> Procedure[Plan[None]]:
    """Plan to delete a task.

    Raises (now, or when it is written):
        ItemMissing: the user has no such task.
        VersionConflict: `only` does not allow the version of the task.
    """
    if only is None:
        write = delete_task(task_by_id(user_id, task_id)).when(f(Task.task_id).exists())
        return Plan(None, write.failing_as(lambda _: no_task()))
    task = yield from find_task(user_id, task_id, only)
    return Plan(None, delete_task(task))


def show_tasks(user_id: str, task_ids: Sequence[str]) -> Procedure[tuple[Task, ...]]:
    """The tasks that a search found, in their current state; deleted tasks are omitted."""
    tasks = (yield from tasks_by_ids(user_id, task_ids)) if task_ids else ()
    return tuple(task for task in tasks if task is not None)


def _was_second(conflict: PartitaError) -> bool:
    """Whether another call of the same user was first, rather than another user who has the email."""
    return isinstance(conflict, VersionConflict | AlreadyExists) and not isinstance(conflict, UniqueTaken)


def _save(plan: Plan[User]) -> Procedure[User]:
    return Plan(plan.result, save_user(plan)).run()
