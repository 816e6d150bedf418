"""Live changes of accounts: sent to users who may see them, and resumed after the last event that a reader got."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.services.news import Turn, heard

from partita import AsyncSession
from partita.app import build_app
from partita.change import Consumer, changes_after
from partita.http import AppState, Caller, Identity, Role
from partita.service import OpenProjection
from partita.testing import FakeClock, FaultyStore
from partita_services.accounts import live
from partita_services.accounts.bootstrap import SERVICE
from partita_services.accounts.live import AccountChanges
from partita_services.accounts.model import TABLE

pytestmark = pytest.mark.req("A17")

STREAM = "/stream"


@pytest.fixture
async def world(
    store: FaultyStore, fake_clock: FakeClock, identity: Identity, tmp_path: Path
) -> AsyncIterator[tuple[httpx.AsyncClient, OpenProjection[AccountChanges]]]:
    """A client of the API, authorized as `ann`, and the projection; a test decides when it reads changes."""
    session = AsyncSession(store, clock=fake_clock, secret=b"fake", strict_budgets=True)
    await session.create_tables(SERVICE.tables)
    with closing(AccountChanges(tmp_path / "projection.db")) as sink:
        projection = OpenProjection(sink, Consumer(store, TABLE, sink, clock=fake_clock))
        projection.consumer.catch_up()
        app = build_app([SERVICE], AppState(session, identity, projections={"accounts": projection}))
        headers = {"Authorization": f"Bearer {identity.token(Caller('ann'))}"}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://test/accounts/api", headers=headers
        ) as client:
            yield client, projection


def as_user(identity: Identity, user: str, role: Role = Role.USER) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {identity.token(Caller(user, role))}"}}


async def test_one_hears_of_ones_own_accounts_and_of_those_that_are_shared(
    world: tuple[httpx.AsyncClient, OpenProjection[AccountChanges]],
    identity: Identity,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api, projection = world
    bob = as_user(identity, "bob")
    for pk in ("b1", "b2"):
        await api.post("/accounts", json={"pk": pk, "name": pk, "balance": 1}, **bob)
    monkeypatch.setattr(live, "LOOKS", 1)
    caught_up = projection.consumer.catch_up
    news = await heard(
        api,
        monkeypatch,
        STREAM,
        lambda: api.post("/accounts", json={"pk": "a1", "name": "a1", "balance": 5}),
        caught_up,
        lambda: api.post("/accounts/b1/deposit", json={"amount": 1}, **bob),  # ann may not see it
        caught_up,
        lambda: api.put("/accounts/b1/grants/ann", json={"access": "view"}, **bob),
        lambda: api.post("/accounts/b1/deposit", json={"amount": 1}, **bob),
        caught_up,
        lambda: api.put("/accounts/b1/grants/ann", json={"access": "use"}, **bob),
        lambda: api.post("/transfers", json={"from": "a1", "to": "b2", "amount": 1}),
        caught_up,
        lambda: api.delete("/accounts/b1/grants/ann", **bob),
        lambda: None,
    )
    assert [(event, data.get("pk")) for event, data in news] == [
        ("ready", None),
        ("account", "a1"),
        ("shared", None),
        ("account", "b1"),
        ("shared", None),
        ("account", "a1"),
        ("shared", None),
    ]


async def test_nobody_hears_of_a_later_account_with_the_key_of_one_that_was_shared(
    world: tuple[httpx.AsyncClient, OpenProjection[AccountChanges]],
    identity: Identity,
    fake_clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api, projection = world
    bob, eve = as_user(identity, "bob"), as_user(identity, "eve")
    caught_up = projection.consumer.catch_up

    async def opened(user: dict[str, Any]) -> None:
        fake_clock.advance(1)
        await api.post("/accounts", json={"pk": "b1", "name": "b1", "balance": 1}, **user)

    async def closed() -> None:
        current = (await api.get("/accounts/b1", **bob)).json()["last_write"]
        await api.delete("/accounts/b1", headers={"If-Match": str(current)} | bob["headers"])

    def deposited(user: dict[str, Any]) -> Turn:
        return lambda: api.post("/accounts/b1/deposit", json={"amount": 1}, **user)

    await opened(bob)
    await api.put("/accounts/b1/grants/ann", json={"access": "view"}, **bob)
    caught_up()
    monkeypatch.setattr(live, "LOOKS", 1)
    of_eve: list[Turn] = [lambda: opened(eve), caught_up, deposited(eve), caught_up]
    news = await heard(api, monkeypatch, STREAM, deposited(bob), caught_up, closed, caught_up, *of_eve)
    assert [(event, data.get("pk")) for event, data in news] == [
        ("ready", None),
        ("account", "b1"),
        ("account", "b1"),
    ]
    news = await heard(api, monkeypatch, STREAM, deposited(eve), caught_up)
    assert news == [("ready", {})]
    await api.put("/accounts/b1/grants/ann", json={"access": "view"}, **eve)
    news = await heard(api, monkeypatch, STREAM, deposited(eve), caught_up)
    assert [(event, data.get("pk")) for event, data in news] == [("ready", None), ("account", "b1")]


async def test_a_reader_goes_on_where_it_was_and_an_operator_hears_of_all(
    world: tuple[httpx.AsyncClient, OpenProjection[AccountChanges]],
    identity: Identity,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api, projection = world
    was_at = changes_after(projection.sink, None, []).number
    for pk in ("a1", "a2"):
        await api.post("/accounts", json={"pk": pk, "name": pk, "balance": 1})
    await api.post("/accounts", json={"pk": "b1", "name": "b1", "balance": 1}, **as_user(identity, "bob"))
    projection.consumer.catch_up()
    news = await heard(api, monkeypatch, STREAM, last=was_at)
    assert [(event, data.get("pk")) for event, data in news] == [("ready", None), ("account", "a1"), ("account", "a2")]
    opened = changes_after(projection.sink, None, []).number
    read = (await api.get("/accounts/a2")).headers["ETag"]
    assert (await api.delete("/accounts/a2", headers={"If-Match": read})).status_code == 204
    projection.consumer.catch_up()
    news = await heard(api, monkeypatch, STREAM, last=opened)
    assert [(event, data.get("pk")) for event, data in news] == [("ready", None), ("account", "a2")]  # it was closed
    api.headers.update(as_user(identity, "boss", Role.OPERATOR)["headers"])
    news = await heard(api, monkeypatch, STREAM, last=was_at)
    assert [data.get("pk") for _, data in news] == [None, "a1", "b1", "a2"]


async def test_entries_of_a_month_come_newest_first_where_that_is_asked_for(api: httpx.AsyncClient) -> None:
    await api.post("/accounts", json={"pk": "a1", "name": "a1", "balance": 5})
    for amount in (1, 2):
        await api.post("/accounts/a1/deposit", json={"amount": amount})
    month = (await api.get("/accounts/a1/statements")).json()["items"][0]["month"]
    orders = {"": [5, 1, 2], "&order=oldest": [5, 1, 2], "&order=newest": [2, 1, 5]}
    for order, expected in orders.items():
        entries = (await api.get(f"/accounts/a1/entries?month={month}{order}")).json()["items"]
        assert [entry["amount"] for entry in entries] == expected
    entries = (await api.get("/accounts/a1/entries?order=oldest")).json()["items"]
    assert [entry["amount"] for entry in entries] == [5, 1, 2]
