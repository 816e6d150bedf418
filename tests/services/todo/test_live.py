"""Live changes of tasks: each is sent once, in order, and a reader resumes after the last event that it got."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from tests.services.news import heard, state_of

from partita.change import changes_after
from partita.http import Caller, Identity
from partita.http._news import SILENT_LOOKS
from partita.service import OpenProjection
from partita.store import ScanTable
from partita.testing import FaultyStore
from partita_services.todo.projection import TaskProjection

pytestmark = pytest.mark.req("T34")

Open = OpenProjection[TaskProjection]
STREAM = "/tasks/stream"


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
        STREAM,
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
    was_at = changes_after(projection.sink, None, ["ann"]).number
    await api.patch(f"/tasks/{first['task_id']}", json={"title": "Twice"})
    await api.patch(f"/tasks/{first['task_id']}", json={"title": "changed"})
    second = (await api.post("/tasks", json={"title": "Second"})).json()
    projection.consumer.catch_up()
    news = await heard(api, monkeypatch, STREAM, last=was_at)
    assert [event for event, _ in news] == ["ready", "task", "task"]
    assert [data["task_id"] for _, data in news[1:]] == [first["task_id"], second["task_id"]]  # each task once


async def test_who_was_away_too_long_reads_all_again(
    api: httpx.AsyncClient, projection: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for title in "abc":
        await api.post("/tasks", json={"title": title})
    projection.consumer.catch_up()
    assert [event for event, _ in await heard(api, monkeypatch, STREAM, last=99)] == [
        "reset"
    ]  # 99 is the number of a change in an earlier projection
    monkeypatch.setattr("partita.change._recent.MAX_CHANGES", 2)
    assert [event for event, _ in await heard(api, monkeypatch, STREAM, last=0)] == ["reset"]


async def test_no_more_changes_are_remembered_than_said(
    api: httpx.AsyncClient, projection: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    projection.consumer.catch_up()  # the first call loads a snapshot
    start = changes_after(projection.sink, None, ["ann"]).number
    monkeypatch.setattr("partita.change._recent.REMEMBERED", 2)
    for title in "abcd":
        await api.post("/tasks", json={"title": title})
    projection.consumer.catch_up()
    assert changes_after(projection.sink, start + 1, ["ann"]).is_forgotten
    assert len(changes_after(projection.sink, start + 2, ["ann"]).items) == 2


async def test_a_silent_stream_says_that_it_is_there(
    api: httpx.AsyncClient, projection: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter(range(SILENT_LOOKS))

    async def instead_of_sleeping(seconds: float) -> None:
        if next(looks, None) is None:
            state_of(api).stopping.set()

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    sent = (await api.get("/tasks/stream")).text.split("\n\n")
    assert sent[1:] == [": still here", ""]
