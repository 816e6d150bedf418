"""The To-Do service as `partita serve` runs it, and its sample data."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from partita import Operation, Procedure, Put, Span, Ulids, delete, f, update
from partita.recipes.idempotency import Command
from partita.service import Projection, Service
from partita_services.todo.model import (
    LIMITS,
    REMINDERS,
    REQUESTS,
    TABLE,
    USERS,
    Priority,
    Status,
    Task,
    User,
    claim_on,
    create_task,
    delete_completed_task,
    delete_tasks,
    delete_user,
    drop_slot,
    latest_user,
    move_reminder,
    overdue_tasks,
    save_user,
    slot_at,
    slots_until,
    task_by_id,
    tasks_by_ids,
    tasks_due_on,
    tasks_matching,
    tasks_with_status,
)
from partita_services.todo.personal import PERSONAL
from partita_services.todo.reminders import TasksDue, slot_of
from partita_services.todo.worker import POLICY, QUEUE, open_tools, run

if TYPE_CHECKING:
    import click
    from fastapi import APIRouter

    from partita.change import SqliteProjection

SAMPLE_USER: Final = "demo"
_DAY: Final = 86_400
_FIRST_SAMPLE: Final = datetime(2026, 1, 5, 8, tzinfo=UTC).timestamp()


class _Sample(NamedTuple):
    title: str
    status: Status = Status.PENDING
    priority: Priority | None = None
    category: str | None = None
    due_in: int | None = None
    """Days from today."""
    description: str | None = None


_DONE, _DOING, _DROPPED, _OPEN = Status.COMPLETED, Status.IN_PROGRESS, Status.CANCELLED, Status.PENDING
_URGENT, _HIGH, _MEDIUM, _LOW = Priority

_SAMPLES: Final = (
    _Sample("Renew the passport", _DOING, _URGENT, "family", 9, "Photos are done. The form needs both signatures."),
    _Sample("Book the dentist", _OPEN, _MEDIUM, "health", 3, "Ask for a morning; the last filling still hurts a bit."),
    _Sample("File the tax return", _OPEN, _HIGH, "money", 21, "Receipts are in the blue folder."),
    _Sample("Pay the electricity bill", _DONE, _HIGH, "money", -4),
    _Sample("Compare home insurance offers", _OPEN, _LOW, "money", 40),
    _Sample("Fix the dripping kitchen tap", _DOING, _MEDIUM, "home", 0, "Washer 3/8 inch; the shop closes at six."),
    _Sample("Repaint the balcony", _DROPPED, _LOW, "home", None, "Waiting for spring after all."),
    _Sample("Descale the coffee machine", _OPEN, _LOW, "home"),
    _Sample("Change the smoke detector batteries", _DONE, _URGENT, "home", -12),
    _Sample("Prepare the quarterly review", _DOING, _HIGH, "work", 2, "Numbers from Priya, slides from last quarter."),
    _Sample("Answer the auditor's questions", _OPEN, _URGENT, "work", 1, "Questions 4, 7 and 11 are still open."),
    _Sample("Write the on-call handover", _DONE, _MEDIUM, "work", -1),
    _Sample("Interview the second candidate", _OPEN, _HIGH, "work", 5),
    _Sample("Clean up the staging accounts", _OPEN, _LOW, "work"),
    _Sample("Move the build to the new runners", _DROPPED, _MEDIUM, "work", -8, "The old ones stay another year."),
    _Sample("Run ten kilometres", _DOING, _MEDIUM, "health", 14, "Seven so far, without a break."),
    _Sample("Refill the prescription", _DONE, _HIGH, "health", -2),
    _Sample("Sign up for the swimming course", _OPEN, None, "health", 30),
    _Sample("Call grandmother", _OPEN, _HIGH, "family", 0),
    _Sample("Find a birthday present for Noor", _OPEN, _MEDIUM, "family", 6, "She mentioned a book on bird song."),
    _Sample("Plan the summer trip", _DOING, _LOW, "family", 60, "Night train as far as possible."),
    _Sample("Return the library books", _OPEN, _URGENT, "errands", -1, "Two of them are reserved by someone else."),
    _Sample("Pick up the bicycle", _DONE, _MEDIUM, "errands", -3),
    _Sample("Order printer paper", _OPEN, None, "errands"),
    _Sample("Learn to juggle", _OPEN),
    _Sample("Read the C# and F# comparison", _OPEN, _LOW, "C# / F#", 12),
)


def seed(now: float) -> Sequence[Procedure[User] | Put[Task]]:
    """The writes of a user with some weeks of past and future tasks; their identifiers are always the same."""
    tasks = (create_task(_task(number, sample, int(now))) for number, sample in enumerate(_SAMPLES))
    return [USERS.insert(_user(now)).run(), *tasks]


def examples(now: float) -> Sequence[Operation[Any]]:
    """Operations of the sample user whose arguments are not fields of a sample."""
    tasks = [write.entity for write in seed(now) if isinstance(write, Put)]
    completed = next(task for task in tasks if task.status is Status.COMPLETED)
    user = _user(now).model_copy(update={"version": 1})
    return [
        REQUESTS.record(Command(SAMPLE_USER, "key", "")).consistent(),
        overdue_tasks(SAMPLE_USER, datetime.fromtimestamp(now, UTC).date()),
        tasks_matching(tasks_with_status(SAMPLE_USER, Status.PENDING), f(Task.priority).eq(Priority.HIGH)),
        tasks_by_ids(SAMPLE_USER, [task.task_id for task in tasks]),
        claim_on("email", user.email),
        save_user(USERS.update(user, f(User.email).set("reader@example.com"))),
        delete_completed_task(completed),
        delete_tasks([delete(task_by_id(SAMPLE_USER, task.task_id)) for task in tasks[:25]]),
        delete_user(USERS.delete(user)),
        *_reminder_examples(user, int(now)),
    ]


def _reminder_examples(user: User, now: int) -> Sequence[Operation[Any]]:
    slot, following = slot_of(user.user_id, now), slot_of(user.user_id, now + _DAY)
    at = slot_at(slot.shard, slot.due_at, slot.user_id)
    due = TasksDue(user.user_id, user.email, user.name, "2026-01-05", [{"title": "Call grandmother"}], [], more=False)
    message = REMINDERS.message(due, group=user.user_id, now=now)
    change = update(user, f(User.next_reminder).set(following.due_at))
    return [
        at,
        slots_until(slot.shard, Span.until(now)),
        drop_slot(at),
        move_reminder(change, at, following, (message,)),
        REMINDERS.waiting(0),
    ]


def _user(now: float) -> User:
    since = int(now) - 60 * _DAY
    return User(user_id=SAMPLE_USER, email="demo@example.com", name="Demo Reader", created_at=since, updated_at=since)


def _task(number: int, sample: _Sample, now: int) -> Task:
    new_id = Ulids(lambda: _FIRST_SAMPLE + number * _DAY, random.Random(number))  # noqa: S311 - always the same
    created_at = now - (len(_SAMPLES) - number) * _DAY
    today = datetime.fromtimestamp(now, UTC).date()
    completed_at = now - _DAY // 2 if sample.status is Status.COMPLETED else None
    return Task(
        user_id=SAMPLE_USER,
        task_id=new_id(),
        title=sample.title,
        description=sample.description,
        status=sample.status,
        priority=sample.priority,
        category=sample.category,
        due_date=None if sample.due_in is None else today + timedelta(days=sample.due_in),
        created_at=created_at,
        updated_at=completed_at or created_at,
        completed_at=completed_at,
    )


def _router() -> APIRouter:
    from partita_services.todo.http import ROUTER  # noqa: PLC0415 - the model can be used without the HTTP extra

    return ROUTER


def _projection(path: Path) -> SqliteProjection:
    from partita_services.todo.projection import TaskProjection  # noqa: PLC0415 - only a server needs it

    return TaskProjection(path)


def _command() -> click.Group:
    from partita_services.todo.commands import todo  # noqa: PLC0415 - only the command line needs it

    return todo


_WORKERS: Final = (
    drop_slot,
    latest_user,
    move_reminder,
    overdue_tasks,
    slots_until,
    tasks_due_on,
    tasks_matching,
    "Reminder.forwarded",
    "reminders_waiting",
)

SERVICE: Final = Service(
    name="todo",
    title="To-Do",
    summary="A user's tasks by status, due date, priority and category.",
    tables=(TABLE,),
    router=_router,
    seed=seed,
    examples=examples,
    pages=Path(__file__).parent / "pages",
    projection=Projection(TABLE, _projection),
    caller=("user_id", "scope"),
    rate_limit=LIMITS,
    personal=PERSONAL,
    command=_command,
    resources=open_tools,
    worker=run,
    queues={QUEUE: POLICY},
    worker_queues=(QUEUE,),
    roles={
        "request": (latest_user, overdue_tasks, tasks_due_on, tasks_matching),
        "worker": _WORKERS,
        "nobody": (slot_at,),
    },
    preload=("partita_services.todo.projection",),
)
