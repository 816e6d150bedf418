"""The To-Do API over HTTP."""

from __future__ import annotations

from typing import Any, NoReturn
from zoneinfo import ZoneInfoNotFoundError

import httpx
import pytest
from tests.services.routes import routes_of

from partita.http import Caller, Identity
from partita.service import OpenProjection
from partita.store._requests import ScanTable
from partita.testing import FakeClock, FaultyStore
from partita_services.todo.http import ROUTER

ROUTES = routes_of(ROUTER)

NOON = 1_767_268_800


async def created(api: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    response = await api.post("/tasks", json={"title": "a"} | fields)
    assert response.status_code == 201
    task: dict[str, Any] = response.json()
    return task


def as_user(user_id: str, identity: Identity) -> dict[str, str]:
    return {"Authorization": f"Bearer {identity.token(Caller(user_id))}"}


@pytest.mark.req("X04")
@pytest.mark.parametrize("path", ["/tasks?statsu=pending", "/tasks?status=pending&status=completed", "/me?fields=name"])
async def test_a_parameter_that_is_not_there_or_comes_twice_is_refused(api: httpx.AsyncClient, path: str) -> None:
    response = await api.get(path)
    assert (response.status_code, response.json()["errors"][0]["location"]) == (422, "query")


async def test_a_name_has_no_spaces_around_it(api: httpx.AsyncClient) -> None:
    assert (await api.put("/me", json={"email": "ann@example.com", "name": "  Ann  "})).json()["name"] == "Ann"
    assert (await api.put("/me", json={"email": "ann@example.com", "name": "   "})).status_code == 422


async def test_a_profile_is_new_once(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    assert (await api.get("/me")).json()["code"] == "item_missing"
    first = await api.put("/me", json={"email": "ann@example.com", "name": "Ann"})
    expected: dict[str, Any] = {"user_id": "ann", "email": "ann@example.com", "name": "Ann"}
    expected |= {"remind_at": None, "time_zone": None, "next_reminder": None}
    expected |= {"created_at": NOON, "updated_at": NOON, "version": 1}
    assert (first.status_code, first.json()) == (201, expected)
    fake_clock.advance(60)
    second = await api.put("/me", json={"email": "ann@example.org", "name": "Ann"})
    expected |= {"email": "ann@example.org", "updated_at": NOON + 60, "version": 2}
    assert (second.status_code, second.json()) == (200, expected)
    assert (await api.get("/me")).json() == expected


async def test_an_email_is_one_users(api: httpx.AsyncClient, identity: Identity) -> None:
    bob = as_user("bob", identity)
    await api.put("/me", json={"email": "ann@example.com", "name": "Ann"})
    taken = await api.put("/me", json={"email": "Ann@Example.com", "name": "Bob"}, headers=bob)
    assert (taken.status_code, taken.json()["code"]) == (409, "unique_taken")
    assert (await api.get("/me", headers=bob)).status_code == 404
    same = await api.put("/me", json={"email": "ANN@example.com", "name": "Ann"})
    assert (same.status_code, same.json()["email"]) == (200, "ANN@example.com")
    await api.put("/me", json={"email": "ann@example.org", "name": "Ann"})
    freed = await api.put("/me", json={"email": "ann@example.com", "name": "Bob"}, headers=bob)
    assert freed.status_code == 201


@pytest.mark.req("T21")
async def test_a_created_task_says_where_it_is(api: httpx.AsyncClient) -> None:
    fields: dict[str, Any] = {
        "title": "  Water the plants ",
        "priority": "high",
        "category": "C# / F#",
        "due_date": "2026-01-31",
    }
    response = await api.post("/tasks", json=fields)
    task = response.json()
    assert response.status_code == 201
    assert response.headers["Location"] == f"/todo/api/tasks/{task['task_id']}"
    assert response.headers["ETag"] == '"1"'
    expected: dict[str, Any] = fields | {
        "title": "Water the plants",
        "user_id": "ann",
        "status": "pending",
        "description": None,
    }
    expected |= {"created_at": NOON, "updated_at": NOON, "completed_at": None, "ttl": None, "version": 1}
    assert {name: value for name, value in task.items() if name != "task_id"} == expected
    read = await api.get(response.headers["Location"].removeprefix("/todo/api"))
    assert (read.status_code, read.json(), read.headers["ETag"]) == (200, task, '"1"')


@pytest.mark.req("T31")
async def test_a_task_can_be_created_completed(api: httpx.AsyncClient) -> None:
    assert (await created(api, status="completed"))["completed_at"] == NOON


@pytest.mark.req("T22", "T31")
async def test_a_change_keeps_what_it_leaves_out(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    task = await created(api, description="b", category="home", due_date="2026-01-31")
    fake_clock.advance(60)
    response = await api.patch(f"/tasks/{task['task_id']}", json={"status": "completed", "due_date": None})
    changed = {
        "status": "completed",
        "due_date": None,
        "updated_at": NOON + 60,
        "completed_at": NOON + 60,
        "version": 2,
    }
    assert (response.status_code, response.json()) == (200, task | changed)
    assert response.headers["ETag"] == '"2"'
    assert (await api.get(f"/tasks/{task['task_id']}")).json() == task | changed


async def test_an_email_is_the_same_in_any_form_of_its_accents(api: httpx.AsyncClient, identity: Identity) -> None:
    first = await api.put("/me", json={"email": "jose\u0301@example.com", "name": "José"})
    assert (first.status_code, first.json()["email"]) == (201, "jos\xe9@example.com")
    bob = as_user("bob", identity)
    taken = await api.put("/me", json={"email": "jos\xe9@example.com", "name": "Bob"}, headers=bob)
    assert (taken.status_code, taken.json()["code"]) == (409, "unique_taken")


@pytest.mark.req("T30", "X04")
@pytest.mark.parametrize(
    "match", ["abc", '"1', '1"', 'x"1"', '"1" "2"', "W/1", 'w/"1"', "", ",", "-1", '*, "1"', '"a b"']
)
async def test_an_if_match_that_is_no_etag_is_refused(match: str, api: httpx.AsyncClient) -> None:
    url = f"/tasks/{(await created(api))['task_id']}"
    headers = {"If-Match": match}
    for refused in (await api.patch(url, json={"title": "b"}, headers=headers), await api.delete(url, headers=headers)):
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
        message = 'this is not an ETag such as "3", nor a list of them, nor *'
        assert refused.json()["errors"] == [{"location": "header", "field": "if-match", "message": message}]
    assert (await api.get(url)).json()["title"] == "a"


@pytest.mark.req("T30")
@pytest.mark.parametrize(("match", "status"), [("1", 200), ('"0", "1"', 200), ('W/"1"', 412), ('"x"', 412), ("2", 412)])
async def test_if_match_is_an_etag_a_list_or_a_version(match: str, status: int, api: httpx.AsyncClient) -> None:
    url = f"/tasks/{(await created(api))['task_id']}"
    assert (await api.patch(url, json={"title": "b"}, headers={"If-Match": match})).status_code == status


@pytest.mark.req("T30")
async def test_a_task_that_the_client_has_is_not_sent_again(api: httpx.AsyncClient) -> None:
    url = f"/tasks/{(await created(api))['task_id']}"
    for known in ('"1"', 'W/"1"', '"0", "1"', "*"):
        same = await api.get(url, headers={"If-None-Match": known})
        assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", '"1"')
        assert same.headers["Cache-Control"] == "private, no-cache"
    await api.patch(url, json={"title": "b"})
    assert (await api.get(url, headers={"If-None-Match": '"1"'})).json()["title"] == "b"


@pytest.mark.req("T30")
async def test_if_match_guards_changes(api: httpx.AsyncClient) -> None:
    url = f"/tasks/{(await created(api))['task_id']}"
    assert (await api.patch(url, json={"title": "b"}, headers={"If-Match": '"1"'})).status_code == 200
    stale = await api.patch(url, json={"title": "c"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    assert (await api.delete(url, headers={"If-Match": '"1"'})).status_code == 412
    assert (await api.get(url)).json()["title"] == "b"
    assert (await api.patch(url, json={"title": "d"}, headers={"If-Match": "*"})).status_code == 200
    assert (await api.delete(url, headers={"If-Match": '"3"'})).status_code == 204


@pytest.mark.req("T23")
async def test_a_deleted_task_is_gone(api: httpx.AsyncClient) -> None:
    url = f"/tasks/{(await created(api))['task_id']}"
    response = await api.delete(url)
    assert (response.status_code, response.content) == (204, b"")
    for method in ("GET", "PATCH", "DELETE"):
        again = await api.request(method, url, json={"title": "b"} if method == "PATCH" else None)
        assert (again.status_code, again.json()["code"]) == (404, "item_missing")
        assert again.json()["detail"] == "There is no such task."


@pytest.mark.req("X03")
async def test_another_users_task_is_not_there(api: httpx.AsyncClient, identity: Identity) -> None:
    url = f"/tasks/{(await created(api))['task_id']}"
    headers = as_user("bob", identity)
    assert (await api.get(url, headers=headers)).status_code == 404
    assert (await api.patch(url, json={"title": "b"}, headers=headers)).status_code == 404
    assert (await api.delete(url, headers=headers)).status_code == 404
    assert (await api.get("/tasks", headers=headers)).json()["items"] == []
    assert (await api.get(url)).status_code == 200


@pytest.mark.req("X03")
@pytest.mark.parametrize("route", ROUTES)
async def test_every_route_asks_who_calls(route: str, api: httpx.AsyncClient) -> None:
    method, path = route.split()
    response = await api.request(method, path, headers={"Authorization": ""})
    assert response.status_code == 401


TASKS = (
    {"title": "t1", "status": "pending", "priority": "low", "category": "home", "due_date": "2026-01-10"},
    {"title": "t2", "status": "completed", "priority": "urgent", "category": "work", "due_date": "2026-01-01"},
    {"title": "t3"},
    {"title": "t4", "status": "in_progress", "priority": "high", "category": "work", "due_date": "2026-01-11"},
    {"title": "t5", "status": "pending", "priority": "high", "category": "work", "due_date": "2026-01-10"},
)


OVERDUE = "overdue=true&time_zone=Pacific/Kiritimati"  # there it is 2 January already


@pytest.mark.req("T27")
@pytest.mark.parametrize(
    ("filters", "expected", "index", "pattern"),
    [
        ("", "t1 t2 t3 t4 t5", "table", "tasks_of_user"),
        ("status=pending", "t1 t3 t5", "GSI1", "tasks_with_status"),
        ("completed=true", "t2", "GSI1", "completed_tasks"),
        ("completed=false", "t1 t3 t4 t5", "table", "tasks_matching"),
        ("priority=high", "t4 t5", "GSI3", "tasks_with_priority"),
        ("category=work", "t2 t4 t5", "GSI4", "tasks_in_category"),
        ("due=2026-01-10", "t1 t5", "GSI2", "tasks_due_on"),
        ("due_from=2026-01-10", "t1 t5 t4", "GSI2", "tasks_due_within"),
        ("due_to=2026-01-10", "t2 t1 t5", "GSI2", "tasks_due_within"),
        ("due_from=2026-01-01&due_to=2026-01-10", "t2 t1 t5", "GSI2", "tasks_due_within"),
        ("has_due=true", "t2 t1 t5 t4", "GSI2", "tasks_by_due_date"),
        ("has_due=false", "t3", "table", "tasks_matching"),
        ("has_priority=true", "t2 t4 t5 t1", "GSI3", "tasks_by_priority"),
        ("has_priority=false", "t3", "table", "tasks_matching"),
        ("has_priority=false&status=pending", "t3", "GSI1", "tasks_matching"),
        (OVERDUE, "", "GSI2", "overdue_tasks"),
        ("overdue=false", "t1 t2 t3 t4 t5", "table", "tasks_matching"),
        ("sort=status", "t2 t4 t1 t3 t5", "GSI1", "tasks_by_status"),
        ("sort=due_date", "t2 t1 t5 t4", "GSI2", "tasks_by_due_date"),
        ("sort=priority", "t2 t4 t5 t1", "GSI3", "tasks_by_priority"),
        ("sort=category", "t1 t2 t4 t5", "GSI4", "tasks_by_category"),
        ("sort=priority&status=pending", "t5 t1", "GSI3", "tasks_matching"),
        ("status=pending&priority=high", "t5", "GSI1", "tasks_matching"),
        ("category=work&status=pending&priority=high", "t5", "GSI4", "tasks_matching"),
        ("due=2026-01-10&category=work", "t5", "GSI2", "tasks_matching"),
        ("due=2026-01-10&due_to=2026-01-09", "", "GSI2", "tasks_matching"),
        ("category=work&due_from=2026-01-10", "t4 t5", "GSI4", "tasks_matching"),
        ("category=work&due_to=2026-01-10", "t2 t5", "GSI4", "tasks_matching"),
        ("category=work&completed=false&has_due=true", "t4 t5", "GSI4", "tasks_matching"),
        ("status=pending&completed=true", "", "GSI1", "tasks_matching"),
        ("category=garden", "", "GSI4", "tasks_in_category"),
    ],
)
async def test_filters_combine(
    filters: str, expected: str, index: str, pattern: str, api: httpx.AsyncClient, fake_clock: FakeClock
) -> None:
    fake_clock.advance(-10)
    for task in TASKS:
        fake_clock.advance(1)
        await created(api, **task)
    response = await api.get(f"/tasks?{filters}")
    assert " ".join(task["title"] for task in response.json()["items"]) == expected
    assert response.json()["served_by"] == index
    assert response.headers["X-Consumed-Capacity"].startswith(f"{pattern};rcu=")


@pytest.mark.req("T14")
@pytest.mark.parametrize("ask", [{"params": {"time_zone": "{}"}}, {"headers": {"X-Time-Zone": "{}"}}])
async def test_what_is_overdue_depends_on_where_the_caller_is(
    ask: dict[str, dict[str, str]], api: httpx.AsyncClient
) -> None:
    for status in ("pending", "in_progress", "completed", "cancelled"):
        for day in ("2025-12-31", "2026-01-01", "2026-01-02"):
            await created(api, title=f"{status} {day}", status=status, due_date=day)

    async def overdue(zone: str, *, wanted: str = "true") -> list[str]:
        given: dict[str, Any] = {
            kind: {name: value.format(zone) for name, value in pair.items()} for kind, pair in ask.items()
        }
        response = await api.get("/tasks", **given | {"params": given.get("params", {}) | {"overdue": wanted}})
        return [task["title"] for task in response.json()["items"]]

    noon_of_new_year = ["pending 2025-12-31", "in_progress 2025-12-31"]
    assert await overdue("UTC") == await overdue("Europe/Berlin") == noon_of_new_year
    next_day_already = [*noon_of_new_year, "pending 2026-01-01", "in_progress 2026-01-01"]
    assert await overdue("Pacific/Kiritimati") == next_day_already
    assert len(await overdue("Pacific/Kiritimati", wanted="false")) == 12 - len(next_day_already)
    assert len((await api.get("/tasks?overdue=true")).json()["items"]) == 2
    both = await api.get("/tasks?overdue=true&time_zone=Pacific/Kiritimati", headers={"X-Time-Zone": "UTC"})
    assert len(both.json()["items"]) == len(next_day_already)  # the parameter is used instead of the header


@pytest.mark.req("X06", "T15")
async def test_lists_are_paged(api: httpx.AsyncClient) -> None:
    made = {(await created(api))["task_id"] for _ in range(5)}
    seen: list[str] = []
    cursor = ""
    for expected in (2, 2, 1):
        page = (await api.get(f"/tasks?limit=2{cursor}")).json()
        assert len(page["items"]) == expected
        seen += [task["task_id"] for task in page["items"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert sorted(made) == sorted(seen)


@pytest.mark.req("X06")
async def test_a_page_has_20_items_unless_said_otherwise(api: httpx.AsyncClient) -> None:
    for _ in range(21):
        await created(api)
    assert len((await api.get("/tasks")).json()["items"]) == 20
    assert len((await api.get("/tasks?limit=100")).json()["items"]) == 21


@pytest.mark.req("X06")
async def test_a_foreign_cursor_is_refused(api: httpx.AsyncClient, identity: Identity) -> None:
    for _ in range(2):
        await created(api, status="pending")
    cursor = (await api.get("/tasks?limit=1")).json()["next_cursor"]
    tampered = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    attempts = [
        await api.get(f"/tasks?cursor={tampered}"),
        await api.get(f"/tasks?cursor={cursor}&status=pending"),
        await api.get(f"/tasks?cursor={cursor}", headers=as_user("bob", identity)),
        await api.get("/tasks?cursor=nonsense"),
    ]
    assert [(r.status_code, r.json()["code"]) for r in attempts] == [(400, "invalid_cursor")] * 4


@pytest.mark.req("X04")
@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "/tasks", {}, "title"),
        ("POST", "/tasks", {"title": "  "}, "title"),
        ("POST", "/tasks", {"title": "x" * 201}, "title"),
        ("POST", "/tasks", {"title": "a", "status": "done"}, "status"),
        ("POST", "/tasks", {"title": "a", "category": ""}, "category"),
        ("POST", "/tasks", {"title": "a", "due_date": 5}, "due_date"),
        ("POST", "/tasks", {"title": "a", "due_date": "2026-02-30"}, "due_date"),
        ("POST", "/tasks", {"title": "a", "user_id": "bob"}, "user_id"),
        ("PATCH", "/tasks/t", {"title": None}, "title"),
        ("PATCH", "/tasks/t", {"status": None}, "status"),
        ("PATCH", "/tasks/t", {"version": 9}, "version"),
        ("PATCH", "/tasks/" + "x" * 65, {}, "task_id"),
        ("PUT", "/me", {"email": "nobody", "name": "Ann"}, "email"),
        ("PUT", "/me", {"email": "ann@example.com", "name": ""}, "name"),
        ("GET", "/tasks?limit=0", None, "limit"),
        ("GET", "/tasks?limit=101", None, "limit"),
        ("GET", "/tasks?statuss=pending", None, "statuss"),
        ("GET", "/tasks?due=5", None, "due"),
        ("GET", "/tasks?due_from=2026-01-02&due_to=2026-01-01", None, "due_to"),
        ("GET", "/tasks?time_zone=Atlantis", None, "time_zone"),
        ("GET", "/tasks?time_zone=localtime", None, "time_zone"),
        ("GET", "/tasks/search", None, "q"),
        ("GET", "/tasks/search?q=" + "a" * 201, None, "q"),
        ("GET", "/tasks/search?q=a&offset=2", None, "offset"),
        ("GET", "/tasks/counts?user_id=bob", None, "user_id"),
        ("POST", "/tasks/bulk/status", {"task_ids": [], "status": "pending"}, "task_ids"),
        ("POST", "/tasks/bulk/status", {"task_ids": ["t"] * 101, "status": "pending"}, "task_ids"),
        ("POST", "/tasks/bulk/status", {"task_ids": ["t"], "status": "done"}, "status"),
    ],
)
async def test_bad_input_names_the_field(
    method: str, path: str, body: dict[str, Any] | None, field: str, api: httpx.AsyncClient
) -> None:
    response = await api.request(method, path, json=body)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]


@pytest.mark.req("X04")
@pytest.mark.parametrize(
    ("content", "field"),
    [
        (rb'{"title": "\ud800"}', "title"),
        (rb'{"title": "a", "\ud800": 1}', ""),
        (b'{"title": "\xff"}', ""),
        (b'{"title": ' + b"9" * 5_000 + b"}", ""),
        (b'{"title": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", ""),
    ],
)
async def test_what_cannot_be_read_is_bad_input(content: bytes, field: str, api: httpx.AsyncClient) -> None:
    response = await api.post("/tasks", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]


@pytest.mark.req("X04", "T14")
async def test_a_bad_header_is_named_once(api: httpx.AsyncClient) -> None:
    response = await api.get("/tasks", headers={"X-Time-Zone": "Mars"})
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert (error["location"], error["field"]) == ("header", "X-Time-Zone")


@pytest.mark.req("T14")
async def test_nobody_needs_time_zones_to_list_tasks(api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(zone: str) -> NoReturn:
        raise ZoneInfoNotFoundError(zone)

    monkeypatch.setattr("partita_services.todo.filters.ZoneInfo", unknown)
    assert (await api.get("/tasks", params={"overdue": True})).status_code == 200


@pytest.mark.req("X09")
async def test_no_route_scans(api: httpx.AsyncClient, store: FaultyStore, projection: OpenProjection) -> None:
    task_id = (await created(api))["task_id"]
    projection.consumer.catch_up()
    calls: dict[str, list[dict[str, Any]]] = {
        "PUT /me": [{"json": {"email": "ann@example.com", "name": "Ann"}}],
        "GET /me": [{}],
        "POST /tasks": [{"json": {"title": "a"}}, {"json": {"title": "a"}, "headers": {"Idempotency-Key": "k"}}],
        "GET /tasks": [{"params": {"status": "pending", "priority": "low"}}, {"params": {"overdue": True}}, {}],
        "GET /tasks/search": [{"params": {"q": "a"}}],
        "GET /tasks/counts": [{}],
        "GET /tasks/{task_id}": [{}],
        "PATCH /tasks/{task_id}": [
            {"json": {"status": "completed"}},
            {"json": {"title": "b"}, "headers": {"Idempotency-Key": "p"}},
        ],
        "POST /tasks/bulk/status": [{"json": {"task_ids": [task_id], "status": "completed"}}],
        "POST /tasks/bulk/delete-completed": [{}],
        "DELETE /tasks/{task_id}": [{}],
        "GET /me/data": [{}],
        "DELETE /me/data": [{}],
    }
    assert calls.keys() == set(ROUTES) - {"GET /tasks/stream"}  # it does not end: see test_live.py
    for route, requests in calls.items():
        method, path = route.format(task_id=task_id).split()
        for request in requests:
            response = await api.request(method, path, **request)
            assert response.is_success or method == "DELETE", (route, response.text)
            assert (response.headers["X-Consumed-Capacity"] == "none") == (path == "/tasks/counts")
    assert ScanTable not in {type(request) for request in store.requests}
