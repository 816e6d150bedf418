"""For each service, calls to every route of its API that use every access pattern of the routes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from tests.deploy.asking import ok
from tests.deploy.commitcollect_journey import commitcollect
from tests.deploy.events_journey import events
from tests.deploy.running import IDENTITY, Journey, Visit

from partita.http import Caller
from partita.recipes.outbox import OutboxMessage
from partita.service import Installation
from partita.testing import FakeClock
from partita_services.accounts.model import LIMITS
from partita_services.todo.worker import Tools

BOLIVIA: Final = {"alpha3Code": "BOL", "numericCode": "068", "name": "Bolivia"}


async def todo(visit: Visit) -> None:
    """Create and change a user's profile, use tasks and reminders, and delete all data of the user."""
    for email in ("ann@example.com", "ann@example.org"):
        await ok(visit.api, "PUT", "/me", json={"email": email, "name": "Ann"})
    await todo_tasks(visit)
    for hour in ("13:00", "14:00"):
        profile = {"email": "ann@example.org", "name": "Ann", "remind_at": hour}
        await ok(visit.api, "PUT", "/me", json=profile)
    await ok(visit.api, "POST", "/tasks", json=TASK)
    for seconds in (3 * 3_600, 60):
        visit.clock.advance(seconds)
        visit.work()
    await ok(visit.api, "GET", "/me/data")
    await ok(visit.api, "DELETE", "/me/data")


TASK: Final = {"title": "a", "priority": "low", "category": "home", "due_date": "2026-01-01"}


async def todo_tasks(visit: Visit) -> None:
    """Create, list, change and delete tasks."""
    task_id = (await ok(visit.api, "POST", "/tasks", json=TASK))["task_id"]
    await todo_once(visit)
    await todo_reads(visit, task_id)
    await ok(visit.api, "PATCH", f"/tasks/{task_id}", json={"title": "b"})
    await ok(visit.api, "POST", "/tasks/bulk/status", json={"task_ids": [task_id], "status": "completed"})
    await ok(visit.api, "POST", "/tasks/bulk/delete-completed")
    other_id = (await ok(visit.api, "POST", "/tasks", json=TASK))["task_id"]
    await ok(visit.api, "DELETE", f"/tasks/{other_id}")


async def todo_once(visit: Visit) -> None:
    """Create a task with an idempotency key, so that repeated calls create only one."""
    await ok(visit.api, "POST", "/tasks", json=TASK, headers={"Idempotency-Key": "k"})


async def todo_reads(visit: Visit, task_id: str) -> None:
    """Read the user's profile, every list of their tasks, and one task."""
    await visit.api.get("/me")
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
        await ok(visit.api, "GET", "/tasks", params=filters)
    await ok(visit.api, "GET", "/tasks/search", params={"q": "a"})
    await ok(visit.api, "GET", "/tasks/counts")
    await ok(visit.api, "GET", f"/tasks/{task_id}")


async def accounts(visit: Visit) -> None:
    """Create two accounts, move money, share an account, and delete one."""
    for pk in ("a1", "a2"):
        await ok(
            visit.api, "POST", "/accounts", json={"pk": pk, "name": "n", "balance": 9}, headers={"Idempotency-Key": pk}
        )
    await ok(visit.api, "GET", "/accounts/a1", params={"consistent": True})
    await ok(visit.api, "POST", "/accounts/a1/deposit", json={"amount": 1})
    await ok(visit.api, "POST", "/accounts/a1/withdraw", json={"amount": 1}, headers={"Idempotency-Key": "w"})
    await ok(visit.api, "POST", "/transfers", json={"from": "a1", "to": "a2", "amount": 1})
    await ok(visit.api, "PUT", "/accounts/a1/grants/bob", json={"access": "use"})
    await ok(visit.api, "PUT", "/accounts/a1/grants/ann", json={"access": "view"})
    for path in (
        "/accounts",
        "/accounts?shared=true",
        "/accounts/a1/entries",
        "/accounts/a1/entries?month=2026-01&fields=amount",
        "/accounts/a1/statements",
        "/accounts/a1/statements/2026-01",
        "/accounts/a1/statements/2026-01.csv",
        "/accounts/a1/versions",
        "/accounts/a1/grants",
    ):
        await ok(visit.api, "GET", path)
    bob = {"Authorization": f"Bearer {IDENTITY.token(Caller('bob'))}"}
    await ok(visit.api, "GET", "/accounts/a1", headers=bob)
    await ok(visit.api, "DELETE", "/accounts/a1/grants/bob")
    for method in ("GET", "DELETE"):
        await ok(visit.api, method, "/me/data")
    account = await ok(visit.api, "GET", "/accounts/a1")
    for _ in range(LIMITS.rate.burst // 10):  # so many that some of them take tokens from the caller's bucket
        await ok(visit.api, "GET", "/accounts/a1")
    match = {"If-Match": str(account["last_write"])}
    account = await ok(visit.api, "PUT", "/accounts/a1", json={"name": "m", "balance": 9}, headers=match)
    await ok(visit.api, "DELETE", "/accounts/a1", headers={"If-Match": str(account["last_write"])})


async def countries(visit: Visit) -> None:
    """Create, rename, delete and restore a country, and read it in every way."""
    await ok(visit.api, "PUT", "/countries/BO", json=BOLIVIA)
    await ok(visit.api, "PUT", "/countries/BO", json={**BOLIVIA, "alpha3Code": "BLV"}, headers={"Idempotency-Key": "k"})
    for path in (
        "/countries",
        "/countries?prefix=b",
        "/countries?status=withdrawn",
        "/countries?status=withdrawn&prefix=b&fields=name",
        "/countries.json",
        "/countries.json?status=withdrawn",
        "/countries.csv?as_of=2026-01-01",
        "/search?q=b",
        "/changes",
        "/changes?newest=true",
        "/countries/BO/versions/1/compare/2",
        "/countries/BO",
        "/countries/BLV",
        "/countries/068/history",
        "/countries/BO/diff?from=2026-01-01T12:00&to=2026-01-02",
    ):
        await ok(visit.api, "GET", path)
    await ok(visit.api, "DELETE", "/countries/BO")
    await ok(visit.api, "POST", "/countries/BO/restore")
    await ok(visit.api, "POST", "/imports", json={"countries": [{"alpha2Code": "BO", **BOLIVIA}], "apply": True})
    await ok(visit.api, "POST", "/imports.csv", content="alpha2Code,alpha3Code,numericCode,name\n")


@contextmanager
def _reminding(installation: Installation) -> Iterator[Tools]:
    """Open the tools of reminders with a sender that fails once, so that a reminder is sent again."""
    failures = iter([ConnectionError("not now")])

    def send(message: OutboxMessage) -> None:
        for failure in failures:
            raise failure

    yield Tools(installation, send)


JOURNEYS: Final[Mapping[str, Callable[[FakeClock], Journey]]] = {
    "accounts": lambda _: Journey(accounts),
    "commitcollect": commitcollect,
    "countries": lambda _: Journey(countries),
    "events": lambda _: Journey(events),
    "todo": lambda _: Journey(todo, opened=_reminding),
}

ENDLESS: Final = {"/api/events/{event_id}/figures/stream", "/api/stream", "/api/tasks/stream"}
"""Routes whose responses do not end, which no journey calls; they read what other routes of the journey read."""
