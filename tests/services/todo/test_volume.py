"""At volume: a read costs the same for a user with 10 tasks and with 100,000, and concurrent callers lose nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any, Final

import anyio
import httpx
import pytest

from partita import EmbeddedStore, Operation, Query, Session, Span
from partita.http import Caller, Identity
from partita.model._entity import schema_of
from partita.store._requests import BatchWriteItem, PutItem
from partita_services.todo.filters import Sort, TaskFilter, find_tasks
from partita_services.todo.model import (
    TABLE,
    Priority,
    Status,
    Task,
    completed_tasks,
    overdue_tasks,
    task_by_id,
    tasks_by_category,
    tasks_by_due_date,
    tasks_by_ids,
    tasks_by_priority,
    tasks_by_status,
    tasks_due_on,
    tasks_due_within,
    tasks_in_category,
    tasks_of_user,
    tasks_with_priority,
    tasks_with_status,
)

pytestmark = pytest.mark.xdist_group("todo-volume")  # the large partition is built once

FEW, MANY = 10, 100_000
TODAY: Final = date(2026, 7, 1)
BATCH = 25
SECRET = b"volume"


def sample(user_id: str, number: int) -> Task:
    """Return a task whose fields depend on its number, so that each list contains a share of the tasks."""
    return Task(
        user_id=user_id,
        task_id=f"{number:08}",
        title=f"Task {number:08}",
        description="x" * 300,
        status=list(Status)[number % 2 * 2 + number // 2 % 2],
        priority=list(Priority)[number % 2],
        category=f"category {number % 2}",
        due_date=TODAY + timedelta(days=number % 4 - 2),
        created_at=1,
        updated_at=1,
        version=1,
    )


@pytest.fixture(scope="module")
def db() -> Iterator[Session]:
    """A session on a store with one user who has few tasks, and one who has many."""
    item = schema_of(Task).item
    with EmbeddedStore(":memory:", durable=False) as store:
        session = Session(store, secret=SECRET, strict_budgets=True)
        session.create_tables([TABLE])
        for user_id, count in (("few", FEW), ("many", MANY)):
            for start in range(0, count, BATCH):
                numbers = range(start, min(start + BATCH, count))
                store.execute(
                    BatchWriteItem(tuple(PutItem(TABLE.name, item(sample(user_id, number))) for number in numbers))
                )
        yield session


def consumed(db: Session, operation: Operation[Any]) -> tuple[int, float]:
    with db.meter.watch() as seen:
        result = db.run(operation)
    (run,) = seen
    return len(result) if hasattr(result, "__len__") else 1, run.read


LISTS: dict[str, Callable[[str], Query[Task]]] = {
    "T03": tasks_of_user,
    "T04": tasks_by_status,
    "T05": lambda user_id: tasks_with_status(user_id, Status.PENDING),
    "T06": tasks_by_due_date,
    "T07": lambda user_id: tasks_due_on(user_id, TODAY),
    "T08": lambda user_id: tasks_due_within(user_id, Span.between(TODAY, TODAY + timedelta(days=1))),
    "T09": tasks_by_priority,
    "T10": lambda user_id: tasks_with_priority(user_id, Priority.URGENT),
    "T11": tasks_by_category,
    "T12": lambda user_id: tasks_in_category(user_id, "category 1"),
    "T13": completed_tasks,
}


@pytest.mark.req("T50", "T53")
@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_a_page_costs_the_same_however_many_tasks_there_are(make: Callable[[str], Query[Task]], db: Session) -> None:
    assert consumed(db, make("few").page(2)) == consumed(db, make("many").page(2)) == (2, 0.5)


@pytest.mark.req("T15", "T53")
@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_so_does_a_page_far_behind_the_first(make: Callable[[str], Query[Task]], db: Session) -> None:
    far = Session(db.store, secret=SECRET).run(make("many").page(1_000)).next_cursor
    assert consumed(db, make("many").page(2, after=far)) == (2, 0.5)


@pytest.mark.req("T02", "T18")
def test_tasks_by_id_cost_half_a_unit_each(db: Session) -> None:
    for user_id in ("few", "many"):
        assert consumed(db, task_by_id(user_id, f"{5:08}")) == (1, 0.5)
        assert consumed(db, tasks_by_ids(user_id, [f"{number:08}" for number in range(FEW)])) == (FEW, FEW / 2)


@pytest.mark.req("T14", "T27")
def test_filters_stop_at_their_budget_and_go_on_from_there(db: Session) -> None:
    """Half of the overdue tasks are open. For the other filter, many tasks have the due date, but none is completed."""
    assert consumed(db, overdue_tasks("many", TODAY).page(100))[0] == 100
    nothing = TaskFilter(status=Status.COMPLETED, due=TODAY - timedelta(days=2), sort=Sort.PRIORITY)
    tasks = find_tasks("many", nothing, TODAY)
    with db.meter.watch() as seen:
        page = db.run(tasks.page(20))
    assert (page.items, page.next_cursor is None, seen[0].over_budget) == ((), False, False)
    assert len(seen[0].requests) == 10


PEOPLE = tuple(f"person-{number}" for number in range(8))


@pytest.mark.req("T50", "T51")
async def test_many_callers_at_once_lose_nothing(api: httpx.AsyncClient, identity: Identity) -> None:
    kept: dict[str, set[str]] = {}

    async def work(user_id: str) -> None:
        rng = random.Random(user_id)
        headers = {"Authorization": f"Bearer {identity.token(Caller(user_id))}"}
        mine: list[str] = []
        for number in range(60):
            if not mine or rng.random() < 0.5:
                draft = {"title": f"{user_id} {number}", "status": rng.choice(["pending", "completed"])}
                response = await api.post("/tasks", json=draft, headers={**headers, "Idempotency-Key": f"{number}"})
                mine.append(response.json()["task_id"])
            elif rng.random() < 0.7:
                url = f"/tasks/{rng.choice(mine)}"
                response = await api.patch(url, json={"priority": rng.choice(["low", "high"])}, headers=headers)
            else:
                gone = mine.pop(rng.randrange(len(mine)))
                response = await api.delete(f"/tasks/{gone}", headers=headers)
            assert response.is_success, response.text
        kept[user_id] = set(mine)

    async with anyio.create_task_group() as group:
        for user_id in PEOPLE:
            group.start_soon(work, user_id)
    for user_id in PEOPLE:
        headers = {"Authorization": f"Bearer {identity.token(Caller(user_id))}"}
        stored = (await api.get("/tasks?limit=100", headers=headers)).json()["items"]
        assert Counter(task["task_id"] for task in stored) == Counter(kept[user_id])
        assert {task["user_id"] for task in stored} == {user_id}
