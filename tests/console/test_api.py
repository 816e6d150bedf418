"""The console's API: what everybody can read, what only operators can read, and what it never reveals."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from partita import AsyncSession
from partita.app import build_app
from partita.console._attempt import Attempt, attempt
from partita.http import AppState, Caller, HttpProblem, Identity
from partita.queue import Queue, Send
from partita.service import OpenProjection
from partita.store import QueryTable
from partita.testing import FaultyStore
from partita_services.events.model import TABLE as EVENTS
from partita_services.todo.model import TABLE, Status, tasks_with_status

pytestmark = pytest.mark.req("X01")


async def read(client: httpx.AsyncClient, pattern: str, **more: Any) -> httpx.Response:
    limit, cursor = more.pop("limit", 20), more.pop("cursor", None)
    wanted = {"service": "todo", "pattern": pattern, "arguments": more, "limit": limit, "cursor": cursor}
    return await client.post("/console/api/attempts", json=wanted)


async def test_everything_that_is_declared_is_there(client: httpx.AsyncClient) -> None:
    (service,) = (await client.get("/console/api/services", headers={"Authorization": ""})).json()
    assert [pattern["name"] for pattern in service["patterns"]] == list(TABLE.patterns)
    assert (service["page"], service["api"], service["projected"]) == ("/todo/", "/todo/api", True)
    (table,) = service["tables"]
    names = ["User", "Task", "EmailClaim", "Request", "CallerBucket", "Erased", "ReminderSlot", "Reminder"]
    assert [entity["name"] for entity in table["entities"]] == names
    assert table["layout"][2] == {
        "entity": "Task",
        "key": "by_status",
        "index": "GSI1",
        "hash": "USER#{user_id}",
        "range": "STATUS#{status}#{task_id}",
        "when": None,
    }
    described = next(each for each in service["patterns"] if each["name"] == "tasks_with_status")
    assert described == {
        "name": "tasks_with_status",
        "kind": "query",
        "served_by": "GSI1",
        "signature": {"user_id": "str", "status": "Status"},
        "budget": {"read": 12.5, "write": 0.0, "searched": 0.0, "searched_least": None},
        "doc": "A user's tasks in one status.",
        "asked": [
            {"attribute": "GSI1PK", "relation": "is", "template": "USER#{user_id}"},
            {"attribute": "GSI1SK", "relation": "begins with", "template": "STATUS#{status}#"},
        ],
        "parameters": [
            {"name": "user_id", "form": "text", "is_range": False, "is_prefix": False, "choices": []},
            {"name": "status", "form": "choice", "is_range": False, "is_prefix": False, "choices": list(Status)},
        ],
        "closed": None,
    }


async def test_what_writes_or_is_secret_or_has_no_form_cannot_be_tried(client: httpx.AsyncClient) -> None:
    (service,) = (await client.get("/console/api/services")).json()
    closed = {pattern["name"]: pattern["closed"] for pattern in service["patterns"] if pattern["closed"]}
    writes = [name for name, pattern in TABLE.patterns.items() if pattern.kind == "write"]
    secret = "is a secret of the service: it is kept out of the lake and the console."
    assert closed == {
        **dict.fromkeys(writes, "It writes, and the console only reads."),
        "request_by_key": f"Request {secret}",
        "reminders_waiting": f"Reminder {secret}",
        "slot_at": f"ReminderSlot {secret}",
        "slots_until": f"ReminderSlot {secret}",
        "tasks_matching": "Its arguments cannot be entered in a form.",
    }


async def test_the_figures_are_those_of_the_moment(
    client: httpx.AsyncClient, session: AsyncSession, projection: OpenProjection, queue: Queue
) -> None:
    projection.consumer.catch_up()
    await session.of_service("todo").run(tasks_with_status("demo", Status.PENDING))
    queue.execute(Send("a", group="g", deduplication_id="1"))
    figures = (await client.get("/console/api/live", headers={"Authorization": ""})).json()
    assert figures["healthy"] is True
    assert figures["usage"].keys() == {"todo"}
    assert {name: (usage["runs"], usage["read"]) for name, usage in figures["usage"]["todo"].items()} == {
        "tasks_with_status": (1, 1.0)
    }
    assert figures["lag"] == {"todo": {"records": 0, "seconds": 0.0}}
    assert (figures["queues"]["errands"]["waiting"], figures["queues"]["errands"]["dead"]) == (1, 0)


async def test_a_store_that_does_not_respond_is_shown(client: httpx.AsyncClient, session: AsyncSession) -> None:
    session.store.close()
    response = await client.get("/console/api/live")
    assert (response.status_code, response.json()["healthy"]) == (200, False)


async def test_a_read_shows_its_request_its_cost_and_what_it_found(client: httpx.AsyncClient) -> None:
    found = (await read(client, "tasks_with_status", user_id="demo", status="pending", limit=2)).json()
    assert (found["call"], found["index"], found["requests_sent"]) == ("Query", "GSI1", 1)
    assert found["request"]["IndexName"] == "GSI1"
    assert {"S": "STATUS#pending#"} in found["request"]["ExpressionAttributeValues"].values()
    assert (found["predicted"], found["budget"], found["consumed"]) == (
        {"read": 0.5, "write": 0.0, "searched": 0.0, "searched_least": None},
        {"read": 12.5, "write": 0.0, "searched": 0.0, "searched_least": None},
        {"read": 0.5, "write": 0.0, "searched": 0.0, "searched_least": None},
    )
    assert [item["title"] for item in found["items"]] == ["Book the dentist", "File the tax return"]
    assert found["items"][0]["status"] == "pending"


async def test_its_pages_have_each_item_once(client: httpx.AsyncClient) -> None:
    titles: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        page = (await read(client, "tasks_of_user", user_id="demo", limit=10, cursor=cursor)).json()
        titles += [item["title"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert (len(titles), len(set(titles)), cursor) == (26, 26, None)


@pytest.mark.parametrize(
    ("pattern", "arguments", "items"),
    [
        ("user_by_id", {"user_id": "demo"}, ["demo"]),
        ("user_by_id", {"user_id": "nobody"}, []),
        ("tasks_by_ids", {"user_id": "demo", "task_ids": '["x"]'}, []),
        ("overdue_tasks", {"user_id": "nobody", "today": "2026-01-01"}, []),
    ],
)
async def test_every_kind_of_read_gives_a_list(
    pattern: str, arguments: dict[str, str], items: list[str], client: httpx.AsyncClient
) -> None:
    response = await read(client, pattern, **arguments)
    assert (response.status_code, [item["user_id"] for item in response.json()["items"]]) == (200, items)


@pytest.mark.parametrize(
    ("pattern", "arguments", "status", "code"),
    [
        ("no_such", {}, 404, "not_found"),
        ("create_task", {"task": "{}"}, 403, "closed"),
        ("request_by_key", {"scope": "demo", "key": "k"}, 403, "closed"),
        ("tasks_with_status", {"user_id": "demo", "status": "done"}, 422, "invalid_request"),
        ("tasks_of_user", {"user_id": ""}, 422, "invalid_request"),
        ("tasks_of_user", {"user_id": "demo", "cursor": "made-up"}, 400, "invalid_cursor"),
        ("tasks_of_user", {"user_id": "demo", "limit": 101}, 422, "invalid_request"),
    ],
)
async def test_what_cannot_be_read_is_said(
    pattern: str, arguments: dict[str, Any], status: int, code: str, client: httpx.AsyncClient
) -> None:
    response = await read(client, pattern, **arguments)
    assert (response.status_code, response.json()["code"]) == (status, code)


async def test_an_argument_that_does_not_fit_is_named(client: httpx.AsyncClient) -> None:
    problem = (await read(client, "tasks_due_on", user_id="demo", due_date="soon")).json()
    assert [error["field"] for error in problem["errors"]] == ["arguments.due_date"]


@pytest.mark.req("X01", "X04")
@pytest.mark.parametrize(
    ("pattern", "arguments", "reason"),
    [
        ("user_by_id", {"user_id": "x" * 3_000}, "Size of hashkey has exceeded the maximum"),
        ("tasks_of_user", {"user_id": "x" * 3_000}, "Size of hashkey has exceeded the maximum"),
        ("tasks_of_user", {"user_id": ""}, "A key part is empty."),
    ],
)
async def test_what_can_be_no_key_is_said(
    pattern: str, arguments: dict[str, str], reason: str, client: httpx.AsyncClient
) -> None:
    response = await read(client, pattern, **arguments)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    (problem,) = response.json()["errors"]
    assert (problem["field"], reason in problem["message"]) == ("arguments", True)


@pytest.mark.req("X01", "X04")
@pytest.mark.parametrize("wrong", ["service", "pattern", "arguments.user_id"])
async def test_half_of_a_character_is_no_text(wrong: str, client: httpx.AsyncClient) -> None:
    half = "\ud800"
    wanted = {"service": "todo", "pattern": "tasks_of_user", "arguments": {"user_id": "demo"}}
    wanted |= {"arguments": {"user_id": half}} if "." in wrong else {wrong: half}
    is_json = {"Content-Type": "application/json"}
    response = await client.post("/console/api/attempts", content=json.dumps(wanted), headers=is_json)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [wrong]


@pytest.mark.req("X01", "X04")
@pytest.mark.parametrize(
    "span", ["0001-01-01T00:00:00+12:00..", "..9999-12-31T23:59:59-12:00", "2026-01-01T00:00:00.."]
)
async def test_an_instant_that_can_be_no_key_is_said(span: str, session: AsyncSession) -> None:
    wanted = Attempt(service="events", pattern="waiting_requests", arguments={"shard": "a", "queued_at": span})
    with pytest.raises(HttpProblem) as refused:
        await attempt(EVENTS.patterns["waiting_requests"], wanted, session)
    assert (refused.value.status_code, refused.value.code) == (422, "invalid_request")


async def test_nothing_is_ever_written(client: httpx.AsyncClient, store: FaultyStore) -> None:
    task = '{"user_id": "demo", "task_id": "t", "title": "a", "created_at": 1, "updated_at": 1}'
    response = await read(client, "create_task", task=task)
    assert (response.status_code, response.json()["code"]) == (403, "closed")
    await read(client, "tasks_of_user", user_id="demo")
    assert {type(request) for request in store.requests} == {QueryTable}


async def test_data_is_for_operators(client: httpx.AsyncClient, identity: Identity, store: FaultyStore) -> None:
    wanted = {"service": "todo", "pattern": "tasks_of_user", "arguments": {"user_id": "demo"}}
    user = {"Authorization": f"Bearer {identity.token(Caller('demo'))}"}
    refused = await client.post("/console/api/attempts", json=wanted, headers=user)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    unknown = await client.post("/console/api/attempts", json=wanted, headers={"Authorization": ""})
    assert (unknown.status_code, unknown.json()["code"]) == (401, "unauthenticated")
    assert store.requests == []


async def test_its_page_may_load_nothing_from_outside(client: httpx.AsyncClient) -> None:
    page = await client.get("/console/")
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'; script-src 'self'" in page.headers["Content-Security-Policy"]
    assert "<title>Console" in page.text
    for asset in ("style.css", "icon.svg", "js/app.js"):
        assert (await client.get(f"/console/{asset}")).status_code == 200


async def test_without_services_there_is_a_console_too(session: AsyncSession, identity: Identity) -> None:
    transport = httpx.ASGITransport(build_app([], AppState(session, identity)))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        assert (await client.get("/console/api/services")).json() == []
        assert (await client.get("/")).status_code == 200
