"""The app around the services: health, and nothing from outside."""

from __future__ import annotations

import httpx
import pytest

from partita import AsyncSession


@pytest.mark.req("X01")
async def test_health_is_the_stores_health(client: httpx.AsyncClient, session: AsyncSession) -> None:
    response = await client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    session.store.close()
    response = await client.get("/healthz")
    assert (response.status_code, response.json()["code"]) == (503, "store_closed")


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/toy/api/docs", "/toy/api/redoc"])
async def test_no_page_that_loads_scripts_from_outside_is_served(path: str, client: httpx.AsyncClient) -> None:
    assert (await client.get(path)).status_code == 404
