"""The derived policies are sufficient for every route and worker of every service, and nothing in them is unused."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute, APIRouter
from tests.deploy.asking import ok
from tests.deploy.conftest import Police
from tests.deploy.journeys import ENDLESS, JOURNEYS, TASK, todo_once, todo_reads
from tests.deploy.policed import ARNS, allowed_by
from tests.deploy.running import BASE, Site, Visit

from partita import Meter, Operation, Session, batch_get, f
from partita.change import Consumer, ItemChange, Snapshot
from partita.deploy import ROLES, Resource, RoleName, needs, policy
from partita.deploy._roles import declared
from partita.errors import AccessDenied
from partita.model import schema_of, to_update
from partita.operations import scan_items
from partita.recipes.idempotency import Command
from partita.recipes.versioned._backfill import backfill_page
from partita.recipes.versioned._snapshots import frozen_items
from partita.recipes.versioned._table import versioned_tables
from partita.service import Service, discover
from partita.store import BatchWriteItem, PutItem, TransactWriteItems, UpdateItem
from partita_services.todo.bootstrap import SERVICE as TODO
from partita_services.todo.model import REQUESTS, Status, Task, claim_on, delete_task, task_by_id, tasks_with_status

ROOT = Path(__file__).parents[2]
DEPLOY_PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
SCHEMA = ROOT / "schema"
SERVICES = {service.name: service for service in discover()}


def allowed(service: Service, role: RoleName) -> set[tuple[str, str]]:
    return allowed_by(policy(needs(service, role), ARNS))


@pytest.mark.req("A07", "X09")
@pytest.mark.parametrize("name", JOURNEYS)
async def test_the_policies_of_routes_and_workers_are_enough_and_no_more(name: str, police: Police, site: Site) -> None:
    service, meter, calls = SERVICES[name], Meter(), list[httpx.Request]()
    journey = JOURNEYS[name](site.clock)
    request, worker = police(service, "request"), police(service, "worker")
    db = site.session(police(service).behind)
    journey.prepare(db)
    for starting in (request, worker) if service.worker else (request,):
        Session(starting).create_tables(service.tables)  # what `partita serve` and `partita worker` do first
    with (
        site.resources(service, journey, request.gate) as served,
        site.resources(service, journey, worker.gate) as working,
        site.projection(service, police(service, "cdc", "maintenance")) as projection,
    ):
        async with site.client(service, request, served, projection, meter) as api:
            api.event_hooks = {"request": [_remembering(calls)]}
            work = site.worker(service, worker, working, meter)
            await journey.walk(Visit(api, site.clock, work, db, site.queues))
            assert (await api.get(f"{BASE}/healthz")).json() == {"status": "ok"}
    assert request.denied + worker.denied == []
    assert allowed(service, "request") == request.used
    assert allowed(service, "worker") == worker.used
    assert _uncalled(service, calls) <= ENDLESS
    assert {part for usage in meter.usage() for part in _parts(usage.name)} <= declared(service).keys()


def _remembering(calls: list[httpx.Request]) -> Callable[[httpx.Request], Awaitable[None]]:
    async def remember(request: httpx.Request) -> None:
        calls.append(request)

    return remember


def _uncalled(service: Service, calls: Sequence[httpx.Request]) -> set[str]:
    routers = {
        "/api": service.router() if service.router else APIRouter(),
        "": service.site() if service.site else APIRouter(),
    }
    paths = [(call.method, call.url.path.removeprefix(f"/{service.name}")) for call in calls]
    return {
        prefix + route.path
        for prefix, router in routers.items()
        for route in router.routes
        if isinstance(route, APIRoute)
        and not any(
            path.startswith(prefix)
            and route.path_regex.match(path.removeprefix(prefix))
            and method in (route.methods or ())
            for method, path in paths
        )
    }


def _parts(name: str) -> Sequence[str]:
    """Return the names of the declared patterns and recipes in an operation's metered name."""
    return name.split("+")


CAPTURED = [service for service in SERVICES.values() if needs(service, "cdc")]


class _Seen:
    """A sink that stores only its positions."""

    def __init__(self) -> None:
        self.at: Mapping[str, int] = {}

    def positions(self) -> Mapping[str, int]:
        return self.at

    def apply(self, batch: Sequence[ItemChange], positions: Mapping[str, int]) -> None:  # noqa: ARG002 - not needed
        self.at = positions

    def load(self, snapshot: Snapshot) -> None:
        self.at = snapshot.positions


@pytest.mark.req("A07")
@pytest.mark.parametrize("service", CAPTURED, ids=lambda service: service.name)
def test_the_policy_of_change_capture_is_enough_to_follow_and_no_more(
    service: Service, police: Police, tmp_path: Path
) -> None:
    tables = [table for table in service.tables if table.schema.stream == "NEW_AND_OLD_IMAGES"]
    capture, both = police(service, "cdc"), police(service, "cdc", "maintenance")
    for table in tables:
        sink = _Seen()
        with pytest.raises(AccessDenied, match="dynamodb:Scan"):
            Consumer(capture, table, sink).catch_up()  # filling a new sink reads the whole table
        Consumer(both, table, sink).catch_up()
        Consumer(capture, table, sink).catch_up()
    if service.projection is not None and service.projection.table not in tables:  # a keys-only stream loads nothing
        with closing(service.projection.open(tmp_path / "projection.db")) as projection:
            Consumer(capture, service.projection.table, projection).catch_up()
            Consumer(capture, service.projection.table, projection).catch_up()
    assert allowed(service, "cdc") == capture.used - {
        ("dynamodb:Scan", ARNS(Resource("table", t.name))) for t in tables
    }


