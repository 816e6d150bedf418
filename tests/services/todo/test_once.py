"""Idempotency keys: they work for every change of a single task; other writes refuse a key and never ignore it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from partita.testing import FakeClock

pytestmark = pytest.mark.req("X05", "T29")

KEY = {"Idempotency-Key": "k1"}


async def created(api: httpx.AsyncClient) -> str:
    task_id: str = (await api.post("/tasks", json={"title": "a"})).json()["task_id"]
    return task_id


async def versions(api: httpx.AsyncClient) -> list[int]:
    return [task["version"] for task in (await api.get("/tasks")).json()["items"]]


class TestPatch:
    async def test_it_happens_once_and_the_response_comes_again(
        self, api: httpx.AsyncClient, fake_clock: FakeClock
    ) -> None:
        path = f"/tasks/{await created(api)}"
        first = await api.patch(path, json={"title": "b"}, headers=KEY)
        await api.patch(path, json={"title": "c"})
        fake_clock.advance(60)
        again = await api.patch(path, json={"title": "b"}, headers=KEY)
        assert (again.status_code, again.json(), again.headers["ETag"]) == (200, first.json(), first.headers["ETag"])
        assert again.headers["Idempotent-Replayed"] == "true"
        assert (await api.get(path)).json()["title"] == "c"

    async def test_a_replay_asks_neither_for_the_task_nor_for_its_version(self, api: httpx.AsyncClient) -> None:
        path = f"/tasks/{await created(api)}"
        headers = {**KEY, "If-Match": '"1"'}
        statuses = [(await api.patch(path, json={"title": "b"}, headers=headers)).status_code for _ in range(2)]
        await api.delete(path)
        gone = await api.patch(path, json={"title": "b"}, headers=headers)
        assert (statuses, gone.status_code, gone.json()["title"]) == ([200, 200], 200, "b")

    async def test_the_key_with_another_change_is_422(self, api: httpx.AsyncClient) -> None:
        path = f"/tasks/{await created(api)}"
        await api.patch(path, json={"title": "b"}, headers=KEY)
        other = await api.patch(path, json={"title": "c"}, headers=KEY)
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")

    async def test_a_change_that_is_refused_leaves_the_key_free(self, api: httpx.AsyncClient) -> None:
        path = f"/tasks/{await created(api)}"
        refused = await api.patch(path, json={"title": "b"}, headers={**KEY, "If-Match": '"7"'})
        missing = await api.patch("/tasks/nothing", json={"title": "b"}, headers=KEY)
        done = await api.patch(path, json={"title": "b"}, headers=KEY)
        assert (refused.status_code, missing.status_code, done.status_code) == (412, 404, 200)

    async def test_a_change_that_changes_nothing_is_remembered_too(self, api: httpx.AsyncClient) -> None:
        path = f"/tasks/{await created(api)}"
        for _ in range(2):
            response = await api.patch(path, json={"title": "a"}, headers=KEY)
        assert (response.headers["Idempotent-Replayed"], await versions(api)) == ("true", [1])


class TestDelete:
    async def test_it_happens_once_and_the_response_comes_again(self, api: httpx.AsyncClient) -> None:
        path = f"/tasks/{await created(api)}"
        responses = [await api.delete(path, headers=KEY) for _ in range(2)]
        assert [response.status_code for response in responses] == [204, 204]
        assert [response.headers.get("Idempotent-Replayed") for response in responses] == [None, "true"]
        assert (await api.delete(path)).status_code == 404

    async def test_only_the_version_that_was_named(self, api: httpx.AsyncClient) -> None:
        path = f"/tasks/{await created(api)}"
        assert (await api.delete(path, headers={**KEY, "If-Match": '"7"'})).status_code == 412
        assert (await api.delete(path, headers={**KEY, "If-Match": '"1"'})).status_code == 204

    async def test_what_is_missing_leaves_the_key_free(self, api: httpx.AsyncClient) -> None:
        assert (await api.delete("/tasks/nothing", headers=KEY)).status_code == 404
        assert (await api.delete(f"/tasks/{await created(api)}", headers=KEY)).status_code == 204


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/me", {"email": "ann@example.com", "name": "Ann"}),
        ("POST", "/tasks/bulk/status", {"task_ids": ["t"], "status": "completed"}),
        ("POST", "/tasks/bulk/delete-completed", None),
        ("DELETE", "/me/data", None),
    ],
)
async def test_where_a_key_would_do_nothing_it_is_refused(
    api: httpx.AsyncClient, method: str, path: str, body: dict[str, Any] | None
) -> None:
    refused = await api.request(method, path, json=body, headers=KEY)
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_refused")


@pytest.mark.req("X14")
async def test_lists_and_searches_show_the_fields_that_were_asked_for(api: httpx.AsyncClient, projection: Any) -> None:
    task_id = await created(api)
    projection.consumer.catch_up()
    for path in (
        "/tasks?fields=title,status",
        "/tasks/search?q=a&fields=title,status",
        "/tasks?status=pending&fields=status,title",
    ):
        assert (await api.get(path)).json()["items"] == [{"title": "a", "status": "pending"}]
    assert (await api.get("/tasks?fields=task_id")).json()["items"] == [{"task_id": task_id}]
    unknown = await api.get("/tasks?fields=owner")
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (422, "fields")
