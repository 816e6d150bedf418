"""Data with a time limit: responses to requests with an idempotency key, and completed tasks if that is set."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from partita import EmbeddedStore, Session, put
from partita.testing import FakeClock
from partita_services.todo.changes import with_change
from partita_services.todo.model import TABLE, Status, Task
from partita_services.todo.retention import RetentionProgress, retention_page
from partita_services.todo.settings import KEEP_COMPLETED_DAYS, keep_completed

DAY = 86_400
KEY = {"Idempotency-Key": '"order-1"'}
DRAFT = {"title": "a", "description": "b" * 500, "priority": "low", "category": "c", "due_date": "2026-01-31"}


async def tasks(api: httpx.AsyncClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.get("/tasks")).json()["items"]
    return found


@pytest.mark.req("T24", "X05")
async def test_a_create_that_comes_again_gets_the_same_response(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    first = await api.post("/tasks", json=DRAFT, headers=KEY)
    fake_clock.advance(DAY - 1)
    again = await api.post("/tasks", json=DRAFT, headers=KEY)
    assert (again.status_code, again.json()) == (201, first.json())
    for name in ("Location", "ETag", "Content-Type"):
        assert again.headers[name] == first.headers[name]
    assert (again.headers["Idempotent-Replayed"], "Idempotent-Replayed" in first.headers) == ("true", False)
    assert [task["task_id"] for task in await tasks(api)] == [first.json()["task_id"]]


@pytest.mark.req("T24", "T53")
async def test_a_key_costs_a_record_and_a_transaction(api: httpx.AsyncClient, embedded: EmbeddedStore) -> None:
    plain = await api.post("/tasks", json=DRAFT)
    first = await api.post("/tasks", json=DRAFT, headers=KEY)
    again = await api.post("/tasks", json=DRAFT, headers=KEY)
    assert [response.headers["X-Consumed-Capacity"] for response in (plain, first, again)] == [
        "create_task;rcu=0;wcu=5",
        "request_by_key;rcu=1;wcu=0, create_task;rcu=0;wcu=8",
        "request_by_key;rcu=1;wcu=0",
    ]


@pytest.mark.req("T24", "X05")
async def test_a_key_is_for_one_request(api: httpx.AsyncClient) -> None:
    await api.post("/tasks", json=DRAFT, headers=KEY)
    other = await api.post("/tasks", json=DRAFT | {"title": "b"}, headers=KEY)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert len(await tasks(api)) == 1


@pytest.mark.req("T25")
async def test_records_are_deleted_after_a_day(
    api: httpx.AsyncClient, fake_clock: FakeClock, embedded: EmbeddedStore
) -> None:
    await api.post("/tasks", json=DRAFT, headers=KEY)
    assert embedded.sweep() == 0
    fake_clock.advance(DAY + 1)
    again = await api.post("/tasks", json=DRAFT, headers=KEY)
    assert (again.status_code, "Idempotent-Replayed" in again.headers) == (201, False)
    assert len(await tasks(api)) == 2
    fake_clock.advance(DAY + 1)
    assert embedded.sweep() == 1


@pytest.mark.req("T26")
async def test_completed_tasks_are_kept_for_ever_by_default(api: httpx.AsyncClient) -> None:
    task = (await api.post("/tasks", json=DRAFT | {"status": "completed"})).json()
    assert task["ttl"] is None


@pytest.mark.req("T26")
async def test_completed_tasks_may_be_kept_for_some_days(
    api: httpx.AsyncClient, fake_clock: FakeClock, embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEEP_COMPLETED_DAYS, "30")
    gone_by = int(fake_clock()) + 30 * DAY
    first, second, third = [(await api.post("/tasks", json={"title": title})).json() for title in "abc"]
    completed = await api.patch(f"/tasks/{first['task_id']}", json={"status": "completed"})
    assert completed.json()["ttl"] == gone_by
    await api.post("/tasks/bulk/status", json={"task_ids": [second["task_id"]], "status": "completed"})
    reopened = await api.patch(f"/tasks/{second['task_id']}", json={"status": "pending"})
    assert reopened.json()["ttl"] is None
    made = await api.post("/tasks", json={"title": "d", "status": "completed"})
    assert made.json()["ttl"] == gone_by

    fake_clock.advance(30 * DAY + 1)
    assert [task["task_id"] for task in await tasks(api)] == [second["task_id"], third["task_id"]]
    assert (await api.get(f"/tasks/{first['task_id']}")).status_code == 404
    assert embedded.sweep() == 2


@pytest.mark.req("T26")
def test_the_end_is_counted_from_the_completion() -> None:
    task = Task(user_id="ann", title="a", created_at=1, updated_at=1)
    completed = with_change(task, {"status": Status.COMPLETED}, now=10, keep=100)
    assert completed.ttl == 110
    assert with_change(completed, {"title": "b"}, now=50, keep=100).ttl == 110
    assert with_change(completed, {"title": "b"}, now=50, keep=None).ttl == 110
    assert with_change(completed, {"status": Status.CANCELLED}, now=50, keep=100).ttl is None


@pytest.mark.req("T26")
@pytest.mark.parametrize("days", ["0", "-1", "1.5", "many", "²"])
def test_a_setting_that_is_no_number_of_days_is_refused(days: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEEP_COMPLETED_DAYS, days)
    with pytest.raises(ValueError, match=KEEP_COMPLETED_DAYS):
        keep_completed()


@pytest.mark.req("T26")
def test_only_tasks_that_are_completed_and_say_when_get_a_time_limit() -> None:
    """Completed tasks of earlier versions have no time of completion, and a reopened task may still have one."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store)
        db.create_tables([TABLE])
        done: dict[str, Any] = {"status": Status.COMPLETED, "completed_at": 10}
        given: list[dict[str, Any]] = [done, {"status": Status.COMPLETED}, {"completed_at": 10}]
        for number, fields in enumerate(given):
            db.run(put(Task(user_id="ann", task_id=str(number), title="a", created_at=1, updated_at=1, **fields)))
        progress = db.maintenance("retention").run(retention_page(RetentionProgress(keep=100)))
        assert (progress.inspected, progress.changed) == (3, 1)