@pytest.mark.req("A07")
@pytest.mark.parametrize("service", SERVICES.values(), ids=lambda service: service.name)
def test_the_policy_of_maintenance_is_enough_and_no_more(service: Service, police: Police) -> None:
    policed = police(service, "maintenance")
    db = Session(policed)
    db.create_tables(service.tables)
    for table in service.tables:
        db.maintenance("count").run(scan_items(table))
        for versioned in versioned_tables(table):
            if (version := versioned.form.data_version) > 1:
                policed.behind.execute(PutItem(table.name, frozen_items(versioned, version - 1, SCHEMA)[0]))
                db.maintenance("rewrite").run(backfill_page(versioned, wcu_per_second=100))
    on_tables = {each for each in allowed(service, "maintenance") if each[0].startswith("dynamodb:")}
    assert on_tables == policed.used


@pytest.mark.req("A07")
def test_scans_are_for_maintenance_alone() -> None:
    actions = {
        (role, action) for service in SERVICES.values() for role in ROLES for action, _ in allowed(service, role)
    }
    assert [role for role, action in actions if action == "dynamodb:Scan"] == ["maintenance"]


@pytest.mark.req("A07")
async def test_credentials_of_a_caller_reach_that_callers_items_alone(police: Police, site: Site) -> None:
    policed = police(TODO, "caller", tags={"user_id": "ann"})
    full, server = police(TODO, "cdc", "maintenance"), police(TODO, "request")
    with site.projection(TODO, full) as projection:
        async with (
            site.client(TODO, server, None, projection) as served,
            site.client(TODO, policed, None, projection) as api,
        ):
            written = Visit(served, site.clock, lambda: None, site.session(server), {})
            await todo_once(written)
            done = {**TASK, "status": "completed"}
            task_ids = [(await ok(served, "POST", "/tasks", json=task))["task_id"] for task in (TASK, done)]
            visit = Visit(api, site.clock, lambda: None, site.session(policed), {})
            await todo_once(visit)
            await todo_reads(visit, task_ids[0])
            await ok(api, "POST", "/tasks/bulk/status", json={"task_ids": task_ids[1:], "status": "completed"})
            await ok(api, "DELETE", f"/tasks/{task_ids[0]}")
            await ok(api, "POST", "/tasks/bulk/delete-completed")
    assert policed.denied == []
    assert allowed(TODO, "caller") == policed.used


@pytest.mark.req("A07")
def test_credentials_of_a_caller_put_nothing_into_the_lists_of_others(police: Police) -> None:
    policed, db = police(TODO, "caller", tags={"user_id": "ann"}), Session(police(TODO).behind)
    own = schema_of(Task).item(Task(user_id="ann", task_id="t", title="planted", created_at=1, updated_at=1))
    planted = {**own, "GSI1PK": "USER#bob"}
    writes = (
        PutItem("todo-app-data", planted),
        BatchWriteItem((PutItem("todo-app-data", planted),)),
        TransactWriteItems((PutItem("todo-app-data", planted),)),
        UpdateItem("todo-app-data", {name: own[name] for name in ("PK", "SK")}, to_update([f(Task.title).set("b")])),
    )
    for write in writes:
        with pytest.raises(AccessDenied):
            policed.execute(write)
    db.store.execute(writes[0])  # written without the policy
    assert list(db.run(tasks_with_status("bob", Status.PENDING))) == []


@pytest.mark.req("A07")
@pytest.mark.parametrize(
    "theirs",
    [
        task_by_id("bob", "t"),
        batch_get([task_by_id("ann", "t"), task_by_id("bob", "t")]),
        tasks_with_status("bob", Status.PENDING),
        delete_task(task_by_id("bob", "t")),
        REQUESTS.record(Command("bob", "k", "")),
        claim_on("email", "ann@example.com"),
    ],
    ids=lambda operation: operation.name,
)
def test_credentials_of_a_caller_do_not_reach_what_is_not_theirs(theirs: Operation[Any], police: Police) -> None:
    policed = police(TODO, "caller", tags={"user_id": "ann"})
    with pytest.raises(AccessDenied):
        Session(policed).run(theirs)


EVERY_MODULE = """
import pkgutil, sys, importlib
from partita.service import discover

def known():
    return [[*table.patterns, *table.recipes] for service in discover() for table in service.tables]

found = known()
import partita_services
for module in pkgutil.walk_packages(partita_services.__path__, "partita_services."):
    importlib.import_module(module.name)
sys.exit(found != known())
"""


def test_a_service_declares_everything_as_soon_as_it_is_found() -> None:
    """Otherwise its policies would depend on which other modules are loaded."""
    assert subprocess.run([sys.executable, "-c", EVERY_MODULE], check=False).returncode == 0


def test_the_page_names_all_that_recipes_send_by_themselves() -> None:
    section = DEPLOY_PAGE.partition("| recipe | sends by itself |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", section)
    recipes = {name for service in SERVICES.values() for table in service.tables for name in table.recipes}
    assert sorted(named) == sorted({name.partition(".")[2] for name in recipes})
