"""Idempotent routes: a repeated request gets the same response, and changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, ClassVar

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Response
from pydantic import BaseModel

from partita import (
    AsyncSession,
    Entity,
    Key,
    Procedure,
    Put,
    Registry,
    Table,
    get,
    insert,
    pattern,
    query,
    retry_on_conflict,
)
from partita.app import build_app
from partita.errors import AlreadyExists
from partita.http import (
    AppState,
    Caller,
    CurrentCaller,
    Db,
    Identity,
    Listing,
    Once,
    Paging,
    describe_problems,
    once_by,
    response_of,
)
from partita.recipes.idempotency import Command, Idempotency, IdempotencyRecord, Plan, StoredResponse
from partita.service import Service
from partita.testing import FakeClock

pytestmark = pytest.mark.req("X05")

TABLE = Table("shop", ttl="ttl", registry=Registry())


class Order(Entity, table=TABLE):
    """An order."""

    primary: ClassVar = Key("USER#{user_id}", "ORDER#{number:04}")
    user_id: str
    number: int
    cups: int


class Request(IdempotencyRecord, table=TABLE):
    primary: ClassVar = Key("IDEMPOTENCY#{scope}#{key}", "METADATA")


REQUESTS = Idempotency(Request)
ROUTER = APIRouter()


@query(Order, Order.primary)
def orders_of(user_id: str) -> None:
    """A user's orders."""


@get(Order)
def order_by_number(user_id: str, number: int) -> None:
    """One order."""


@pattern()
def place(order: Order) -> Put[Order]:
    """Place an order."""
    return insert(order)


class Draft(BaseModel):
    """The body of a request for an order."""

    cups: int


def next_order(user_id: str, cups: int) -> Procedure[Plan[Order]]:
    orders = yield from orders_of(user_id)
    if cups > 10:
        raise AlreadyExists("All cups are taken.")
    write = place(Order(user_id=user_id, number=len(orders) + 1, cups=cups))
    return Plan(write.saved, write)


def created(order: Order) -> StoredResponse:
    return StoredResponse.of(order, status=201, headers={"Location": f"/orders/{order.number}"})


@ROUTER.post("/orders", status_code=201, response_model=Order, responses=describe_problems(409))
async def place_order(
    once: Annotated[Once, Depends(once_by(REQUESTS))], caller: CurrentCaller, draft: Draft
) -> Response:
    """Place an order."""
    return await once(next_order(caller.user_id, draft.cups), created)


@ROUTER.post("/ping", status_code=204)
async def ping(once: Annotated[Once, Depends(once_by(REQUESTS))]) -> Response:
    """Do nothing, once."""
    return await once(Plan(None), lambda _: StoredResponse(204))


@ROUTER.get("/orders")
async def list_orders(db: Db, caller: CurrentCaller, paging: Annotated[Paging, Depends()]) -> Listing[Order]:
    """The caller's orders."""
    return Listing.of(await db.run(orders_of(caller.user_id).page(paging.limit, after=paging.cursor)))


SHOP = Service("shop", "Shop", "Cups.", (TABLE,), lambda: ROUTER)


@pytest.fixture
async def app(session: AsyncSession, identity: Identity) -> FastAPI:
    await session.create_tables(SHOP.tables)
    return build_app([SHOP], AppState(session, identity))


@pytest.fixture
async def client(app: FastAPI, identity: Identity) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {identity.token(Caller('ann'))}"}
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test/shop/api", headers=headers) as client:
        yield client


async def order(client: httpx.AsyncClient, key: str | None, cups: int = 2, token: str | None = None) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return await client.post("/orders", json={"cups": cups}, headers=headers)


async def count(client: httpx.AsyncClient) -> int:
    return len((await client.get("/orders")).json()["items"])


async def test_the_same_request_again_gets_the_same_response(client: httpx.AsyncClient) -> None:
    first = await order(client, "k1")
    again = await order(client, "k1")
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json() == {"user_id": "ann", "number": 1, "cups": 2}
    assert first.headers["Location"] == again.headers["Location"] == "/orders/1"
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert await count(client) == 1


async def test_without_a_key_each_request_is_its_own(client: httpx.AsyncClient) -> None:
    assert [(await order(client, None)).json()["number"] for _ in range(2)] == [1, 2]


async def test_a_quoted_key_is_the_same_as_a_bare_one(client: httpx.AsyncClient) -> None:
    await order(client, '"k1"')
    assert (await order(client, "k1")).headers["Idempotent-Replayed"] == "true"


async def test_another_payload_is_refused(client: httpx.AsyncClient) -> None:
    await order(client, "k1")
    refused = await order(client, "k1", cups=3)
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_mismatch")
    other_path = await client.post("/ping", headers={"Idempotency-Key": "k1"})
    assert (other_path.status_code, other_path.json()["code"]) == (422, "idempotency_mismatch")
    assert await count(client) == 1


