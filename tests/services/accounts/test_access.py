"""Who owns an account, and who else may see or use it."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import httpx
import pytest
from tests.services.fields import check_fields

from partita import EmbeddedStore, Session
from partita.errors import ItemMissing
from partita.http import Caller, Identity, Role
from partita.recipes.idempotency import run_plan
from partita.testing import FakeClock, FaultyStore, Realism, RealisticStore
from partita_services.accounts.access import Actor, reach
from partita_services.accounts.bootstrap import SERVICE
from partita_services.accounts.handlers import AccountDraft, GrantDraft, add_account, grant_access, revoke_access
from partita_services.accounts.model import ACCOUNTS, Access, AccountData
from partita_services.accounts.movements import Movement, Occasion, withdraw

pytestmark = pytest.mark.req("A11")

GRANT = "/accounts/a1/grants/bob"


@pytest.fixture
def bob(identity: Identity) -> dict[str, str]:
    return {"Authorization": f"Bearer {identity.token(Caller('bob'))}"}


@pytest.fixture
def operator(identity: Identity) -> dict[str, str]:
    return {"Authorization": f"Bearer {identity.token(Caller('root', Role.OPERATOR))}"}


async def opened(api: httpx.AsyncClient, pk: str = "a1", balance: int = 100, **others: Any) -> dict[str, Any]:
    response = await api.post("/accounts", json={"pk": pk, "name": pk, "balance": balance}, **others)
    assert response.status_code == 201, response.text
    account: dict[str, Any] = response.json()
    return account


async def test_nobody_is_an_operator_unless_it_is_said(api: httpx.AsyncClient, store: FaultyStore) -> None:
    await opened(api)
    db = Session(store)
    with pytest.raises(ItemMissing):
        db.run(reach(Actor("stranger"), "a1"))
    assert db.run(reach(Actor("stranger", is_operator=True), "a1")).data.pk == "a1"


def test_a_grant_that_was_revoked_moves_no_money_although_reads_may_be_stale(fake_clock: FakeClock) -> None:
    stale = RealisticStore(EmbeddedStore(":memory:", clock=fake_clock), Realism(stale_seconds=60), clock=fake_clock)
    with closing(stale):
        db = Session(stale, clock=fake_clock)
        db.create_tables(SERVICE.tables)
        ann, bob = Actor("ann"), Actor("bob")
        begun = Occasion(ann, fake_clock(), "e1")
        db.run(run_plan(add_account(AccountDraft(pk="a1", name="a1", balance=100), begun)))
        db.run(grant_access("a1", "bob", GrantDraft(access=Access.USE), begun))
        stale.catch_up()
        db.run(revoke_access("a1", "bob", ann))
        assert db.run(reach(bob, "a1", consistent=False)).data.balance == 100  # it may still be shown
        with pytest.raises(ItemMissing):
            db.run(withdraw("a1", Movement(amount=1), Occasion(bob, fake_clock(), "e2")))


CALLS: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "/accounts/a1", None),
    ("GET", "/accounts/a1?consistent=true", None),
    ("GET", "/accounts/a1/entries", None),
    ("GET", "/accounts/a1/statements", None),
    ("GET", "/accounts/a1/statements/2026-01", None),
    ("GET", "/accounts/a1/statements/2026-01.csv", None),
    ("GET", "/accounts/a1/versions", None),
    ("POST", "/accounts/a1/deposit", {"amount": 1}),
    ("POST", "/accounts/a1/withdraw", {"amount": 1}),
    ("POST", "/transfers", {"from": "a1", "to": "b1", "amount": 1}),
    ("PUT", "/accounts/a1", {"name": "mine", "balance": 0}),
    ("GET", "/accounts/a1/grants", None),
    ("PUT", GRANT, {"access": "use"}),
    ("DELETE", "/accounts/a1/grants/carl", None),
    ("DELETE", "/accounts/a1", None),
]
"""All calls on an account: the first seven require access to see it, the next three to use it, the rest ownership."""


async def statuses(api: httpx.AsyncClient, headers: dict[str, str], match: int) -> list[int]:
    given = {"If-Match": str(match), **headers}
    return [(await api.request(method, path, json=body, headers=given)).status_code for method, path, body in CALLS]


async def test_to_others_an_account_is_not_there(api: httpx.AsyncClient, bob: dict[str, str]) -> None:
    account = await opened(api)
    await opened(api, "b1", headers=bob)
    assert await statuses(api, bob, account["last_write"]) == [404] * len(CALLS)
    missing = await api.get("/accounts/a2", headers=bob)
    hidden = await api.get("/accounts/a1", headers=bob)
    assert hidden.json() == {**missing.json(), "detail": "There is no account 'a1'."}


async def test_a_grant_to_view_shows_and_a_grant_to_use_moves_money(
    api: httpx.AsyncClient, bob: dict[str, str]
) -> None:
    account = await opened(api)
    await opened(api, "b1", headers=bob)
    assert (await api.put(GRANT, json={"access": "view"})).json()["access"] == "view"
    assert await statuses(api, bob, account["last_write"]) == [200] * 7 + [403] * 8
    await api.put(GRANT, json={"access": "use"})
    assert await statuses(api, bob, account["last_write"]) == [200] * 7 + [201] * 3 + [403] * 5


async def test_an_operator_may_do_all(api: httpx.AsyncClient, operator: dict[str, str], bob: dict[str, str]) -> None:
    account = await opened(api)
    await opened(api, "b1", headers=bob)
    assert (await statuses(api, operator, account["last_write"] + 3))[:13] == [200] * 7 + [201] * 3 + [200] * 3
    listed = await api.get("/accounts?owner=ann", headers=operator)
    assert [each["pk"] for each in listed.json()["items"]] == ["a1"]
    others = await opened(api, "c1", headers=operator)
    assert others["owner"] == "root"
    made = await api.post("/accounts", json={"pk": "d1", "name": "d", "owner": "ann"}, headers=operator)
    assert made.json()["owner"] == "ann"


async def test_nobody_opens_or_lists_accounts_of_others(api: httpx.AsyncClient) -> None:
    made = await api.post("/accounts", json={"pk": "d1", "name": "d", "owner": "bob"})
    assert (made.status_code, made.json()["code"]) == (403, "not_allowed")
    assert (await api.get("/accounts?owner=bob")).status_code == 403


async def test_a_grant_is_listed_and_taken_back(api: httpx.AsyncClient, bob: dict[str, str]) -> None:
    await opened(api)
    await api.put(GRANT, json={"access": "view"})
    (grant,) = (await api.get("/accounts/a1/grants")).json()["items"]
    assert (grant["user_id"], grant["access"], grant["granted_by"]) == ("bob", "view", "ann")
    await check_fields(api, "/accounts/a1/grants")
    shared = await api.get("/accounts?shared=true", headers=bob)
    assert [(each["pk"], each["owner"]) for each in shared.json()["items"]] == [("a1", "ann")]
    assert (await api.delete(GRANT)).status_code == 204
    assert (await api.delete(GRANT)).status_code == 404
    assert (await api.get("/accounts?shared=true", headers=bob)).json()["items"] == []
    assert (await api.get("/accounts/a1", headers=bob)).status_code == 404


async def test_whoever_has_a_grant_may_give_it_up(api: httpx.AsyncClient, bob: dict[str, str]) -> None:
    await opened(api)
    await api.put(GRANT, json={"access": "view"})
    assert (await api.delete(GRANT, headers=bob)).status_code == 204
    assert (await api.get("/accounts/a1", headers=bob)).status_code == 404


async def test_a_grant_is_not_for_a_later_account_of_the_same_key(
    api: httpx.AsyncClient, bob: dict[str, str], fake_clock: Any
) -> None:
    account = await opened(api)
    await api.put(GRANT, json={"access": "use"})
    await api.delete("/accounts/a1", headers={"If-Match": str(account["last_write"])})
    fake_clock.advance(1)
    await opened(api, balance=5)
    assert (await api.get("/accounts/a1", headers=bob)).status_code == 404
    assert (await api.get("/accounts?shared=true", headers=bob)).json()["items"] == []
    assert (await api.get("/accounts/a1/grants")).json() == {"items": [], "next_cursor": None}
    assert [each["amount"] for each in (await api.get("/accounts/a1/entries")).json()["items"]] == [5]


async def test_an_account_that_was_closed_may_be_opened_again_within_the_same_second(
    api: httpx.AsyncClient, bob: dict[str, str], fake_clock: FakeClock
) -> None:
    account = await opened(api)
    await api.put(GRANT, json={"access": "use"})
    fake_clock.advance(0.25)
    await api.delete("/accounts/a1", headers={"If-Match": str(account["last_write"])})
    again = await opened(api, balance=5)
    assert again["last_write"] == account["last_write"] + 250
    assert (await api.get("/accounts/a1", headers=bob)).status_code == 404
    assert [each["amount"] for each in (await api.get("/accounts/a1/entries")).json()["items"]] == [5]


async def test_a_grant_to_the_owner_shares_nothing(
    api: httpx.AsyncClient, bob: dict[str, str], operator: dict[str, str]
) -> None:
    await opened(api, "b1", headers=bob)
    assert (await api.put("/accounts/b1/grants/bob", json={"access": "view"}, headers=operator)).status_code == 200
    assert (await api.get("/accounts?shared=true", headers=bob)).json()["items"] == []
    assert (await api.get("/accounts/b1", headers=bob)).json()["access"] == "own"


async def test_a_taken_key_shows_its_account_to_its_owner_alone(api: httpx.AsyncClient, bob: dict[str, str]) -> None:
    account = await opened(api)
    draft = {"pk": "a1", "name": "n"}
    assert (await api.post("/accounts", json=draft)).json()["current"] == account
    refused = await api.post("/accounts", json=draft, headers=bob)
    assert (refused.status_code, "current" in refused.json()) == (409, False)


async def test_a_transfer_says_nothing_of_what_the_other_account_holds(
    api: httpx.AsyncClient, bob: dict[str, str]
) -> None:
    await opened(api)
    await opened(api, "b1", 1_000_000_000_000_000, headers=bob)
    refused = await api.post("/transfers", json={"from": "a1", "to": "b1", "amount": 1})
    assert (refused.status_code, refused.json()["code"], "current" in refused.json()) == (409, "account_full", False)
    assert "1000000" not in refused.text


async def test_a_transfer_names_its_sender_to_the_sender_alone(api: httpx.AsyncClient, bob: dict[str, str]) -> None:
    await opened(api)
    await opened(api, "b1", 0, headers=bob)
    await api.post("/transfers", json={"from": "a1", "to": "b1", "amount": 7, "memo": "thanks"})
    (sent, *_) = (await api.get("/accounts/a1/entries")).json()["items"]
    (received,) = (await api.get("/accounts/b1/entries", headers=bob)).json()["items"]
    assert (sent["by"], received["by"]) == ("ann", None)
    assert (sent["counterpart"], received["counterpart"]) == ("b1", "a1")
    assert (sent["amount"], received["amount"], received["memo"]) == (-7, 7, "thanks")
    assert sent["entry_id"] == received["entry_id"]


async def test_accounts_are_listed_in_pages_and_in_part(api: httpx.AsyncClient, bob: dict[str, str]) -> None:
    for pk in ("a2", "a1"):
        await opened(api, pk)
    await opened(api, "b1", headers=bob)
    first = (await api.get("/accounts?limit=1")).json()
    second = (await api.get(f"/accounts?limit=1&cursor={first['next_cursor']}")).json()
    assert [each["pk"] for page in (first, second) for each in page["items"]] == ["a1", "a2"]
    await check_fields(api, "/accounts")
    await api.put("/accounts/a1/grants/bob", json={"access": "view"})
    shared = await api.get("/accounts?shared=true&fields=name", headers=bob)
    assert shared.json()["items"] == [{"name": "a1"}]


async def test_an_account_that_is_nobodys_is_for_operators(
    api: httpx.AsyncClient, store: FaultyStore, operator: dict[str, str]
) -> None:
    Session(store).run(ACCOUNTS.insert(AccountData(pk="old", name="old", balance=5)))
    assert (await api.get("/accounts/old")).status_code == 404
    shown = await api.get("/accounts/old", headers=operator)
    assert (shown.json()["owner"], shown.json()["balance"]) == (None, 5)
    assert (await api.post("/accounts/old/deposit", json={"amount": 1}, headers=operator)).status_code == 201


@pytest.mark.req("X15")
async def test_a_user_has_their_data_and_gives_up_what_is_not_money(
    api: httpx.AsyncClient, bob: dict[str, str]
) -> None:
    await opened(api)
    await opened(api, "b1", headers=bob)
    await api.put(GRANT, json={"access": "view"})
    data = (await api.get("/me/data", headers=bob)).json()["data"]
    assert [each["account"] for each in data["grants"]] == ["a1"]
    assert [(each["pk"], each["balance"]) for each in data["accounts"]] == [("b1", 100)]
    erased = (await api.delete("/me/data", headers=bob)).json()
    assert (erased["erased"], list(erased["stays"])) == ({"grants": 1}, ["accounts"])
    assert (await api.get("/accounts/a1", headers=bob)).status_code == 404
    assert (await api.get("/accounts/b1", headers=bob)).status_code == 200
