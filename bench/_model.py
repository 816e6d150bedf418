"""The benchmarked model: one entity of about 450 bytes, with a table key and an index."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import ClassVar, Final

import click

from partita import Entity, Index, Key, Registry, Session, Table, batch_write, get, put, query

PER_USER: Final = 100
"""The number of tasks of each user, regardless of the size of the table."""

_BATCH: Final = 1_000


class Status(StrEnum):
    PENDING = "PENDING"
    DONE = "DONE"


TABLE: Final = Table("bench", indexes=[Index("GSI1")], registry=Registry())


class Task(Entity, table=TABLE):
    primary: ClassVar = Key("TASK#{user_id}", "TASK#{task_id}")
    by_status: ClassVar = Key("USER#{user_id}", "STATUS#{status}#{task_id}", index="GSI1")

    user_id: str
    task_id: str
    title: str
    description: str
    status: Status = Status.PENDING
    due_date: date | None = None
    tags: tuple[str, ...] = ()
    estimate: int = 0


@get(Task)
def task_by_id(user_id: str, task_id: str) -> None:
    """One task."""


@query(Task, Task.primary)
def tasks_of(user_id: str) -> None:
    """A user's tasks."""


def user_id(number: int) -> str:
    """The user who has the task with this number."""
    return f"user-{number // PER_USER:08}"


def task_id(number: int) -> str:
    """The id of the task with this number."""
    return f"task-{number:08}"


def task(number: int) -> Task:
    """The complete task with this number."""
    return Task(
        user_id=user_id(number),
        task_id=task_id(number),
        title=f"Order new parts for machine {number:08}",
        description="Ask all three suppliers for an offer, compare delivery times, and note who promised what. " * 2,
        due_date=date(2026, 1, 1 + number % 28),
        tags=("workshop", "purchase", "this quarter"),
        estimate=number % 480,
    )


def fill(db: Session, tasks: int) -> None:
    """Create the table with the first tasks, and show the progress."""
    db.create_tables([TABLE])
    with click.progressbar(length=tasks, label=f"writing {tasks:,} items", update_min_steps=_BATCH) as bar:
        for start in range(0, tasks, _BATCH):
            db.run(batch_write([put(task(number)) for number in range(start, min(start + _BATCH, tasks))]))
            bar.update(_BATCH)
