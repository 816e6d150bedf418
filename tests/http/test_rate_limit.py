"""Callers who send too many requests have to wait; other callers are unaffected, and the store gets few writes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, ClassVar, TypeAlias

import httpx
import pytest
from fastapi import APIRouter

from partita import AsyncSession, EmbeddedStore, Key, Registry, Table
from partita.app import build_app
from partita.errors import RateLimited
from partita.http import AppState, Caller, CurrentCaller, Identity, TokenCheck
from partita.http._rate_limit import CallerLimiter
from partita.recipes.rate_limit import Rate, RateBucket, RateLimits
from partita.service import Service
from partita.store import UpdateItem
from partita.testing import FakeClock, FaultyStore

TABLE = Table("shop", ttl="ttl", registry=Registry())
ROUTER = APIRouter()


class CallerBucket(RateBucket, table=TABLE):
    primary: ClassVar = Key("RATE#{caller}", "BUCKET")


@ROUTER.get("/me")
async def me(caller: CurrentCaller) -> str:
    """Who is calling."""
    return caller.user_id


@ROUTER.get("/watch")
async def watch(caller: CurrentCaller, is_valid: TokenCheck) -> int:
    """Check the token repeatedly, as a long response does."""
    return sum([await is_valid() for _ in range(100)])


@ROUTER.get("/ping")
async def ping() -> str:
    """A route without a caller."""
    return "pong"


LIMITS = RateLimits(CallerBucket, Rate(burst=40, per_second=2))
BLOCK = 4
SHOP = Service("shop", "Shop", "Things.", (TABLE,), lambda: ROUTER, rate_limit=LIMITS)
MOST = 40 + BLOCK - 1
"""The number of requests let through at one instant: the burst, and those that no block was taken for yet."""

Calling: TypeAlias = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def store(partita_store: EmbeddedStore) -> FaultyStore:
    return FaultyStore(partita_store)


@pytest.fixture
async def session(store: FaultyStore, fake_clock: FakeClock) -> AsyncSession:
    session = AsyncSession(store, clock=fake_clock, secret=b"fake", strict_budgets=True)
    await session.create_tables([TABLE])
    return session


@pytest.fixture
def calling(session: AsyncSession, identity: Identity) -> Calling:
    """A function that opens a client of its own server process, which serves the shop."""

    @asynccontextmanager
    async def calling(user_id: str = "ann", **state: Any) -> AsyncIterator[httpx.AsyncClient]:
        app = build_app([SHOP], AppState(session, identity, **state))
        headers = {"Authorization": f"Bearer {identity.token(Caller(user_id))}"}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://test/shop/api", headers=headers
        ) as client:
            yield client

    return calling


async def statuses(client: httpx.AsyncClient, count: int, path: str = "/me") -> Counter[int]:
    return Counter([(await client.get(path)).status_code for _ in range(count)])


def takes(session: AsyncSession) -> int:
    """Return how often tokens were taken from the bucket, or were refused."""
    return sum(usage.runs for usage in session.meter.usage() if usage.name == "CallerBucket.take")


@pytest.mark.req("X04")
async def test_who_sends_too_much_is_told_when_to_try_again(calling: Calling, fake_clock: FakeClock) -> None:
    async with calling() as client:
        assert await statuses(client, MOST) == {200: MOST}
        refused = await client.get("/me")
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "2")
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert refused.json() == {
            "type": "about:blank",
            "title": "Too Many Requests",
            "status": 429,
            "code": "rate_limited",
            "detail": "That is more than 40 at once, or 2 a second.",
            "hint": "Try again in 2 seconds.",
        }
        fake_clock.advance(2)
        assert await statuses(client, BLOCK + 1) == {200: BLOCK, 429: 1}


async def test_others_are_served_meanwhile(calling: Calling, identity: Identity) -> None:
    async with calling() as client:
        await statuses(client, MOST + 1)
        bob = {"Authorization": f"Bearer {identity.token(Caller('bob'))}"}
        assert (await client.get("/me", headers=bob)).status_code == 200
        assert await statuses(client, 3, "/ping") == {200: 3}


async def test_a_storm_of_refused_requests_costs_one_take(calling: Calling, session: AsyncSession) -> None:
    async with calling() as client:
        await statuses(client, MOST)
        assert takes(session) == 10
        assert await statuses(client, 50) == {429: 50}
        assert takes(session) == 11


async def test_who_sends_little_costs_no_write_at_all(calling: Calling, session: AsyncSession) -> None:
    async with calling() as client:
        await statuses(client, BLOCK - 1)
        assert takes(session) == 0
        await statuses(client, 1)
        assert takes(session) == 1


async def test_requests_at_the_same_time_are_counted_like_others(calling: Calling) -> None:
    async with calling() as client:
        responses = await asyncio.gather(*(client.get("/me") for _ in range(5 * MOST)))
        assert Counter(response.status_code for response in responses) == {200: MOST, 429: 4 * MOST}


async def test_processes_share_the_buckets(calling: Calling) -> None:
    async with calling() as one, calling() as other:
        seen = sum([await statuses(client, 1) for _ in range(60) for client in (one, other)], Counter[int]())
    assert seen[200] == 40 + 2 * (BLOCK - 1)


async def test_a_response_that_goes_on_is_one_request(calling: Calling) -> None:
    async with calling() as client:
        assert (await client.get("/watch")).json() == 100
        assert await statuses(client, MOST - 1) == {200: MOST - 1}


async def test_a_token_that_is_not_valid_counts_for_nobody(calling: Calling, session: AsyncSession) -> None:
    async with calling() as client:
        forged = {"Authorization": "Bearer ann"}
        for _ in range(MOST):
            assert (await client.get("/me", headers=forged)).status_code == 401
        assert takes(session) == 0
        assert await statuses(client, MOST) == {200: MOST}


async def test_an_operator_chooses_another_rate_or_none(calling: Calling) -> None:
    async with calling(rate_limit=Rate(burst=2, per_second=1)) as client:
        assert await statuses(client, 5) == {200: 2, 429: 3}
    async with calling(rate_limit="off") as client:
        assert await statuses(client, 2 * MOST) == {200: 2 * MOST}


async def test_a_request_that_could_not_be_paid_for_is_not_forgotten(
    calling: Calling, store: FaultyStore, session: AsyncSession
) -> None:
    store.unavailable(1, on=UpdateItem)
    async with calling() as client:
        assert await statuses(client, BLOCK) == {200: BLOCK - 1, 503: 1}
        assert await statuses(client, 1) == {200: 1}
    assert takes(session) == 2


async def test_a_process_remembers_so_many_callers_and_no_more(session: AsyncSession) -> None:
    limiter = CallerLimiter(LIMITS, session, max_callers=2)
    for caller in ("ann", "bob", "ann", "cem"):
        await limiter.admit(caller)
    assert list(limiter._counts) == ["ann", "cem"]


async def test_a_caller_who_was_forgotten_is_refused_by_the_bucket(session: AsyncSession) -> None:
    limiter = CallerLimiter(LIMITS, session, max_callers=1)
    admitted = 0
    for number in range(200):
        try:
            await limiter.admit("ann")
            admitted += 1
        except RateLimited:
            await limiter.admit(f"visitor {number}")  # so that the process forgets Ann's count
    assert admitted <= 40 + (200 - 40) * (BLOCK - 1) // BLOCK


async def test_the_description_has_the_refusal_where_there_is_a_caller(calling: Calling) -> None:
    async with calling(rate_limit="off") as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    refusal = paths["/me"]["get"]["responses"]["429"]
    assert refusal["headers"]["Retry-After"] == {"$ref": "#/components/headers/Retry-After"}
    assert refusal["content"]["application/problem+json"]["example"]["code"] == "rate_limited"
    assert "429" not in paths["/ping"]["get"]["responses"]


@pytest.mark.req("X21")
async def test_several_processes_of_a_server_exceed_a_limit_by_no_more_than_one(session: AsyncSession) -> None:
    processes = [CallerLimiter(LIMITS, session, processes=4) for _ in range(4)]
    admitted = 0
    for number in range(200):
        try:
            await processes[number % 4].admit("ann")
            admitted += 1
        except RateLimited:
            pass
    assert 40 <= admitted <= MOST
