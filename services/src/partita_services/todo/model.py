"""The To-Do data model: one table, four sparse indexes, and every access pattern with its budget.

Budgets are for tasks of up to 1 KB. A page of 100 such tasks is 12.5 RCU, the default page of 20 is 2.5.
A page with filters inspects at most ten times 100 tasks.
A write is charged on the table and on each index: a create or delete with all four indexes costs 5 WCU,
a change of status 6 (the entry moves within its index), a change of all four indexed fields 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import Field, StringConstraints

from partita import (
    BatchGet,
    BatchWrite,
    Condition,
    Delete,
    Entity,
    Get,
    Index,
    Key,
    Put,
    Query,
    Rcu,
    Span,
    Table,
    Transaction,
    Update,
    Version,
    Wcu,
    batch_get,
    batch_write,
    delete,
    f,
    get,
    insert,
    new_ulid,
    pattern,
    put,
    query,
    transact,
)
from partita.recipes.idempotency import Idempotency, IdempotencyRecord, Plan
from partita.recipes.outbox import Outbox, OutboxRecord
from partita.recipes.personal import ErasureRecord
from partita.recipes.rate_limit import Rate, RateBucket, RateLimits
from partita.recipes.unique import Claim, Unique, UniqueFields
from partita.store import BatchWriteItem, DeleteItem, PutItem, UpdateItem

TABLE: Final = Table(
    "todo-app-data",
    indexes=[Index("GSI1"), Index("GSI2"), Index("GSI3"), Index("GSI4")],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
)

PAGE: Final = Rcu(12.5)
"""A page of 100 tasks of 1 KB."""
FILTERED: Final = Rcu(125)
"""Ten such pages, which a filter may leave empty."""

Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), Field(examples=["Renew the passport"])
]
Description = Annotated[str, StringConstraints(max_length=4_000), Field(examples=["Photos are done."])]
Category = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60), Field(examples=["family"])
]
Email = Annotated[
    str, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", max_length=254), Field(examples=["ann@example.com"])
]
Hour = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$"), Field(examples=["08:00"])]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), Field(examples=["Ann"])]


class Status(StrEnum):
    """The status of a task."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class Priority(StrEnum):
    """How urgent a task is, most urgent first."""

    URGENT = "urgent"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    def __key__(self) -> str:
        """Return the rank followed by the name, so that the most urgent sorts first in keys."""
        return f"{_RANK[self]}-{self}"


OPEN: Final = (Status.PENDING, Status.IN_PROGRESS)
"""The statuses of tasks that are not finished."""
_RANK: Final = {priority: rank for rank, priority in enumerate(Priority, start=1)}


class User(Entity, table=TABLE):
    """A user with their profile."""

    primary: ClassVar = Key("USER#{user_id}", "METADATA")

    user_id: str
    email: Email
    name: Name
    remind_at: Hour | None = Field(default=None, description="when reminders of due tasks are sent; null: never")
    time_zone: str | None = Field(default=None, description="the time zone of that hour; null: UTC")
    next_reminder: int | None = Field(default=None, description="when the next reminder is due")
    created_at: int
    updated_at: int
    version: Version = 0


class Task(Entity, table=TABLE):
    """Something to do. A task without a due date, priority or category has no entry in that index."""

    primary: ClassVar = Key("TASK#{user_id}", "TASK#{task_id}")
    by_status: ClassVar = Key("USER#{user_id}", "STATUS#{status}#{task_id}", index="GSI1")
    by_due_date: ClassVar = Key("USER#{user_id}", "DUEDATE#{due_date}#{task_id}", index="GSI2")
    by_priority: ClassVar = Key("USER#{user_id}", "PRIORITY#{priority}#{task_id}", index="GSI3")
    by_category: ClassVar = Key("USER#{user_id}", "CATEGORY#{category}#{task_id}", index="GSI4")

    user_id: str
    task_id: str = Field(default_factory=new_ulid)
    title: Title
    description: Description | None = None
    status: Status = Status.PENDING
    priority: Priority | None = None
    category: Category | None = None
    due_date: date | None = None
    created_at: int
    updated_at: int
    completed_at: int | None = None
    ttl: int | None = Field(default=None, description="when a completed task is deleted; null: never")
    version: Version = 0


