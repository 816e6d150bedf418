"""The app around the services: health, landing page, OpenAPI."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import httpx
import pytest

from partita import AsyncSession
from partita.http import Identity, build_app


@pytest.mark.req("X01")
async def test_health_is_the_stores_health(client: httpx.AsyncClient, session: AsyncSession) -> None:
    response = await client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    session.store.close()
    response = await client.get("/healthz")
    assert (response.status_code, response.json()["code"]) == (503, "store_closed")


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "a" and named.get("href"):
            self.links.append(named["href"] or "")
        self.anchors.add(named.get("id") or "")
        self.loaded += [named[name] or "" for name in ("src", "srcset") if name in named]
        if tag in ("link", "script", "iframe", "object"):
            self.loaded.append(tag)


async def landing(client: httpx.AsyncClient) -> tuple[str, Links]:
    response = await client.get("/")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    links = Links()
    links.feed(response.text)
    return response.text, links


async def test_the_landing_page_shows_every_access_pattern(client: httpx.AsyncClient) -> None:
    text, _ = await landing(client)
    for shown in (
        "note_by_id",
        "user_id",
        "note_id",
        "0.5 RCU",
        "write_note",
        "1 WCU",
        "A note, if &lt;it&gt; exists.",
    ):
        assert shown in text
    assert "Made for &lt;tests&gt;." in text


async def test_its_links_lead_somewhere(client: httpx.AsyncClient) -> None:
    _, page = await landing(client)
    assert "/toy/api/openapi.json" in page.links
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.anchors
        else:
            assert (await client.get(link)).status_code == 200


async def test_it_loads_nothing_from_outside(client: httpx.AsyncClient) -> None:
    text, page = await landing(client)
    assert page.loaded == []
    assert re.findall(r"url\(|@import|https?://", text) == []
    assert "default-src 'none'" in (await client.get("/")).headers["Content-Security-Policy"]


async def test_without_services_it_says_what_to_do(session: AsyncSession, identity: Identity) -> None:
    transport = httpx.ASGITransport(build_app([], session, identity))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        assert "partita serve" in (await client.get("/")).text


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/toy/api/docs", "/toy/api/redoc"])
async def test_no_page_that_loads_scripts_from_outside_is_served(path: str, client: httpx.AsyncClient) -> None:
    assert (await client.get(path)).status_code == 404
