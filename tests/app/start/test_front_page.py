"""The front page: it lists what is served and where, without JavaScript, and for any services."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter
from msgspec.structs import replace
from tests.http.toy import TOY

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Identity
from partita.service import Service

pytestmark = pytest.mark.req("X18")


def client_of(services: list[Service], session: AsyncSession, identity: Identity) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(build_app(services, AppState(session, identity)))
    return httpx.AsyncClient(transport=transport, base_url="http://test")


async def test_it_names_what_services_declare(session: AsyncSession, identity: Identity, tmp_path: Path) -> None:
    own = replace(TOY, title="<b>Own & more</b>", summary="Says `hello` to <everybody>.", pages=tmp_path)
    async with client_of([own], session, identity) as client:
        page = (await client.get("/")).text
    assert "<h1>One service is running</h1>" in page
    assert "&lt;b&gt;Own &amp; more&lt;/b&gt;" in page
    assert "Says <code>hello</code> to &lt;everybody&gt;." in page
    for address in ("/toy/", "/api-docs/toy", "/console/#/toy", "/console/", "/api-docs/", "/metrics", "/healthz"):
        assert f'href="{address}"' in page
    assert "<b>" not in page


async def test_it_leads_only_to_what_there_is(session: AsyncSession, identity: Identity) -> None:
    async with client_of([replace(TOY, router=None)], session, identity) as client:
        bare, apis = (await client.get("/")).text, (await client.get("/api-docs/")).text
    assert ('href="/toy/"' in bare, "/api-docs/toy" in bare, "/console/#/toy" in bare) == (False, False, True)
    assert "No service of this server has an API." in apis
    async with client_of([], session, identity) as client:
        assert "No service is served." in (await client.get("/")).text


async def test_a_browser_may_load_nothing_from_elsewhere(client: httpx.AsyncClient) -> None:
    for path in ("/", "/api-docs/", "/api-docs/toy", "/nothing"):
        response = await client.get(path, headers={"Accept": "text/html"})
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in response.headers["Content-Security-Policy"]
        assert "http" not in response.text.replace("http://test", "").replace("httpx", "")
        assert ("style=" in response.text, "<style" in response.text) == (False, False)


@pytest.mark.parametrize(
    "path",
    ["/", "/console/", "/signin/", "/api-docs/", "/api-docs/toy", "/favicon.ico", "/site.json", "/healthz", "/metrics"],
)
async def test_every_page_can_be_asked_for_without_its_body(path: str, client: httpx.AsyncClient) -> None:
    head, whole = await client.head(path), await client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == whole.headers["Content-Type"]
    assert len(whole.content) > 10


async def test_the_icon_that_browsers_ask_for_is_one(client: httpx.AsyncClient) -> None:
    response = await client.get("/favicon.ico")
    assert (response.headers["Content-Type"], response.content[:4]) == ("image/x-icon", b"\0\0\1\0")


async def test_who_is_signed_in_is_told_by_the_token(client: httpx.AsyncClient) -> None:
    assert (await client.get("/signin/api/me")).json() == {"user_id": "ann", "role": "user"}
    refused = await client.get("/signin/api/me", headers={"Authorization": "Bearer rubbish"})
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("path", ["/nothing", "/toi/", "/toy/nothing", "/api-docs/nothing", "/console/nothing.html"])
async def test_people_get_a_page_where_nothing_is(
    path: str, session: AsyncSession, identity: Identity, tmp_path: Path
) -> None:
    for toy in (replace(TOY, pages=tmp_path), replace(TOY, pages=tmp_path, site=APIRouter)):
        async with client_of([toy], session, identity) as client:
            page = await client.get(path, headers={"Accept": BROWSER})
            problem = await client.get(path)
        assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
        assert f"<code>{path}</code>" in page.text
        assert page.headers["Vary"] == "Accept"
        assert (problem.status_code, problem.json()["code"]) == (404, "not_found")


async def test_the_page_suggests_what_was_meant_and_repeats_nothing_as_markup(client: httpx.AsyncClient) -> None:
    page = (await client.get("/toi/<script>alert(1)</script>", headers={"Accept": BROWSER})).text
    assert 'Did you mean <a href="/api-docs/toy">Toy</a>?' in page
    assert "<script>alert" not in page
    long = (await client.get("/" + "x" * 500, headers={"Accept": BROWSER})).text
    assert ("x" * 79 + "…" in long, "x" * 80 in long, "Did you mean" in long) == (True, False, False)


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "json"),
        ("*/*", "json"),
        ("", "json"),
        ("text/html;q=0", "json"),
        ("text/html;q=0.5, application/json", "json"),
        ("text/html;q=much", "json"),
        ("application/json;q=0.5, TEXT/HTML", "html"),
    ],
)
async def test_what_is_preferred_is_given(accept: str, kind: str, client: httpx.AsyncClient) -> None:
    response = await client.get("/nothing", headers={"Accept": accept})
    assert kind in response.headers["Content-Type"]


async def test_an_api_gives_problems_alone(client: httpx.AsyncClient) -> None:
    for path in ("/toy/api/nothing", "/signin/api/nothing", "/console/api/nothing"):
        response = await client.get(path, headers={"Accept": BROWSER})
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