class EmailClaim(Claim, table=TABLE):
    """Which user has an email."""

    primary: ClassVar = Key("UNIQUE#{field}#{value}", "METADATA")


class Request(IdempotencyRecord, table=TABLE):
    """A request with an idempotency key, and its response."""

    primary: ClassVar = Key("IDEMPOTENCY#{scope}#{key}", "METADATA")


class CallerBucket(RateBucket, table=TABLE):
    """The remaining requests of a caller's rate limit."""

    primary: ClassVar = Key("RATE#{caller}", "BUCKET")


class Erased(ErasureRecord, table=TABLE):
    """A user who deleted their account; the item is kept so that lakes can follow the erasure."""

    primary: ClassVar = Key("ERASED#{user_id}", "METADATA")


class ReminderSlot(Entity, table=TABLE):
    """When a user's next reminder is due."""

    primary: ClassVar = Key("REMINDERS#{shard}", "AT#{due_at:012}#{user_id}")
    in_lake: ClassVar = False

    shard: int
    due_at: int
    user_id: str


class Reminder(OutboxRecord, table=TABLE):
    """A reminder that is not in the queue yet."""

    primary: ClassVar = Key("OUTBOX#{shard}", "REMINDER#{message_id}")


SLOT_SHARDS: Final = 8
"""The number of partitions over which the slots are spread."""
REMINDERS: Final = Outbox(Reminder, budget=Rcu(125))
REQUESTS: Final = Idempotency(Request, budget=Rcu(2))
LIMITS: Final = RateLimits(CallerBucket, Rate(burst=600, per_second=100))


@get(User, budget=Rcu(0.5))
def user_by_id(user_id: str) -> None:
    """A user."""


@pattern(budget=Rcu(1), via=user_by_id)
def latest_user(user_id: str) -> Get[User]:
    """A user, read consistently."""
    return user_by_id(user_id).consistent()


@get(Task, budget=Rcu(0.5))
def task_by_id(user_id: str, task_id: str) -> None:
    """One task."""


@pattern(budget=Rcu(1), via=task_by_id)
def latest_task(user_id: str, task_id: str) -> Get[Task]:
    """One task, read consistently."""
    return task_by_id(user_id, task_id).consistent()


@query(Task, Task.primary, budget=PAGE)
def tasks_of_user(user_id: str) -> None:
    """All tasks of a user, oldest first."""


@query(Task, Task.by_status, budget=PAGE)
def tasks_by_status(user_id: str) -> None:
    """All tasks of a user, grouped by status."""


@query(Task, Task.by_status, budget=PAGE)
def tasks_with_status(user_id: str, status: Status) -> None:
    """A user's tasks in one status."""


@query(Task, Task.by_due_date, budget=PAGE)
def tasks_by_due_date(user_id: str) -> None:
    """A user's tasks that have a due date, earliest first."""


@query(Task, Task.by_due_date, budget=PAGE)
def tasks_due_on(user_id: str, due_date: date) -> None:
    """A user's tasks due on one date."""


@query(Task, Task.by_due_date, budget=PAGE)
def tasks_due_within(user_id: str, due_date: Span[date]) -> None:
    """A user's tasks due in a range of dates, both ends included."""


@query(Task, Task.by_priority, budget=PAGE)
def tasks_by_priority(user_id: str) -> None:
    """A user's tasks that have a priority, most urgent first."""


@query(Task, Task.by_priority, budget=PAGE)
def tasks_with_priority(user_id: str, priority: Priority) -> None:
    """A user's tasks of one priority."""


@query(Task, Task.by_category, budget=PAGE)
def tasks_by_category(user_id: str) -> None:
    """A user's tasks that have a category, grouped by it."""


@query(Task, Task.by_category, budget=PAGE)
def tasks_in_category(user_id: str, category: str) -> None:
    """A user's tasks in one category."""


