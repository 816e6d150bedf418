"""Private responses are not cached, browsers do not guess content types, and HTTPS is enforced by HSTS."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter, Response
from msgspec.structs import replace
from tests.http.toy import RAISED, TOY

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Identity

pytestmark = pytest.mark.req("X04")

ROUTER = APIRouter()
SITE = APIRouter()
HSTS = "Strict-Transport-Security"


@ROUTER.get("/versioned")
async def versioned() -> Response:
    """A response with a version."""
    return Response("v1", headers={"ETag": '"1"', "Vary": "Accept"})


@ROUTER.get("/unchanged")
async def unchanged() -> Response:
    """A response to a caller who has the current version already."""
    return Response(status_code=304, headers={"ETag": '"1"'})


@ROUTER.get("/public")
async def public() -> Response:
    """A response that every cache may store."""
    return Response("same for all", headers={"Cache-Control": "public, max-age=60", "ETag": '"1"'})


@ROUTER.get("/fault")
async def fault() -> None:
    """Fail."""
    raise RAISED["safe-fault"]


@SITE.get("/login")
async def login() -> str:
    """A route outside the API."""
    return "hello"


@pytest.fixture
async def browser(session: AsyncSession, identity: Identity, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    (tmp_path / "index.html").write_text("<h1>Toy</h1>", encoding="utf-8")
    toy = replace(TOY, router=lambda: ROUTER, site=lambda: SITE, pages=tmp_path)
    transport = httpx.ASGITransport(build_app([toy], AppState(session, identity)), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/toy/login", "no-store"),
        ("/toy/api/nowhere", "no-store"),
        ("/toy/api/openapi.json", "no-store"),
        ("/toy/api/fault", "no-store"),
        ("/console/api/services", "no-store"),
        ("/console/api/live", "no-store"),
        ("/metrics", "no-store"),
        ("/healthz", "no-store"),
        ("/nowhere", "no-store"),
        (f"/{'x' * 9_000}", "no-store"),
        ("/toy/api/versioned", "private, no-cache"),
        ("/toy/api/unchanged", "private, no-cache"),
        ("/toy/api/public", "public, max-age=60"),
        ("/toy/", "no-cache"),
        ("/", "no-cache"),
        ("/assets/base.css", "no-cache"),
    ],
    ids=lambda value: value[:30],
)
async def test_what_may_be_stored(path: str, expected: str, browser: httpx.AsyncClient) -> None:
    RAISED["safe-fault"] = ZeroDivisionError("secret")
    response = await browser.get(path)
    assert (response.headers["Cache-Control"], response.headers["X-Content-Type-Options"]) == (expected, "nosniff")


async def test_a_fault_outside_of_every_service_is_not_stored(
    browser: httpx.AsyncClient, session: AsyncSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(session.meter, "usage", fail)
    response = await browser.get("/metrics")
    assert response.status_code == 500
    assert "X-Request-Id" in response.headers
    assert (response.headers["Cache-Control"], response.headers["X-Content-Type-Options"]) == ("no-store", "nosniff")


async def test_two_users_do_not_share_a_version(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/toy/api/versioned")).headers["Vary"] == "Accept, Authorization, Cookie"
    assert "Vary" not in (await browser.get("/toy/api/public")).headers


async def test_https_stays_https(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("https://test/")).headers[HSTS] == "max-age=31536000"
    assert HSTS not in (await browser.get("/")).headers
