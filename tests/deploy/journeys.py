"""For each service, calls to every route of its API, in the ways that reach every access pattern behind them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import httpx

Journey: TypeAlias = Callable[[httpx.AsyncClient], Awaitable[None]]

BOLIVIA: Final = {"alpha3Code": "BOL", "numericCode": "068", "name": "Bolivia"}


async def todo(api: httpx.AsyncClient) -> None:
    """A user's profile, whose email changes, and all of their tasks."""
    for email in ("ann@example.com", "ann@example.org"):
        await _ok(api, "PUT", "/me", json={"email": email, "name": "Ann"})
    await todo_tasks(api)


async def todo_tasks(api: httpx.AsyncClient) -> None:
    """All that is a user's own: who they are, some tasks, every list, changes, and the end."""
    await api.get("/me")
    task = {"title": "a", "priority": "low", "category": "home", "due_date": "2026-01-01"}
    task_id = (await _ok(api, "POST", "/tasks", json=task))["task_id"]
    await _ok(api, "POST", "/tasks", json=task, headers={"Idempotency-Key": "k"})
    lists: list[dict[str, Any]] = [
        {},
        {"status": "pending"},
        {"status": "pending", "priority": "low"},
        {"priority": "low"},
        {"category": "home"},
        {"due": "2026-01-01"},
        {"due_from": "2026-01-01"},
        {"overdue": True},
        {"completed": True},
        {"sort": "due_date"},
        {"sort": "priority"},
    ]
    for filters in lists:
        await _ok(api, "GET", "/tasks", params=filters)
    await _ok(api, "GET", "/tasks/search", params={"q": "a"})
    await _ok(api, "GET", "/tasks/counts")
    await _ok(api, "GET", f"/tasks/{task_id}")
    await _ok(api, "PATCH", f"/tasks/{task_id}", json={"title": "b"})
    await _ok(api, "POST", "/tasks/bulk/status", json={"task_ids": [task_id], "status": "completed"})
    await _ok(api, "POST", "/tasks/bulk/delete-completed")
    other_id = (await _ok(api, "POST", "/tasks", json=task))["task_id"]
    await _ok(api, "DELETE", f"/tasks/{other_id}")


async def accounts(api: httpx.AsyncClient) -> None:
    """Two accounts, some money that moves, and the end of one."""
    for pk in ("a1", "a2"):
        await _ok(api, "POST", "/accounts", json={"pk": pk, "name": "n", "balance": 9}, headers={"Idempotency-Key": pk})
    await _ok(api, "GET", "/accounts/a1", params={"consistent": True})
    await _ok(api, "POST", "/accounts/a1/deposit", json={"amount": 1})
    await _ok(api, "POST", "/accounts/a1/withdraw", json={"amount": 1}, headers={"Idempotency-Key": "w"})
    await _ok(api, "POST", "/transfers", json={"from": "a1", "to": "a2", "amount": 1})
    account = await _ok(api, "GET", "/accounts/a1")
    match = {"If-Match": str(account["last_write"])}
    account = await _ok(api, "PUT", "/accounts/a1", json={"name": "m"}, headers=match)
    await _ok(api, "DELETE", "/accounts/a1", headers={"If-Match": str(account["last_write"])})


async def countries(api: httpx.AsyncClient) -> None:
    """A country that comes, is renamed, goes and comes back, and every way to ask for it."""
    await _ok(api, "PUT", "/countries/BO", json=BOLIVIA)
    await _ok(api, "PUT", "/countries/BO", json={**BOLIVIA, "alpha3Code": "BLV"}, headers={"Idempotency-Key": "k"})
    for path in (
        "/countries",
        "/countries?prefix=b",
        "/countries.json",
        "/countries.csv",
        "/countries/BO",
        "/countries/BLV",
        "/countries/068/history",
        "/countries/BO/diff?from=2026-01-01T12:00&to=2026-01-02",
    ):
        await _ok(api, "GET", path)
    await _ok(api, "DELETE", "/countries/BO")
    await _ok(api, "POST", "/countries/BO/restore")


JOURNEYS: Final[dict[str, Journey]] = {"accounts": accounts, "countries": countries, "todo": todo}


async def _ok(api: httpx.AsyncClient, method: str, path: str, **request: Any) -> Any:
    answer = await api.request(method, path, **request)
    assert answer.is_success, (method, path, answer.text)
    return answer.json() if answer.content and "json" in answer.headers["Content-Type"] else None
