"""Counts and search follow the change stream: correct after any crash, and with the lag that they report."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita import EmbeddedStore, Session, delete
from partita.change import Consumer, ItemChange, Lag
from partita.errors import ItemMissing
from partita.http import Caller, Identity, Role
from partita.recipes.idempotency import Command, StoredResponse
from partita.service import OpenProjection
from partita.testing import Crash, FakeClock
from partita_services.todo.bulk import change_status, delete_completed
from partita_services.todo.changes import TaskChange, TaskDraft
from partita_services.todo.handlers import Profile, add_task, change_task, write_user
from partita_services.todo.model import (
    REQUESTS,
    TABLE,
    Priority,
    Status,
    Task,
    create_task,
    task_by_id,
    tasks_of_user,
)
from partita_services.todo.projection import NO_PRIORITY, Counts, TaskProjection

USERS = ("ann", "bob", "eve")
WORDS = ("water", "plants", "invoice", "Zürich", "visit", "F#")


def task(task_id: str, title: str = "a", user_id: str = "ann", **fields: Any) -> Task:
    return Task(user_id=user_id, task_id=task_id, title=title, created_at=1, updated_at=1, **fields)


def recounted(tasks: Sequence[Task]) -> Counts:
    statuses = Counter(found.status for found in tasks)
    priorities = Counter(found.priority or NO_PRIORITY for found in tasks)
    return Counts(
        by_status={status: statuses[status] for status in Status},
        by_priority={str(value): priorities[value] for value in (*Priority, NO_PRIORITY)},
    )


class _MortalProjection(TaskProjection):
    """A projection whose process crashes at random: before a commit, after it, or in the middle of a batch."""

    def __init__(self, path: Path, rng: random.Random) -> None:
        super().__init__(path)
        whole = self._apply

        def apply(connection: apsw.Connection, change: ItemChange) -> None:
            if rng.random() < 0.002:
                raise Crash("in the middle of a batch")
            whole(connection, change)

        self._apply = apply
        self._chance = rng

    def apply(self, batch: Sequence[ItemChange], positions: Any) -> None:
        if self._chance.random() < 0.05:
            raise Crash("before the commit")
        super().apply(batch, positions)
        if self._chance.random() < 0.05:
            raise Crash("after the commit")


class _Play:
    """Random operations of some users on their tasks."""

    def __init__(self, db: Session, clock: FakeClock, rng: random.Random) -> None:
        self.db = db
        self.clock = clock
        self.rng = rng
        self.ids = {user_id: list[str]() for user_id in USERS}

    def step(self, number: int) -> None:
        user_id = self.rng.choice(USERS)
        known = self.ids[user_id]
        now = int(self.clock())
        kind = self.rng.choices(("create", "change", "delete", "many", "purge", "time"), (40, 40, 14, 2, 1, 3))[0]
        if kind == "create" or not known:
            self.db.run(create_task(task(f"t{number:06}", self._title(), user_id, **self._fields())))
            known.append(f"t{number:06}")
        elif kind == "change":
            with suppress(ItemMissing):  # the task has expired or was purged
                self.db.run(change_task(user_id, self.rng.choice(known), self._change(), now, keep=60))
        elif kind == "delete":
            self.db.run(delete(task_by_id(user_id, known.pop(self.rng.randrange(len(known))))))
        elif kind == "many":
            wanted = self.rng.sample(known, min(5, len(known)))
            self.db.run(change_status(user_id, wanted, self.rng.choice(list(Status)), now, keep=60))
        elif kind == "purge":
            self.db.run(delete_completed(user_id))
        else:
            self.clock.advance(20)
            assert isinstance(self.db.store, EmbeddedStore)
            self.db.store.sweep()

    def _title(self) -> str:
        return " ".join(self.rng.sample(WORDS, 2))

    def _fields(self) -> dict[str, Any]:
        priority = self.rng.choice([None, *Priority])
        return {"status": self.rng.choice(list(Status)), "priority": priority}

    def _change(self) -> TaskChange:
        priority = self.rng.choice([None, *Priority])
        return {"title": self._title(), "status": self.rng.choice(list(Status)), "priority": priority}


@pytest.mark.req("T16", "T17", "T20")
def test_counts_and_search_equal_the_truth_after_any_work_and_any_death(
    embedded: EmbeddedStore, fake_clock: FakeClock, tmp_path: Path
) -> None:
    rng = random.Random(16)
    db = Session(embedded, clock=fake_clock)
    db.create_tables([TABLE])
    play = _Play(db, fake_clock, rng)
    deaths = 0
    number = 0
    while number < 10_000:
        with closing(_MortalProjection(tmp_path / "projection.db", rng)) as sink:
            consumer = Consumer(embedded, TABLE, sink, batch=rng.choice((1, 7, 100)), clock=fake_clock)
            try:
                while number < 10_000:
                    for _ in range(rng.randint(1, 60)):
                        play.step(number)
                        number += 1
                    consumer.step()
            except Crash:
                deaths += 1
    fake_clock.advance(61)
    embedded.sweep()
    with closing(TaskProjection(tmp_path / "projection.db")) as sink:
        Consumer(embedded, TABLE, sink, clock=fake_clock).catch_up()
        stored = {user_id: db.run(tasks_of_user(user_id).walk(max_items=100_000)).items for user_id in USERS}
        assert [sink.counts(user_id) for user_id in USERS] == [recounted(stored[user_id]) for user_id in USERS]
        assert sink.counts() == recounted([found for tasks in stored.values() for found in tasks])
        for word in WORDS:
            for user_id in USERS:
                has = {found.task_id for found in stored[user_id] if word in found.title.split()}
                assert set(sink.search(user_id, word, 100_000).task_ids) == has
        assert sink.set_aside() == []
    assert deaths > 20
    assert sum(map(len, stored.values())) > 100


@pytest.fixture
def kept(partita_db: Session, projection: OpenProjection[TaskProjection]) -> TaskProjection:
    """The projection of the store of `partita_db`; a test calls `projection.consumer.catch_up()` after writing."""
    return projection.sink


@pytest.mark.req("T16", "T17")
def test_nobody_has_no_tasks(kept: TaskProjection) -> None:
    assert kept.counts("ann") == kept.counts() == recounted([])


@pytest.mark.req("T52")
def test_every_entity_is_read_and_tasks_alone_are_counted(
    kept: TaskProjection, partita_db: Session, projection: OpenProjection
) -> None:
    partita_db.run(write_user("ann", Profile(email="ann@example.com", name="Ann"), now=1))
    plan = add_task("ann", TaskDraft(title="a", priority=Priority.HIGH), now=1)
    partita_db.run(REQUESTS.run(Command("ann", "key", "f"), plan, StoredResponse.of))
    assert projection.consumer.catch_up() == 4  # user, claim, task, request
    assert kept.counts() == recounted([plan.result])
    assert kept.set_aside() == []


@pytest.mark.req("T20")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("invoice", "t1 t3 t2"),
        ("Invoice", "t1 t3 t2"),
        ("inv", "t1 t3 t2"),
        ("invoice march", "t2"),
        ("march inv", "t2"),
        ("inv march", ""),  # only the last word may be a prefix
        ("zurich", "t4"),
        ("ZÜRICH", "t4"),
        ("Zu\u0308rich", "t4"),  # with a combining accent
        ("de\u0301ja\u0300", "t7"),
        ("déjà v", "t7"),
        ("\u0300", ""),
        ("c#", "t5"),
        ("nothing", ""),
        ("", ""),
        (" -!*\"'() ", ""),
        ("owner", ""),
        ("invoice OR plants", ""),
        ("NEAR(invoice march)", ""),
        ("title:invoice", ""),
    ],
)
def test_search_finds_words_and_beginnings_best_first(
    text: str, expected: str, kept: TaskProjection, partita_db: Session, projection: OpenProjection
) -> None:
    tasks = (
        task("t1", "Invoice"),
        task("t2", "Write to Petra", description="the invoice of March is missing, and so is the one of May"),
        task("t3", "Send the invoice to the landlord"),
        task("t4", "Train to Zürich"),
        task("t5", "Learn C#"),
        task("t6", "Invoice", "bob"),
        task("t7", "De\u0301ja\u0300 vu"),
    )
    for each in tasks:
        partita_db.run(create_task(each))
    projection.consumer.catch_up()
    assert " ".join(kept.search("ann", text, 10).task_ids) == expected


@pytest.mark.req("T20")
def test_search_follows_changes_and_deletions(
    kept: TaskProjection, partita_db: Session, projection: OpenProjection
) -> None:
    partita_db.run(create_task(task("t1", "water the plants")))
    projection.consumer.catch_up()
    partita_db.run(change_task("ann", "t1", {"title": "feed the cat"}, now=2))
    projection.consumer.catch_up()
    assert [kept.search("ann", word, 9).task_ids for word in ("plants", "cat")] == [[], ["t1"]]
    partita_db.run(delete(task_by_id("ann", "t1")))
    projection.consumer.catch_up()
    assert (kept.search("ann", "cat", 9).task_ids, kept.counts("ann")) == ([], recounted([]))


@pytest.mark.req("T20")
def test_no_text_breaks_the_search(tmp_path: Path) -> None:
    with closing(TaskProjection(tmp_path / "projection.db")) as sink:

        @given(st.text(), st.text(min_size=1))
        def finds_nothing(text: str, user_id: str) -> None:
            assert sink.search(user_id, text, 10) == ([], True)

        finds_nothing()


async def found(api: httpx.AsyncClient, query: str) -> dict[str, Any]:
    response = await api.get(f"/tasks/search?{query}")
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


@pytest.mark.req("T20", "T15", "X06")
async def test_a_search_is_paged_and_its_cursor_is_its_own(
    api: httpx.AsyncClient, projection: OpenProjection, identity: Identity
) -> None:
    made = [(await api.post("/tasks", json={"title": "water"})).json()["task_id"] for _ in range(5)]
    projection.consumer.catch_up()
    first = await found(api, "q=water&limit=2")
    second = await found(api, f"q=water&limit=2&cursor={first['next_cursor']}")
    third = await found(api, f"q=water&limit=2&cursor={second['next_cursor']}")
    assert third["next_cursor"] is None
    items = [*first["items"], *second["items"], *third["items"]]
    assert sorted(item["task_id"] for item in items) == sorted(made)
    foreign = {"Authorization": f"Bearer {identity.token(Caller('bob'))}"}
    attempts = [
        await api.get(f"/tasks/search?q=plants&cursor={first['next_cursor']}"),
        await api.get(f"/tasks/search?q=water&cursor={first['next_cursor']}", headers=foreign),
        await api.get(f"/tasks?cursor={first['next_cursor']}"),
    ]
    assert [(response.status_code, response.json()["code"]) for response in attempts] == [(400, "invalid_cursor")] * 3


@pytest.mark.req("T16", "T17", "T20")
async def test_responses_say_how_far_behind_they_are(
    api: httpx.AsyncClient, projection: OpenProjection, fake_clock: FakeClock, embedded: EmbeddedStore
) -> None:
    projection.consumer.catch_up()
    made = (await api.post("/tasks", json={"title": "water", "priority": "low"})).json()
    fake_clock.advance(2.5)
    await api.post("/tasks", json={"title": "water"})
    counts = (await api.get("/tasks/counts")).json()
    assert (counts["by_status"]["pending"], counts["lag"]) == (0, {"records": 2, "seconds": 2.5})
    assert (await found(api, "q=water"))["lag"] == {"records": 2, "seconds": 2.5}
    projection.consumer.catch_up()
    await api.delete(f"/tasks/{made['task_id']}")
    search = await found(api, "q=water")
    assert [item["title"] for item in search["items"]] == ["water"]  # the deleted task is not shown
    assert search["lag"] == {"records": 1, "seconds": 0}
    counts = (await api.get("/tasks/counts")).json()
    assert counts["by_status"] == {"pending": 2, "in_progress": 0, "completed": 0, "cancelled": 0}
    assert counts["by_priority"] == {"urgent": 0, "high": 0, "medium": 0, "low": 1, "none": 1}


@pytest.mark.req("T16", "T17", "X03")
async def test_the_counts_of_all_users_are_for_operators(
    api: httpx.AsyncClient, projection: OpenProjection, identity: Identity
) -> None:
    for user_id in USERS:
        token = identity.token(Caller(user_id), timedelta(days=1))
        await api.post("/tasks", json={"title": "a"}, headers={"Authorization": f"Bearer {token}"})
    projection.consumer.catch_up()
    refused = await api.get("/tasks/counts?all_users=true")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    operator = {"Authorization": f"Bearer {identity.token(Caller('ops', Role.OPERATOR))}"}
    everybody = await api.get("/tasks/counts?all_users=true", headers=operator)
    assert everybody.json()["by_status"]["pending"] == len(USERS)
    assert (await api.get("/tasks/counts")).json()["by_status"]["pending"] == 1


@pytest.mark.req("T16", "T17", "T20")
@pytest.mark.parametrize("path", ["/tasks/counts", "/tasks/search?q=water"])
async def test_a_response_that_is_behind_never_says_that_it_is_not(
    path: str, api: httpx.AsyncClient, projection: OpenProjection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change is read just before the lag is measured. A page that was read earlier would lack it at a lag of 0."""
    projection.consumer.catch_up()
    await api.post("/tasks", json={"title": "water"})
    lag = projection.consumer.lag

    def read_and_then_lag() -> Lag:
        projection.consumer.catch_up()
        return lag()

    monkeypatch.setattr(projection.consumer, "lag", read_and_then_lag)
    body = (await api.get(path)).json()
    assert body["lag"]["records"] == 0
    assert body["by_status"]["pending"] == 1 if "counts" in path else len(body["items"]) == 1
