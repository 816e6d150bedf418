"""Mistakes in conditions, changes and transactions, and the error message for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from partita import (
    Entity,
    Index,
    Key,
    Registry,
    Table,
    Version,
    all_of,
    any_of,
    f,
    not_,
    put,
    query,
    transact,
    update,
)
from partita.errors import OperationError, PartitaError

TABLE = Table("jobs", indexes=[Index("GSI1")], registry=Registry())


class Job(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user}", "JOB#{job_id}")
    user: str
    job_id: str
    title: str = ""
    done: bool = False
    version: Version = 0


@query(Job, Job.primary)
def jobs_of(user: str) -> None:
    """A user's jobs."""


JOB = Job(user="ada", job_id="1")
DONE, TITLED = f(Job.done).eq(True), f(Job.title).exists()
NO_TRUTH = (
    "A condition is neither true nor false before the store evaluates it. "
    "Combine conditions with all_of(), any_of() and not_()."
)
NOT_A_CHANGE = "is not a change. Build changes with f(): update(task, f(Task.field).set(value))."
EACH = "Pass each condition as an argument of its own: all_of(f(Task.done).eq(True), f(Task.due).lt(day))."
SPREAD = "Pass each action as an argument of its own: transact(*actions)."
UNFIT = "is neither a write nor a check, and cannot be part of a transaction."
MISTAKES: list[tuple[Callable[[], Any], str]] = [
    # `and` would drop the first condition, and the write would succeed without it.
    (lambda: put(JOB).when(DONE and TITLED), NO_TRUTH),
    (lambda: put(JOB).when(all_of(DONE, TITLED) or DONE), NO_TRUTH),
    (lambda: put(JOB).when(not DONE), NO_TRUTH),  # type: ignore[arg-type]
    (lambda: any_of(DONE, True), f"True is not a condition. {EACH}"),  # type: ignore[arg-type]
    (lambda: all_of([DONE, TITLED]), f"[{DONE!r}"[:50]),  # type: ignore[arg-type]
    (lambda: not_(True), f"True is not a condition. {EACH}"),  # type: ignore[arg-type]
    (lambda: update(JOB, f(Job.title) == "x"), f"False {NOT_A_CHANGE}"),  # type: ignore[arg-type, comparison-overlap]
    (lambda: update(JOB, {"title": "x"}), f"{{'title': 'x'}} {NOT_A_CHANGE}"),  # type: ignore[arg-type]
    (lambda: update(JOB, f(Job.done).set(True), TITLED), f"{TITLED!r} {NOT_A_CHANGE}"),  # type: ignore[arg-type]
    (lambda: JOB.with_changes(TITLED), f"{TITLED!r} {NOT_A_CHANGE}"),  # type: ignore[arg-type]
    (
        lambda: jobs_of("ada").only("title"),  # type: ignore[arg-type]
        "'title' is not a reference to a field. Name fields with f(), as in only(f(Task.title), f(Task.due)).",
    ),
    (lambda: jobs_of("ada").page("10"), "A page has 1 to 1000 items, not '10'."),  # type: ignore[arg-type]
    (lambda: f(Job.title).is_in("abc"), "is_in('abc') has no list of options. Write is_in([…]), or eq(…)."),
    (lambda: f(Job.title).is_in([]), "is_in() needs at least one option. Nothing is in an empty list"),
    (lambda: f(Job.title).size().is_in(iter(())), "is_in() needs at least one option."),
    (lambda: transact([put(JOB)]), f"list {UNFIT} {SPREAD}"),  # type: ignore[arg-type]
    (lambda: transact(put(each) for each in [JOB]), f"generator {UNFIT} {SPREAD}"),  # type: ignore[arg-type]
    (
        lambda: transact(jobs_of("ada")),  # type: ignore[arg-type]
        f"Query {UNFIT} Write an entity with put(); read items with transact_get().",
    ),
]


@pytest.mark.parametrize(
    ("mistake", "message"), MISTAKES, ids=[f"{n}: {each[1][:30]}" for n, each in enumerate(MISTAKES)]
)
def test_a_mistake_in_an_operation_is_explained(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(PartitaError) as raised:
        mistake()
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "condition",
    [
        DONE,
        TITLED,
        f(Job.title).missing(),
        f(Job.title).between("a", "b"),
        f(Job.title).is_in(["a"]),
        f(Job.title).begins_with("a"),
        f(Job.title).contains("a"),
        all_of(DONE, TITLED),
        any_of(DONE, TITLED),
        not_(DONE),
    ],
    ids=lambda condition: type(condition).__name__,
)
def test_no_condition_has_a_truth_value(condition: Any) -> None:
    with pytest.raises(OperationError, match="neither true nor false"):
        bool(condition)
