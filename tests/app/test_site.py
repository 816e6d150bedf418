"""What a service serves besides its API: its own routes, pages and shared assets, and apps next to it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter
from msgspec.structs import replace
from starlette.responses import PlainTextResponse
from tests.http.toy import TOY

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Identity, Resources

SITE = APIRouter()


@SITE.get("/greeting")
async def greeting(name: Resources[str]) -> str:
    return f"{name.title()} says hello"


async def test_routes_apps_and_pages_are_served_beside_the_api(
    session: AsyncSession, identity: Identity, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text("<h1>Toy</h1>", encoding="utf-8")
    app = build_app(
        [replace(TOY, site=lambda: SITE, pages=tmp_path)],
        AppState(session, identity, resources={"toy": "ann"}),
        apps={"/other": PlainTextResponse("Another app")},
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        responses = [await client.get(path) for path in ("/toy/greeting", "/toy/", "/toy/api/me", "/other/x")]
    assert [(response.status_code, response.text) for response in responses if response.status_code != 401] == [
        (200, '"Ann says hello"'),
        (200, "<h1>Toy</h1>"),
        (200, "Another app"),
    ]
    assert "default-src 'none'" in responses[1].headers["Content-Security-Policy"]
    assert responses[2].json()["code"] == "unauthenticated"


async def test_a_folder_is_led_to_without_naming_a_host(
    session: AsyncSession, identity: Identity, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text("<h1>Toy</h1>", encoding="utf-8")
    (tmp_path / "a:b").mkdir()
    (tmp_path / "a:b" / "index.html").write_text("<h1>Inner</h1>", encoding="utf-8")
    for toy in (replace(TOY, pages=tmp_path), replace(TOY, site=lambda: SITE, pages=tmp_path)):
        transport = httpx.ASGITransport(build_app([toy], AppState(session, identity)))
        async with httpx.AsyncClient(transport=transport, base_url="http://evil.example") as client:
            for path, location in FOLDERS.items():
                response = await client.get(path)
                assert (response.status_code, response.headers["Location"]) == (307, location)
                assert (await client.get(response.next_request.url if response.next_request else "")).status_code == 200


FOLDERS = {"/toy": "./toy/", "/toy?x=1": "./toy/?x=1", "/console": "./console/", "/toy/a:b": "./a%3Ab/"}


@pytest.mark.parametrize("path", ["/toy/api/me/", "/toy/api", "/healthz/", "//evil.example", "/console/api/live/"])
async def test_nothing_else_redirects(path: str, client: httpx.AsyncClient) -> None:
    response = await client.get(f"http://evil.example{path}")
    assert (response.status_code, "Location" in response.headers) == (404, False)


async def test_what_pages_share_is_served_with_them(client: httpx.AsyncClient) -> None:
    names = ("address.js", "api.js", "base.css", "dom.js", "signin.js")
    responses = [await client.get(f"/assets/{name}") for name in names]
    kinds = [(response.status_code, response.headers["Content-Type"].split(";")[0]) for response in responses]
    script, style = (200, "text/javascript"), (200, "text/css")
    assert kinds == [script, script, style, script, script]


async def test_a_service_without_an_api_is_only_in_the_console(session: AsyncSession, identity: Identity) -> None:
    app = build_app([replace(TOY, router=None)], AppState(session, identity))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        assert [(await client.get(f"/toy/api/{path}")).status_code for path in ("me", "openapi.json")] == [404, 404]
        (listed,) = (await client.get("/console/api/services")).json()
    assert (listed["name"], listed["api"], len(listed["patterns"])) == ("toy", None, len(TOY.patterns))


async def test_the_front_page_can_be_asked_for_without_its_body(session: AsyncSession, identity: Identity) -> None:
    app = build_app([TOY], AppState(session, identity))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        response = await client.head("/")
    assert (response.status_code, response.content) == (200, b"")
