"""A small model that the tests of keys, operations and sessions share: users, tasks, steps of tasks, and comments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from random import Random
from typing import Any, ClassVar

from hypothesis import settings
from pydantic import BaseModel, Field

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    LocalIndex,
    Prefix,
    Put,
    Rcu,
    Registry,
    Session,
    Span,
    Table,
    Update,
    Version,
    Wcu,
    collect,
    f,
    get,
    insert,
    pattern,
    query,
    update,
)
from partita.store import Store
from partita.testing import FakeClock

SAMPLES = Registry()

TABLE = Table(
    "sample",
    indexes=[Index("GSI1"), Index("GSI2"), LocalIndex("LSI1")],
    ttl="expires_at",
    registry=SAMPLES,
)


class Status(StrEnum):
    OPEN = "open"
    DOING = "doing"
    DONE = "done"


class Address(BaseModel):
    city: str
    street: str | None = None


class User(Entity, table=TABLE):
    """One profile per user, whose sort key is constant."""

    primary: ClassVar = Key("USER#{user_id}", "PROFILE")
    user_id: str
    name: str
    address: Address | None = None


class Task(Entity, table=TABLE):
    """A task with a version, a TTL and three indexes, two of which are sparse."""

    primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}")
    by_status: ClassVar = Key("USER#{user_id}", "STATUS#{status}#{task_id}", index="GSI1")
    by_due: ClassVar = Key("USER#{user_id}", "DUE#{due}#{task_id}", index="GSI2")
    by_points: ClassVar = Key("USER#{user_id}", "POINTS#{points:+04}", index="LSI1")

    user_id: str
    task_id: str
    title: str = ""
    status: Status = Status.OPEN
    due: date | None = None
    points: int | None = None
    tags: frozenset[str] = frozenset()
    notes: list[str] = Field(default_factory=list)
    expires_at: datetime | None = None
    version: Version = 0


class Step(Entity, table=TABLE):
    """A step of a task, whose sort key starts with that of the task."""

    primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}#STEP#{number:02}")
    user_id: str
    task_id: str
    number: int


class Comment(Entity, table=TABLE):
    """A comment without a version, whose index key consists of two fields that change."""

    primary: ClassVar = Key("USER#{user_id}", "COMMENT#{comment_id}")
    by_score: ClassVar = Key("MOOD#{mood}", "SCORE#{score:+06}#{comment_id}", index="GSI1")

    user_id: str
    comment_id: str
    mood: str | None = None
    score: int = 0
    text: str = ""


class Title(BaseModel):
    """A view of a task."""

    task_id: str
    title: str


@dataclass(frozen=True)
class Board:
    user: User
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class MaybeBoard:
    user: User | None
    comments: tuple[Comment, ...]


@get(User)
def user_by_id(user_id: str) -> None:
    """One user."""


@get(Task, budget=Rcu(1))
def task_by_id(user_id: str, task_id: str) -> None:
    """One task."""


@get(Comment)
def comment_by_id(user_id: str, comment_id: str) -> None:
    """One comment."""


@query(Task, Task.primary)
def tasks_of(user_id: str) -> None:
    """All tasks of a user."""


@query(Task, Task.primary)
def tasks_like(user_id: str, task_id: Prefix[str]) -> None:
    """Tasks whose identifier starts with a prefix."""


@query(Task, Task.by_status, budget=Rcu(5))
def tasks_with_status(user_id: str, status: Status) -> None:
    """Tasks in one status."""


@query(Task, Task.by_status, view=Title)
def titles_with_status(user_id: str, status: Status) -> None:
    """Titles of tasks in one status."""


@query(Task, Task.by_due)
def tasks_due(user_id: str, due: Span[date]) -> None:
    """Tasks due in a span of days."""


@query(Task, Task.by_points)
def tasks_worth(user_id: str, points: Span[int]) -> None:
    """Tasks whose points are in a span."""


@query(Comment, Comment.by_score, newest_first=True)
def best_comments(mood: str) -> None:
    """Comments of one mood, the highest score first."""


@collect(Board, "USER#{user_id}", limit=50)
def board(user_id: str) -> None:
    """A user with all tasks."""


@collect(MaybeBoard, "USER#{user_id}")
def maybe_board(user_id: str) -> None:
    """A user, if it exists, with all comments."""


@pattern(budget=Wcu(5))
def create_task(task: Task) -> Put[Task]:
    """Add a task."""
    return insert(task)


@pattern(budget=Wcu(6))
def finish(task: Task) -> Update[Task]:
    """Finish a task."""
    return update(task, f(Task.status).set(Status.DONE))


steady = settings(deadline=None)
"""Settings of property tests: no deadline, because the duration of one example proves nothing."""


def session_on(store: Store, clock: FakeClock, **settings: Any) -> Session:
    """Return a session on this store, after creating the sample's table."""
    usual: dict[str, Any] = {"clock": clock, "secret": b"sample", "random": Random(0), "sleep": clock.advance}
    db = Session(store, **usual | settings)
    db.create_tables(SAMPLES)
    return db


@contextmanager
def fresh_session() -> Iterator[Session]:
    """Open a session on an empty store, for tests that need many of them."""
    clock = FakeClock()
    with EmbeddedStore(":memory:", clock=clock) as store:
        yield session_on(store, clock)
