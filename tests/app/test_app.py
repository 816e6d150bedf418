"""The app around the services: health and metrics, and no page that loads anything from other hosts."""

from __future__ import annotations

import httpx
import pytest

from partita import AsyncSession, Consumption, Usage
from partita.app import build_app
from partita.app._metrics import BUCKETS
from partita.errors import StoreFull
from partita.http import AppState, Identity, Siblings
from partita.reports import EndpointFigures, ServerFigures


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


async def test_health_names_refused_writes_while_reads_work(
    client: httpx.AsyncClient, session: AsyncSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session.store, "why_unwritable", lambda: StoreFull("No space is left."))
    response = await client.get("/healthz")
    assert (response.status_code, response.json()) == (
        200,
        {"status": "degraded", "troubles": {"writes": "store_full"}},
    )


class Other(Siblings):
    """Another process of the same server."""

    async def figures(self) -> ServerFigures:
        counted = EndpointFigures("GET", "/healthz", 200, (2, *[0] * len(BUCKETS)), 0.001)
        return ServerFigures((Usage("all_notes", "notes", runs=3),), (counted,), {"/notes": 1})

    async def troubles(self) -> dict[str, str]:
        return {"projection of notes": "store_full"}


@pytest.mark.req("X21")
async def test_what_other_processes_count_and_suffer_is_shown(session: AsyncSession, identity: Identity) -> None:
    app = build_app([], AppState(session, identity, siblings=Other(), troubles={"lake": "DeltaError"}))
    session.meter.record(Consumption("all_notes", (), 0.5, 0, service="notes"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        health = (await client.get("/healthz")).json()
        text = (await client.get("/metrics")).text
        shown = await client.get("/console/api/live", headers={"Authorization": ""})
    assert health["troubles"] == {"lake": "DeltaError", "projection of notes": "store_full"}
    assert 'partita_http_request_duration_seconds_count{method="GET",route="/healthz",status="200"} 3.0' in text
    assert 'partita_operations_total{pattern="all_notes",process="server",service="notes"} 4.0' in text
    assert 'partita_idempotent_replays_total{route="/notes"} 1.0' in text
    assert shown.json()["usage"]["notes"]["all_notes"]["runs"] == 4


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/toy/api/docs", "/toy/api/redoc"])
async def test_no_page_that_loads_scripts_from_outside_is_served(path: str, client: httpx.AsyncClient) -> None:
    assert (await client.get(path)).status_code == 404
