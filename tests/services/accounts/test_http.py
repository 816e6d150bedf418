"""The Accounts API over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from tests.services.routes import routes_of

from partita.http import Caller, Identity
from partita.store._requests import GetItem, ScanTable, TransactWriteItems
from partita.testing import FakeClock, FaultyStore
from partita_services.accounts.http import ROUTER
from partita_services.accounts.model import MAX_BALANCE

ROUTES = routes_of(ROUTER)

NOON_MS = 1_767_268_800_000


async def opened(api: httpx.AsyncClient, pk: str = "a1", balance: int = 100, name: str = "Ada") -> dict[str, Any]:
    response = await api.post("/accounts", json={"pk": pk, "name": name, "balance": balance})
    assert response.status_code == 201
    account: dict[str, Any] = response.json()
    return account


async def balance(api: httpx.AsyncClient, pk: str) -> int:
    return int((await api.get(f"/accounts/{pk}")).json()["balance"])


@pytest.mark.req("A09")
async def test_an_account_is_opened_with_nothing_unless_said_otherwise(api: httpx.AsyncClient) -> None:
    response = await api.post("/accounts", json={"pk": "a1", "name": "Ada"})
    assert (response.status_code, response.json()["balance"], await balance(api, "a1")) == (201, 0, 0)


@pytest.mark.req("A09")
async def test_an_opened_account_says_where_it_is(api: httpx.AsyncClient) -> None:
    response = await api.post("/accounts", json={"pk": "a1", "name": " Ada ", "balance": 100})
    account = {"pk": "a1", "name": "Ada", "balance": 100, "owner": "ann", "data_version": 2, "last_write": NOON_MS}
    assert (response.status_code, response.json()) == (201, account)
    assert response.headers["Location"] == "/accounts/api/accounts/a1"
    assert response.headers["ETag"] == f'"{NOON_MS}"'
    read = await api.get("/accounts/a1")
    assert (read.status_code, read.json(), read.headers["ETag"]) == (200, {**account, "access": "own"}, f'"{NOON_MS}"')


@pytest.mark.req("A09")
async def test_an_account_that_exists_is_not_opened_again(api: httpx.AsyncClient) -> None:
    first = await opened(api)
    again = await api.post("/accounts", json={"pk": "a1", "name": "Eve"})
    assert (again.status_code, again.json()["code"], again.json()["current"]) == (409, "already_exists", first)
    assert again.json()["detail"] == "There is already an account with this key."


@pytest.mark.req("A09")
@pytest.mark.parametrize(("query", "consistent"), [("", False), ("?consistent=true", True)])
async def test_a_read_is_consistent_when_asked(
    api: httpx.AsyncClient,
    store: FaultyStore,
    query: str,
    consistent: bool,  # noqa: FBT001
) -> None:
    await opened(api)
    store.requests.clear()
    response = await api.get(f"/accounts/a1{query}")
    (read,) = store.requests
    assert isinstance(read, GetItem)
    assert read.consistent is consistent
    cost = {False: "account_by_pk;rcu=0.5;wcu=0", True: "account_now;rcu=1;wcu=0"}[consistent]
    assert response.headers["X-Consumed-Capacity"] == cost


@pytest.mark.req("A09")
@pytest.mark.parametrize("quoted", [True, False])
async def test_a_write_over_the_version_that_was_read_succeeds(api: httpx.AsyncClient, quoted: bool) -> None:  # noqa: FBT001
    account = await opened(api)
    match = f'"{account["last_write"]}"' if quoted else str(account["last_write"])
    response = await api.put("/accounts/a1", json={"name": "Eve", "balance": 5}, headers={"If-Match": match})
    expected = account | {"name": "Eve", "balance": 5, "last_write": NOON_MS + 1}
    assert (response.status_code, response.json()) == (200, expected)
    assert response.headers["ETag"] == f'"{NOON_MS + 1}"'


@pytest.mark.req("A09")
async def test_a_stale_write_is_a_conflict_that_shows_the_current_item_without_a_read(
    api: httpx.AsyncClient, store: FaultyStore
) -> None:
    stale = {"If-Match": str((await opened(api))["last_write"])}
    current = (await api.put("/accounts/a1", json={"name": "Eve", "balance": 5}, headers=stale)).json()
    store.requests.clear()
    for response in (
        await api.put("/accounts/a1", json={"name": "Mallory", "balance": 5}, headers=stale),
        await api.delete("/accounts/a1", headers=stale),
    ):
        assert response.status_code == 409
        assert response.headers["Content-Type"] == "application/problem+json"
        assert (response.json()["code"], response.json()["current"]) == ("version_conflict", current)
    assert [type(request) for request in store.requests] == [GetItem, GetItem]


@pytest.mark.req("A09")
async def test_a_write_that_names_no_version_is_refused(api: httpx.AsyncClient) -> None:
    account = await opened(api)
    for response in (
        await api.put("/accounts/a1", json={"name": "Eve", "balance": 5}),
        await api.delete("/accounts/a1"),
    ):
        assert (response.status_code, response.json()["code"]) == (428, "precondition_required")
    for match in ("*", 'W/"1"', "x", ""):
        response = await api.delete("/accounts/a1", headers={"If-Match": match})
        assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
        assert response.json()["detail"] == "if-match: this is neither the ETag of an account nor its last_write"
    assert (await api.get("/accounts/a1")).json() == {**account, "access": "own"}


@pytest.mark.req("A09", "X04")
async def test_a_write_says_what_the_account_holds(api: httpx.AsyncClient) -> None:
    account = await opened(api, balance=125_000)
    match = {"If-Match": str(account["last_write"])}
    response = await api.put("/accounts/a1", json={"name": "Eve"}, headers=match)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "balance")
    assert (await api.get("/accounts/a1")).json() == {**account, "access": "own"}


@pytest.mark.req("X04")
@pytest.mark.parametrize("amount", [True, "5", 5.5, None])
async def test_only_a_whole_number_is_money(api: httpx.AsyncClient, amount: object) -> None:
    account = await opened(api)
    for path, body, field in (
        ("/accounts/a1/deposit", {"amount": amount}, "amount"),
        ("/accounts", {"pk": "a2", "name": "Eve", "balance": amount}, "balance"),
    ):
        response = await api.post(path, json=body)
        assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)
    assert (await api.get("/accounts/a1")).json() == {**account, "access": "own"}


@pytest.mark.req("A09")
async def test_a_deleted_account_is_gone(api: httpx.AsyncClient) -> None:
    match = {"If-Match": str((await opened(api))["last_write"])}
    assert (await api.delete("/accounts/a1", headers=match)).status_code == 204
    assert (await api.get("/accounts/a1")).json()["code"] == "item_missing"
    assert (await api.delete("/accounts/a1", headers=match)).status_code == 404
    assert (await api.put("/accounts/a1", json={"name": "Eve", "balance": 5}, headers=match)).status_code == 404


@pytest.mark.req("A09")
async def test_deposits_and_withdrawals_change_the_balance(api: httpx.AsyncClient) -> None:
    await opened(api, balance=100)
    await api.post("/accounts/a1/deposit", json={"amount": 50})
    assert await balance(api, "a1") == 150
    response = await api.post("/accounts/a1/withdraw", json={"amount": 150, "memo": " all of it "})
    entry = response.json()
    assert (response.status_code, len(entry.pop("entry_id"))) == (201, 26)
    assert entry == {
        "account": "a1",
        "at": "2026-01-01T12:00:00.000000Z",
        "kind": "withdrawal",
        "amount": -150,
        "by": "ann",
        "counterpart": None,
        "memo": "all of it",
    }
    account = (await api.get("/accounts/a1")).json()
    assert (account["balance"], account["last_write"]) == (0, NOON_MS + 2)


@pytest.mark.req("A09")
async def test_an_account_never_goes_below_zero(api: httpx.AsyncClient) -> None:
    account = await opened(api, balance=100)
    response = await api.post("/accounts/a1/withdraw", json={"amount": 101})
    assert (response.status_code, response.json()["code"]) == (409, "insufficient_funds")
    assert response.json()["current"] == account
    assert await balance(api, "a1") == 100


async def test_an_account_never_holds_more_than_json_can_say_exactly(api: httpx.AsyncClient) -> None:
    await opened(api, balance=MAX_BALANCE - 1)
    response = await api.post("/accounts/a1/deposit", json={"amount": 2})
    assert (response.status_code, response.json()["code"]) == (409, "account_full")


@pytest.mark.req("A09")
async def test_a_transfer_changes_both_accounts(api: httpx.AsyncClient) -> None:
    await opened(api, "a1", 100)
    await opened(api, "a2", 5)
    response = await api.post("/transfers", json={"from": "a1", "to": "a2", "amount": 30})
    entry = response.json()
    assert (response.status_code, entry["kind"], entry["amount"]) == (201, "transfer_out", -30)
    assert (entry["account"], entry["counterpart"]) == ("a1", "a2")
    assert (await balance(api, "a1"), await balance(api, "a2")) == (70, 35)


@pytest.mark.req("A09")
@pytest.mark.parametrize(
    ("order", "status", "code"),
    [
        ({"from": "a1", "to": "a2", "amount": 101}, 409, "insufficient_funds"),
        ({"from": "a1", "to": "full", "amount": 1}, 409, "account_full"),
        ({"from": "a1", "to": "none", "amount": 1}, 404, "item_missing"),
        ({"from": "none", "to": "a1", "amount": 1}, 404, "item_missing"),
        ({"from": "a1", "to": "a1", "amount": 1}, 422, "invalid_request"),
        ({"from": "a1", "to": "a2", "amount": 0}, 422, "invalid_request"),
        ({"from": "a1", "to": "a2", "amount": -1}, 422, "invalid_request"),
    ],
)
async def test_a_transfer_that_cannot_be_made_changes_nothing(
    api: httpx.AsyncClient, order: dict[str, Any], status: int, code: str
) -> None:
    before = [await opened(api, "a1", 100), await opened(api, "a2", 5), await opened(api, "full", MAX_BALANCE)]
    response = await api.post("/transfers", json=order)
    assert (response.status_code, response.json()["code"]) == (status, code)
    after = [(await api.get(f"/accounts/{pk}")).json() for pk in ("a1", "a2", "full")]
    assert after == [{**account, "access": "own"} for account in before]


@pytest.mark.req("A09")
@pytest.mark.parametrize("pk", ["no#such", "-a", "a" * 65, "a b"])
async def test_a_key_that_cannot_be_one_is_named(api: httpx.AsyncClient, pk: str) -> None:
    response = await api.post("/accounts", json={"pk": pk, "name": "Ada"})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "pk")


@pytest.mark.req("X04")
async def test_a_body_that_is_no_text_is_refused_like_one_that_is_no_json(api: httpx.AsyncClient) -> None:
    for body in (b"\xff\xfe", b"{"):
        response = await api.post("/accounts", content=body, headers={"Content-Type": "application/json"})
        assert (response.status_code, response.json()["errors"][0]["location"]) == (422, "body")


MOVES: list[tuple[str, dict[str, Any]]] = [
    ("/accounts", {"pk": "new", "name": "New"}),
    ("/accounts/a1/deposit", {"amount": 10}),
    ("/accounts/a1/withdraw", {"amount": 10}),
    ("/transfers", {"from": "a1", "to": "a2", "amount": 10}),
]


@pytest.mark.req("X05")
@pytest.mark.parametrize(("path", "body"), MOVES)
async def test_the_same_request_again_gets_the_same_response_and_changes_nothing(
    api: httpx.AsyncClient, path: str, body: dict[str, Any]
) -> None:
    await opened(api, "a1", 100)
    await opened(api, "a2", 0)
    key = {"Idempotency-Key": '"k1"'}
    first = await api.post(path, json=body, headers=key)
    after = [(await api.get(f"/accounts/{pk}")).json() for pk in ("a1", "a2")]
    again = await api.post(path, json=body, headers=key | {"Idempotency-Key": "k1"})
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["ETag"] == first.headers["ETag"] if "ETag" in first.headers else True
    assert (first.headers.get("Idempotent-Replayed"), again.headers["Idempotent-Replayed"]) == (None, "true")
    assert [(await api.get(f"/accounts/{pk}")).json() for pk in ("a1", "a2")] == after


@pytest.mark.req("X05")
async def test_a_key_with_another_payload_is_refused(api: httpx.AsyncClient) -> None:
    await opened(api, "a1", 100)
    key = {"Idempotency-Key": "k1"}
    await api.post("/accounts/a1/deposit", json={"amount": 10}, headers=key)
    for path, body in (("/accounts/a1/deposit", {"amount": 11}), ("/accounts/a1/withdraw", {"amount": 10})):
        response = await api.post(path, json=body, headers=key)
        assert (response.status_code, response.json()["code"]) == (422, "idempotency_mismatch")
    assert await balance(api, "a1") == 110


@pytest.mark.req("X05")
async def test_the_key_of_another_caller_is_another_key(api: httpx.AsyncClient, identity: Identity) -> None:
    await opened(api, "a1", 100)
    await api.put("/accounts/a1/grants/bob", json={"access": "use"})
    other = {"Authorization": f"Bearer {identity.token(Caller('bob'))}"}
    for caller in ({}, other):
        await api.post("/accounts/a1/deposit", json={"amount": 10}, headers={"Idempotency-Key": "k1"} | caller)
    assert await balance(api, "a1") == 120


@pytest.mark.req("X05")
async def test_a_key_expires_after_a_day(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    await opened(api, "a1", 100)
    for expected in (110, 120):
        await api.post("/accounts/a1/deposit", json={"amount": 10}, headers={"Idempotency-Key": "k1"})
        assert await balance(api, "a1") == expected
        fake_clock.advance(86_400)


@pytest.mark.req("X05")
async def test_a_refused_movement_is_not_remembered(api: httpx.AsyncClient) -> None:
    await opened(api, "a1", 5)
    key = {"Idempotency-Key": "k1"}
    assert (await api.post("/accounts/a1/withdraw", json={"amount": 10}, headers=key)).status_code == 409
    await api.post("/accounts/a1/deposit", json={"amount": 10})
    assert (await api.post("/accounts/a1/withdraw", json={"amount": 10}, headers=key)).json()["amount"] == -10
    assert await balance(api, "a1") == 5


@pytest.mark.req("X05")
async def test_a_transfer_and_its_record_commit_in_one_transaction(api: httpx.AsyncClient, store: FaultyStore) -> None:
    await opened(api, "a1", 100)
    await opened(api, "a2", 0)
    store.requests.clear()
    order = {"from": "a1", "to": "a2", "amount": 10}
    await api.post("/transfers", json=order, headers={"Idempotency-Key": "k1"})
    writes = [request for request in store.requests if not isinstance(request, GetItem)]
    assert [type(request) for request in writes] == [TransactWriteItems]
    assert isinstance(writes[0], TransactWriteItems)
    tables = [action.table for action in writes[0].actions]
    assert tables == [*["accounts"] * 2, *["account-ledger"] * 4, "account-requests"]


@pytest.mark.req("A09")
async def test_concurrent_requests_lose_nothing(api: httpx.AsyncClient) -> None:
    await opened(api, "a1", 0)
    responses = await asyncio.gather(*(api.post("/accounts/a1/deposit", json={"amount": 1}) for _ in range(16)))
    assert {response.status_code for response in responses} == {201}
    assert await balance(api, "a1") == 16


async def test_without_a_token_nothing_is_shown(api: httpx.AsyncClient) -> None:
    response = await api.get("/accounts/a1", headers={"Authorization": ""})
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")


@pytest.mark.req("X09")
async def test_no_route_scans(api: httpx.AsyncClient, store: FaultyStore) -> None:
    account = await opened(api, "a1", 100)
    await opened(api, "a2", 100)
    match = {"If-Match": str(account["last_write"] + 3)}
    key = {"Idempotency-Key": "k"}
    calls: dict[str, list[tuple[dict[str, Any], dict[str, str]]]] = {
        "POST /accounts": [({"pk": "a3", "name": "n"}, {}), ({"pk": "a4", "name": "n"}, key)],
        "GET /accounts": [({}, {})],
        "GET /me/data": [({}, {})],
        "DELETE /me/data": [({}, {})],
        "GET /accounts/{pk}": [({}, {})],
        "GET /accounts/{pk}/entries": [({}, {})],
        "GET /accounts/{pk}/statements": [({}, {})],
        "GET /accounts/{pk}/statements/{month}": [({}, {})],
        "GET /accounts/{pk}/statements/{month}.csv": [({}, {})],
        "GET /accounts/{pk}/versions": [({}, {})],
        "PUT /accounts/{pk}/grants/{user_id}": [({"access": "view"}, {})],
        "GET /accounts/{pk}/grants": [({}, {})],
        "DELETE /accounts/{pk}/grants/{user_id}": [({}, {})],
        "POST /accounts/{pk}/deposit": [({"amount": 1}, {})],
        "POST /accounts/{pk}/withdraw": [({"amount": 1}, {})],
        "POST /transfers": [({"from": "a1", "to": "a2", "amount": 1}, {})],
        "PUT /accounts/{pk}": [({"name": "n", "balance": 0}, match)],
        "DELETE /accounts/{pk}": [({}, {"If-Match": str(account["last_write"] + 4)})],
    }
    assert calls.keys() == set(ROUTES) - {"GET /stream"}  # the stream does not end
    for route, requests in calls.items():
        method, path = route.format(pk="a1", month="2026-01", user_id="bob").split()
        for body, headers in requests:
            response = await api.request(method, path, json=body or None, headers=headers)
            assert response.is_success, (route, response.text)
            assert response.headers["X-Consumed-Capacity"] != "none"
    assert ScanTable not in {type(request) for request in store.requests}
