"""An app accepts requests for its own host names only, so that another site cannot read it by DNS rebinding."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from tests.http.toy import TOY

from partita import AsyncSession
from partita.app import build_app, guarded
from partita.http import AppState, Identity
from partita.runtime import AllowedHosts

pytestmark = pytest.mark.req("X04")

SHOP = AllowedHosts(frozenset({"shop.example"}))
PATHS = ["/", "/healthz", "/metrics", "/toy/api/me", "/console/api/services", "/assets/base.css", "/nowhere"]


@pytest.fixture
async def shop(session: AsyncSession, identity: Identity) -> AsyncIterator[httpx.AsyncClient]:
    app = build_app([TOY], AppState(session, identity), allowed_hosts=SHOP)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop.example") as client:
        yield client


@pytest.mark.parametrize("path", PATHS)
async def test_another_name_is_refused_everywhere(path: str, shop: httpx.AsyncClient) -> None:
    response = await shop.get(path, headers={"Host": "evil.example"})
    problem = response.json()
    assert (response.status_code, problem["code"]) == (421, "host_not_allowed")
    assert "--allowed-host" in problem["hint"]
    assert "evil" not in response.text


@pytest.mark.parametrize("host", ["shop.example", "shop.example:443", "localhost:8321", "127.0.0.1", "[::1]:8321"])
async def test_its_own_names_are_answered(host: str, shop: httpx.AsyncClient) -> None:
    assert (await shop.get("/console/api/services", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "headers", [[], [("Host", "shop.example"), ("Host", "evil.example")], [("Host", ""), ("Host", "shop.example")]]
)
async def test_a_request_has_one_host(headers: list[tuple[str, str]], shop: httpx.AsyncClient) -> None:
    request = httpx.Request("GET", "http://shop.example/healthz")
    request.headers = httpx.Headers(headers)
    assert (await shop.send(request)).status_code == 421


async def test_tests_may_use_any_name(client: httpx.AsyncClient) -> None:
    assert (await client.get("/console/api/services", headers={"Host": "any.example"})).status_code == 200


async def test_the_address_that_a_request_came_to_is_allowed() -> None:
    async def at_address(scope: Scope, receive: Receive, send: Send) -> None:
        await guarded(PlainTextResponse("here"), AllowedHosts())(
            {**scope, "server": ("192.168.0.7", 8321)}, receive, send
        )

    async with httpx.AsyncClient(transport=httpx.ASGITransport(at_address)) as client:
        found = [(await client.get(f"http://{host}/")).status_code for host in ("192.168.0.7:8321", "192.168.0.8")]
    assert found == [200, 421]


async def test_another_app_gets_the_same_limits() -> None:
    app = guarded(PlainTextResponse("here"), AllowedHosts())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        served = await client.get("/")
        refused = await client.get("/", params=dict.fromkeys(map(str, range(101)), ""))
    assert (served.text, served.headers["X-Content-Type-Options"]) == ("here", "nosniff")
    assert refused.json()["code"] == "too_many_parameters"
