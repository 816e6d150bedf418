"""The data of a To-Do user: exported as one file, and erased from the table, from the counts and from a lake."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.change.lake.truth import rows
from tests.services.lakes import text_of

from partita import EmbeddedStore, Session, insert
from partita.change import Consumer
from partita.change.lake import Lake, LakeErasure
from partita.http import Caller, Identity
from partita.service import OpenProjection
from partita.store._requests import PutItem, ScanTable
from partita.testing import FakeClock, FaultyStore
from partita_services.todo.bootstrap import SERVICE
from partita_services.todo.model import TABLE, Task
from partita_services.todo.personal import PERSONAL
from partita_services.todo.projection import TaskProjection

pytestmark = pytest.mark.req("X15", "T28")


def as_user(user_id: str, identity: Identity) -> dict[str, str]:
    return {"Authorization": f"Bearer {identity.token(Caller(user_id))}"}


async def fill(api: httpx.AsyncClient, tasks: int, headers: dict[str, str] | None = None) -> None:
    name = "ann" if headers is None else "bob"
    await api.put("/me", json={"email": f"{name}@example.com", "name": name}, headers=headers)
    for number in range(tasks):
        await api.post("/tasks", json={"title": f"secret {name} {number}"}, headers=headers)


class TestExport:
    async def test_all_of_it_is_one_file(
        self, api: httpx.AsyncClient, identity: Identity, fake_clock: FakeClock
    ) -> None:
        await fill(api, 120)
        await fill(api, 1, as_user("bob", identity))
        response = await api.get("/me/data")
        assert response.headers["Content-Disposition"] == 'attachment; filename="todo-data.json"'
        file = response.json()
        at = datetime.fromtimestamp(fake_clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        assert (file["service"], file["user_id"], file["exported_at"]) == ("todo", "ann", at)
        assert [task["title"] for task in file["data"]["tasks"]] == [f"secret ann {n}" for n in range(120)]
        assert [profile["email"] for profile in file["data"]["profile"]] == ["ann@example.com"]
        assert "bob" not in response.text

    async def test_whoever_has_nothing_gets_an_empty_file(self, api: httpx.AsyncClient) -> None:
        assert (await api.get("/me/data")).json()["data"] == {"tasks": [], "profile": []}

    async def test_a_store_in_trouble_is_a_problem_and_not_half_of_a_file(
        self, api: httpx.AsyncClient, store: FaultyStore
    ) -> None:
        store.throttle(20)
        response = await api.get("/me/data")
        assert (response.status_code, response.headers["Content-Type"]) == (503, "application/problem+json")

    async def test_it_takes_a_token(self, api: httpx.AsyncClient) -> None:
        for method in ("GET", "DELETE"):
            assert (await api.request(method, "/me/data", headers={"Authorization": ""})).status_code == 401


class TestErasure:
    async def test_the_account_is_gone_and_another_may_have_the_email(
        self, api: httpx.AsyncClient, identity: Identity, projection: OpenProjection[TaskProjection]
    ) -> None:
        bob = as_user("bob", identity)
        await fill(api, 30)
        await fill(api, 2, bob)
        response = await api.delete("/me/data")
        erased = response.json()
        assert erased.pop("remains").keys() == {
            "change stream",
            "lakes",
            "queues",
            "continuous backups",
            "backups",
        }
        assert erased == {"erased": {"tasks": 30, "profile": 1}, "more": False, "stays": {}}
        assert ((await api.get("/me")).status_code, (await api.get("/tasks")).json()["items"]) == (404, [])
        assert len((await api.get("/tasks", headers=bob)).json()["items"]) == 2
        assert (await api.put("/me", json={"email": "ann@example.com", "name": "B"}, headers=bob)).status_code == 200
        projection.consumer.catch_up()
        assert sum(projection.sink.counts("ann").by_status.values()) == 0
        assert projection.sink.search("ann", "secret", 10).task_ids == []

    async def test_more_than_one_call_erases_is_erased_by_more_calls(
        self, api: httpx.AsyncClient, store: FaultyStore
    ) -> None:
        db = Session(store)
        for number in range(1_100):
            db.run(insert(Task(user_id="ann", title=f"t{number}", created_at=1, updated_at=1)))
        calls: list[dict[str, Any]] = []
        while not calls or calls[-1]["more"]:
            calls.append((await api.delete("/me/data")).json())
        assert [call["erased"].get("tasks") for call in calls] == [1_000, 100]
        left = {item["PK"] for item in store.execute(ScanTable(TABLE.name)).items}
        assert left <= {"ERASED#ann", "RATE#ann"}


class TestLake:
    def lake(self, folder: Path) -> Lake:
        record = PERSONAL.record
        assert record is not None
        return Lake(folder, TABLE, erasure=LakeErasure(record.name, PERSONAL.owners))

    def test_nothing_of_an_erased_user_is_left_in_any_file(
        self, partita_store: EmbeddedStore, fake_clock: FakeClock, tmp_path: Path
    ) -> None:
        db = Session(partita_store, clock=fake_clock)
        db.create_tables(SERVICE.tables)
        lake = self.lake(tmp_path)
        consumer = Consumer(partita_store, TABLE, lake, clock=fake_clock, on_caught_up=lake.erase_users)
        consumer.catch_up()
        for user in ("ann", "o'brien", "bob"):
            for number in range(3):
                db.run(insert(Task(user_id=user, title=f"secret {user} {number}", created_at=1, updated_at=1)))
            consumer.catch_up()
        assert "secret ann" in text_of(tmp_path)
        for user in ("ann", "o'brien"):
            db.run(PERSONAL.erase(user))
        consumer.catch_up()
        left = text_of(tmp_path)
        assert [name in left for name in ("ann", "brien", "secret bob")] == [False, False, True]
        assert [row["user_id"] for row in rows(tmp_path, "SELECT user_id FROM task")] == ["bob"] * 3
        assert rows(tmp_path, "SELECT count(*) AS n FROM changes") == [{"n": 3}]
        fake_clock.advance(31 * 86_400)
        partita_store.execute(PutItem(TABLE.name, {"PK": "X", "SK": "X"}))
        consumer.catch_up()
        lake.close()
        assert "ann" not in text_of(tmp_path)

    def test_who_comes_back_begins_again(
        self, partita_store: EmbeddedStore, fake_clock: FakeClock, tmp_path: Path
    ) -> None:
        db = Session(partita_store, clock=fake_clock)
        db.create_tables(SERVICE.tables)
        lake = self.lake(tmp_path)
        consumer = Consumer(partita_store, TABLE, lake, clock=fake_clock, on_caught_up=lake.erase_users)
        consumer.catch_up()
        db.run(insert(Task(user_id="ann", title="before", created_at=1, updated_at=1)))
        db.run(PERSONAL.erase("ann"))
        fake_clock.advance(2)
        db.run(insert(Task(user_id="ann", title="after", created_at=1, updated_at=1)))
        consumer.catch_up()
        lake.close()
        assert rows(tmp_path, "SELECT title FROM task_all") == [{"title": "after"}]
        assert rows(tmp_path, "SELECT title FROM changes") == [{"title": "after"}]

    def test_cut_off_it_is_done_again_and_the_lake_goes_on_where_it_was(
        self, partita_store: EmbeddedStore, fake_clock: FakeClock, tmp_path: Path
    ) -> None:
        db = Session(partita_store, clock=fake_clock)
        db.create_tables(SERVICE.tables)
        lake = self.lake(tmp_path)
        Consumer(partita_store, TABLE, lake, clock=fake_clock).catch_up()
        db.run(insert(Task(user_id="ann", title="secret", created_at=1, updated_at=1)))
        db.run(PERSONAL.erase("ann"))
        Consumer(partita_store, TABLE, lake, clock=fake_clock).catch_up()  # and it crashes before it erases
        positions: dict[str, Any] = dict(lake.positions())
        lake.close()
        lake = self.lake(tmp_path)
        assert (lake.erase_users(), lake.erase_users()) == (1, 0)
        lake.close()
        reopened = self.lake(tmp_path)
        assert dict(reopened.positions()) == positions
        reopened.close()
        assert "secret" not in text_of(tmp_path)
