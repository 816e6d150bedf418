"""HEAD responds as GET does, without a body."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from tests.services.routes import routes_of

from partita import AsyncSession, EmbeddedStore, Session
from partita.app import build_app
from partita.app._head import respond_to_head
from partita.http import AppState, Caller, Identity
from partita.service import Service
from partita.testing import FakeClock
from partita_services.countries.bootstrap import SERVICE as COUNTRIES
from partita_services.countries.http import ROUTER

pytestmark = pytest.mark.req("X23")

IDENTITY = Identity(b"k" * 32)
HEADERS = {"Authorization": f"Bearer {IDENTITY.token(Caller('ann'))}", "X-Request-Id": "r"}
READS = [route.removeprefix("GET ") for route in routes_of(ROUTER) if route.startswith("GET ")]
QUERIES = {"/search": {"q": "Chile"}, "/countries/{code}/diff": {"from": "2026-01-01", "to": "2026-01-02"}}


async def both(app: Any, path: str, **more: Any) -> tuple[httpx.Response, httpx.Response]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", headers=HEADERS) as client:
        return await client.get(path, **more), await client.head(path, **more)


@pytest.mark.parametrize("path", READS)
async def test_every_read_responds_to_head(path: str, fake_clock: FakeClock) -> None:
    with EmbeddedStore(":memory:", clock=fake_clock) as store:
        session = Session(store, clock=fake_clock)
        session.create_tables(COUNTRIES.tables)
        for step in list(COUNTRIES.seed(fake_clock()) if COUNTRIES.seed else ())[:3]:
            session.run(step)
        app = build_app([COUNTRIES], AppState(AsyncSession(store, clock=fake_clock), IDENTITY))
        at = path.format(code="AF", before=1, after=1)
        got, head = await both(app, f"/countries/api{at}", params=QUERIES.get(path))
        assert (head.status_code, head.headers, head.content) == (got.status_code, got.headers, b"")


@pytest.mark.parametrize(
    "path", ["/healthz", "/", "/nowhere", "/toy/api/size", "/toy/api/nowhere", "/console/api/services"]
)
async def test_what_is_no_read_of_a_service_responds_to_head_as_to_get(path: str, client: httpx.AsyncClient) -> None:
    given = {"X-Request-Id": "r"}
    got, head = await client.get(path, headers=given), await client.head(path, headers=given)
    assert (head.status_code, head.headers, head.content) == (got.status_code, got.headers, b"")


async def test_a_request_with_head_is_counted_with_its_route(client: httpx.AsyncClient) -> None:
    await client.head("/toy/api/size")
    assert 'route="/toy/api/size"' in (await client.get("/metrics")).text


async def test_a_stream_ends_after_its_headers() -> None:
    async def endless() -> AsyncIterator[str]:
        while True:
            yield "data: 1\n\n"
            await asyncio.sleep(0)

    router = APIRouter()

    @router.get("/stream")
    async def stream() -> StreamingResponse:
        return StreamingResponse(endless(), media_type="text/event-stream")

    with EmbeddedStore(":memory:") as store:
        app = build_app([Service("toy", "Toy", "A toy.", (), lambda: router)], AppState(AsyncSession(store), IDENTITY))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            head = await client.head("/toy/api/stream")
    assert (head.status_code, head.headers["Content-Type"].partition(";")[0]) == (200, "text/event-stream")
    assert head.content == b""


async def test_outer_layers_see_the_route() -> None:
    async def app(scope: Any, receive: Any, send: Callable[[Any], Any]) -> None:
        scope["route"] = scope["method"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    scope, sent = {"type": "http", "method": "HEAD"}, list[Any]()

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    await respond_to_head(app, scope, receive, send)
    assert (scope["method"], scope["route"]) == ("HEAD", "GET")
    assert sent[1:] == [{"type": "http.response.body", "body": b""}]
