"""Trying patterns in the console: pages of collections, parallel reads of shards, and keys of several attributes."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from partita import AsyncSession, EmbeddedStore, Rcu, SearchedKb, Session
from partita.console._attempt import Attempt, AttemptResult, attempt

GALLERY = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "gallery.py"))


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore(":memory:") as store:
        yield store


async def tried(store: EmbeddedStore, design: Any, name: str, cursor: str | None = None, **texts: str) -> AttemptResult:
    wanted = Attempt(service="x", pattern=name, arguments=texts, limit=2, cursor=cursor)
    session = AsyncSession(store, secret=b"one for all pages of this test")
    return await attempt(design.TABLE.patterns[name], wanted, session)


def told(store: EmbeddedStore, name: str) -> Any:
    design = GALLERY["loaded"](name)
    db = Session(store)
    db.create_tables([design.TABLE])
    design.tell(db)
    return design


async def test_a_collection_with_a_limit_has_pages(store: EmbeddedStore) -> None:
    chat = told(store, "chat")
    first = await tried(store, chat, "room_page", room_id="general")
    second = await tried(store, chat, "room_page", first.next_cursor, room_id="general")
    found = [message["number"] for page in (first, second) for each in page.items for message in each["messages"]]
    assert found == [4, 3, 2, 1]
    missing = await tried(store, chat, "room_page", room_id="nowhere")
    assert (missing.items, missing.next_cursor) == ([], None)


async def test_a_collection_without_one_is_whole(store: EmbeddedStore) -> None:
    shop = told(store, "shop")
    found = await tried(store, shop, "order_page", order_id="o1")
    assert ([line["sku"] for line in found.items[0]["lines"]], found.next_cursor) == (["ink", "pen"], None)


async def test_shards_are_read_at_once(store: EmbeddedStore) -> None:
    sensors = told(store, "sensors")
    found = await tried(store, sensors, "latest_alarms")
    assert [each["sensor"] for each in found.items] == ["s3", "s2"]
    assert (found.requests_sent, found.predicted) == (5, Rcu(2))  # one for each of four shards, and one next page


async def test_a_key_of_several_attributes_takes_its_arguments_as_text(store: EmbeddedStore) -> None:
    saas = told(store, "saas")
    found = await tried(store, saas, "urgent", tenant="acme", region="eu", status="open", priority="1..5")
    assert [each["number"] for each in found.items] == [1]


async def test_vectors_are_searched_with_one_that_is_written_as_json(store: EmbeddedStore) -> None:
    meanings = told(store, "meanings")
    vector = json.dumps(meanings.by_letters("milk"))
    found = await tried(store, meanings, "similar_open_tasks", user_id="ann", status="open", vector=vector, top="1")
    assert (found.call, found.index, found.budget) == ("SearchVectors", "by-meaning", SearchedKb(16))
    assert [(each["entity"]["title"], 0 < each["score"] < 1) for each in found.items] == [("Buy milk and bread", True)]
    assert found.consumed.searched > 1024
