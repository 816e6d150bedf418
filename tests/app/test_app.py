"""The app around the services: health, and nothing from outside."""

from __future__ import annotations

import httpx
import pytest

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Identity


@pytest.mark.req("X01")
async def test_health_is_the_stores_health(client: httpx.AsyncClient, session: AsyncSession) -> None:
    response = await client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    session.store.close()
    response = await client.get("/healthz")
    assert (response.status_code, response.json()["code"]) == (503, "store_closed")


async def test_health_names_what_cannot_go_on_in_the_background(session: AsyncSession, identity: Identity) -> None:
    troubles: dict[str, str] = {}
    app = build_app([], AppState(session, identity, troubles=troubles))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        troubles["lake of notes"] = "DeltaError"
        response = await client.get("/healthz")
    assert (response.status_code, response.json()) == (
        200,
        {"status": "degraded", "troubles": {"lake of notes": "DeltaError"}},
    )


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/toy/api/docs", "/toy/api/redoc"])
async def test_no_page_that_loads_scripts_from_outside_is_served(path: str, client: httpx.AsyncClient) -> None:
    assert (await client.get(path)).status_code == 404