async def test_another_callers_key_is_another(client: httpx.AsyncClient, identity: Identity) -> None:
    await order(client, "k1")
    other = await order(client, "k1", token=identity.token(Caller("bob")))
    assert other.json() == {"user_id": "bob", "number": 1, "cups": 2}


@pytest.mark.parametrize("key", ["", '""', "x" * 256, f'"{"x" * 256}"', 'a"b', "a b", "ä"])
async def test_what_is_no_key_is_refused_and_named(client: httpx.AsyncClient, key: str) -> None:
    refused = await client.post("/orders", json={"cups": 2}, headers=[(b"idempotency-key", key.encode("latin-1"))])
    assert refused.status_code == 422
    (problem,) = refused.json()["errors"]
    said = "a key has 1 to 255 visible ASCII characters, and may be in quotes"
    assert problem == {"location": "header", "field": "idempotency-key", "message": said}
    assert await count(client) == 0


async def test_two_keys_are_refused(client: httpx.AsyncClient) -> None:
    both = [("Idempotency-Key", "k1"), ("Idempotency-Key", "k2")]
    refused = await client.post("/orders", json={"cups": 2}, headers=both)
    (problem,) = refused.json()["errors"]
    expected = {"location": "header", "field": "idempotency-key", "message": "it may be given only once"}
    assert (refused.status_code, problem) == (422, expected)
    assert await count(client) == 0


@pytest.mark.parametrize("key", ["x" * 255, f'"{"x" * 255}"', "~!%#", '"two words"'])
async def test_every_key_of_up_to_255_characters_is_taken(client: httpx.AsyncClient, key: str) -> None:
    assert (await order(client, key)).status_code == 201
    assert (await order(client, key)).headers["Idempotent-Replayed"] == "true"


async def test_a_validation_failure_is_not_stored(client: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "k1"}
    assert (await client.post("/orders", json={"cups": "many"}, headers=headers)).status_code == 422
    assert (await order(client, "k1")).status_code == 201


async def test_a_refusal_of_the_handler_is_not_stored(client: httpx.AsyncClient) -> None:
    assert (await order(client, "k1", cups=11)).status_code == 409
    assert (await order(client, "k1", cups=1)).status_code == 201


async def test_without_a_token_nothing_is_replayed(client: httpx.AsyncClient) -> None:
    await order(client, "k1")
    assert (await order(client, "k1", token="nonsense")).status_code == 401


async def test_a_response_without_a_body(client: httpx.AsyncClient) -> None:
    for replayed in (None, "true"):
        response = await client.post("/ping", headers={"Idempotency-Key": "p1"})
        assert (response.status_code, response.content) == (204, b"")
        assert response.headers.get("Idempotent-Replayed") == replayed


async def test_a_key_is_free_again_after_24_hours(client: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    await order(client, "k1")
    fake_clock.advance(86_400)
    assert (await order(client, "k1", cups=3)).json()["number"] == 2


async def test_the_header_is_described(client: httpx.AsyncClient) -> None:
    description = (await client.get("/openapi.json")).json()
    names = [parameter["name"] for parameter in description["paths"]["/orders"]["post"]["parameters"]]
    assert names == ["idempotency-key"]


@pytest.fixture
async def empty_shop(session: AsyncSession) -> AsyncSession:
    await session.create_tables(SHOP.tables)
    return session


@pytest.mark.parametrize("command", [None, Command("ann", "k1", "payload")], ids=["without a key", "with a key"])
async def test_a_command_gives_the_result_and_whether_it_was_replayed(
    command: Command | None, empty_shop: AsyncSession
) -> None:
    once = Once(REQUESTS, empty_shop, command)
    first, again = [await empty_shop.run(once.command(next_order("ann", 2), created)) for _ in range(2)]
    assert (first.result, first.replayed) == (Order(user_id="ann", number=1, cups=2), False)
    if command is None:
        assert (again.result, again.replayed) == (Order(user_id="ann", number=2, cups=2), False)
    else:
        assert (again.result, again.replayed) == (None, True)
        assert response_of(again).body == response_of(first).body


@pytest.mark.parametrize("command", [None, Command("ann", "k1", "payload")], ids=["without a key", "with a key"])
async def test_a_command_that_comes_second_is_planned_again(command: Command | None, empty_shop: AsyncSession) -> None:
    numbers = iter([1, 2])

    def next_number() -> Plan[Order]:
        write = place(Order(user_id="ann", number=next(numbers), cups=2))
        return Plan(write.saved, write)

    await empty_shop.run(place(Order(user_id="ann", number=1, cups=9)))
    once = Once(REQUESTS, empty_shop, command)
    outcome = await empty_shop.run(
        retry_on_conflict(
            lambda: once.command(next_number(), created), when=lambda error: isinstance(error, AlreadyExists)
        )
    )
    assert (outcome.result, outcome.replayed) == (Order(user_id="ann", number=2, cups=2), False)
    assert response_of(outcome).headers["Location"] == "/orders/2"
