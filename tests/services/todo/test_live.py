"""Changes of tasks as they happen: each once, in order, and again from where a reader was."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from inspect import isawaitable
from typing import Any

import httpx
import pytest

from partita.http import Caller, Identity, ServiceState
from partita.service import OpenProjection
from partita.store import ScanTable
from partita.testing import FaultyStore
from partita_services.todo import live
from partita_services.todo.projection import TaskProjection

pytestmark = pytest.mark.req("T34")

Open = OpenProjection[TaskProjection]
Turn = Callable[[], Any]


def state_of(api: httpx.AsyncClient) -> ServiceState[Any]:
    """What the service runs with in the server that is called."""
    server: Any = api._transport
    app = next(route.app for route in server.app.routes if route.path == "/todo/api")
    state: ServiceState[Any] = app.state.service
    return state


async def heard(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, *turns: Turn, last: int | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """What the stream sends while one thing after the other happens between two looks, and then the server stops."""
    left: Iterator[Turn] = iter(turns)

    async def instead_of_sleeping(seconds: float) -> None:
        turn = next(left, state_of(api).stopping.set)
        if isawaitable(work := turn()):
            await work

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    response = await api.get("/tasks/stream", headers=headers)
    assert response.headers["Content-Type"].startswith(live.MEDIA_TYPE)
    return [_read(block) for block in response.text.split("\n\n") if block and not block.startswith(":")]


def _read(block: str) -> tuple[str, dict[str, Any]]:
    event, _, data = block.split("\n")
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def test_what_is_written_and_deleted_is_told(
    api: httpx.AsyncClient,
    projection: Open,
    monkeypatch: pytest.MonkeyPatch,
    identity: Identity,
    store: FaultyStore,
) -> None:
    task = (await api.post("/tasks", json={"title": "Old"})).json()
    projection.consumer.catch_up()
    url = f"/tasks/{task['task_id']}"
    store.requests.clear()
    bob = {"Authorization": f"Bearer {identity.token(Caller('bob'))}"}
    news = await heard(
        api,
        monkeypatch,
        lambda: api.patch(url, json={"title": "New"}),
        projection.consumer.catch_up,
        lambda: api.post("/tasks", json={"title": "Another's"}, headers=bob),
        projection.consumer.catch_up,
        lambda: api.delete(url),
        projection.consumer.catch_up,
    )
    told = [(event, data.get("task") and data["task"]["title"]) for event, data in news]
    assert told == [("ready", None), ("task", "New"), ("task", None)]
    assert news[-1][1] == {"task_id": task["task_id"], "task": None}
    assert ScanTable not in {type(request) for request in store.requests}


async def test_a_reader_goes_on_where_it_was(
    api: httpx.AsyncClient, projection: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = (await api.post("/tasks", json={"title": "First"})).json()
    projection.consumer.catch_up()
    was_at = projection.sink.changes_after("ann", None).number
    await api.patch(f"/tasks/{first['task_id']}", json={"title": "Twice"})
    await api.patch(f"/tasks/{first['task_id']}", json={"title": "changed"})
    second = (await api.post("/tasks", json={"title": "Second"})).json()
    projection.consumer.catch_up()
    news = await heard(api, monkeypatch, last=was_at)
    assert [event for event, _ in news] == ["ready", "task", "task"]
    assert [data["task_id"] for _, data in news[1:]] == [first["task_id"], second["task_id"]]  # each once, as it is


async def test_who_was_away_too_long_reads_all_again(
    api: httpx.AsyncClient, projection: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for title in "abc":
        await api.post("/tasks", json={"title": title})
    projection.consumer.catch_up()
    assert [event for event, _ in await heard(api, monkeypatch, last=99)] == [
        "reset"
    ]  # of a projection that was before
    monkeypatch.setattr("partita_services.todo.projection.MAX_CHANGES", 2)
    state_of(api).stopping.clear()
    assert [event for event, _ in await heard(api, monkeypatch, last=0)] == ["reset"]


async def test_no_more_changes_are_remembered_than_said(
    api: httpx.AsyncClient, projection: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    projection.consumer.catch_up()  # the first time starts over
    start = projection.sink.changes_after("ann", None).number
    monkeypatch.setattr("partita_services.todo.projection.REMEMBERED", 2)
    for title in "abcd":
        await api.post("/tasks", json={"title": title})
    projection.consumer.catch_up()
    assert projection.sink.changes_after("ann", start + 1).is_forgotten
    assert len(projection.sink.changes_after("ann", start + 2).task_ids) == 2


async def test_a_silent_stream_says_that_it_is_there(
    api: httpx.AsyncClient, projection: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter(range(live.SILENT_LOOKS))

    async def instead_of_sleeping(seconds: float) -> None:
        if next(looks, None) is None:
            state_of(api).stopping.set()

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    sent = (await api.get("/tasks/stream")).text.split("\n\n")
    assert sent[1:] == [": still here", ""]