@pattern(budget=PAGE, via=tasks_with_status)
def completed_tasks(user_id: str) -> Query[Task]:
    """A user's completed tasks."""
    return tasks_with_status(user_id, Status.COMPLETED)


@pattern(budget=FILTERED, via=tasks_due_within)
def overdue_tasks(user_id: str, today: date) -> Query[Task]:
    """A user's open tasks that were due before today, longest overdue first."""
    return tasks_due_within(user_id, Span.before(today)).where(f(Task.status).is_in(OPEN))


@pattern(budget=FILTERED)
def tasks_matching(tasks: Query[Task], condition: Condition) -> Query[Task]:
    """The tasks of a list that also match conditions on fields that are not in its index."""
    return tasks.where(condition)


@pattern(budget=Rcu(50))
def tasks_by_ids(user_id: str, task_ids: Sequence[str]) -> BatchGet[Task]:
    """Up to 100 tasks of a user, in the order of the given identifiers."""
    return batch_get([task_by_id(user_id, task_id) for task_id in task_ids])


@get(EmailClaim, budget=Rcu(0.5))
def claim_on(field: str, value: str) -> None:
    """Which user has an email."""


USERS: Final = UniqueFields(Unique(claim_on, User, f(User.email), owner=f(User.user_id), fold=str.casefold))


@pattern(
    budget=Wcu(10),
    writes={
        User: (PutItem, UpdateItem),
        EmailClaim: (PutItem, DeleteItem),
        ReminderSlot: (PutItem, DeleteItem),
    },
)
def save_user(plan: Plan[User]) -> Transaction:
    """Write a user and the claim on the email; 6 WCU if another claim is released, plus 4 if reminders change."""
    return transact(*plan.actions)


@pattern(budget=Wcu(5))
def create_task(task: Task) -> Put[Task]:
    """Write a new task."""
    return insert(task)


@pattern(budget=Wcu(9))
def update_task(task: Task) -> Put[Task]:
    """Write a changed task, if the stored version is still the one that was read."""
    return put(task)


@pattern(budget=Wcu(5))
def delete_task(task: Task | Get[Task]) -> Delete[Task]:
    """Delete a task; one that was read is deleted only in that version."""
    return delete(task)


@pattern(budget=Wcu(5))
def delete_completed_task(task: Task) -> Delete[Task]:
    """Delete a task, unless it was reopened."""
    return delete(task_by_id(task.user_id, task.task_id)).when(f(Task.status).eq(Status.COMPLETED))


@pattern(budget=Wcu(125), writes={Task: (BatchWriteItem,)})
def delete_tasks(deletes: Sequence[Delete[Task]]) -> BatchWrite:
    """Delete up to 25 tasks of an account that is being deleted, each from all four indexes."""
    return batch_write(deletes)


@pattern(budget=Wcu(6), writes={User: (DeleteItem,), EmailClaim: (DeleteItem,), ReminderSlot: (DeleteItem,)})
def delete_user(plan: Plan[User]) -> Transaction:
    """Delete a user, the claim on the email, and the next reminder."""
    return transact(*plan.actions)


@get(ReminderSlot, budget=Rcu(0.5))
def slot_at(shard: int, due_at: int, user_id: str) -> None:
    """A user's next reminder."""


@query(ReminderSlot, ReminderSlot.primary, budget=PAGE)
def slots_until(shard: int, due_at: Span[int]) -> None:
    """The reminders that are due, oldest first."""


@pattern(budget=Wcu(1))
def drop_slot(slot: Get[ReminderSlot]) -> Delete[ReminderSlot]:
    """Delete a reminder that is no longer wanted."""
    return delete(slot)


@pattern(
    budget=Wcu(150),
    writes={User: (UpdateItem,), ReminderSlot: (PutItem, DeleteItem), Reminder: (PutItem,)},
)
def move_reminder(
    change: Update[User], before: Get[ReminderSlot], after: ReminderSlot, said: Sequence[Put[Reminder]]
) -> Transaction:
    """Write a reminder, and the time of the next one; 6 WCU, plus 2 for each KB of the message."""
    return transact(change, delete(before), put(after), *said)
