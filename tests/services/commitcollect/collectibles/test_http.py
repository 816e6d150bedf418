"""The routes of models: everybody may read them, and operators may change them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.services.commitcollect.collectibles.test_loading import kite
from tests.services.commitcollect.world import World

from partita import delete
from partita.http import Caller, Identity, Role
from partita_services.commitcollect.audit import events_of_user
from partita_services.commitcollect.collectibles.model import catalogue

pytestmark = pytest.mark.req("C13")

DRAFT = {"title": "t", "metric": "count", "target": 1, "starts_on": "2026-01-01", "ends_on": "2026-01-02"}


def content(**changes: Any) -> dict[str, Any]:
    return {**kite(**changes).model_dump(mode="json", exclude={"model_id"})}


@pytest.fixture
def operator(identity: Identity) -> dict[str, str]:
    """The authorization header of an operator."""
    return {"Authorization": f"Bearer {identity.token(Caller('boss', Role.OPERATOR))}"}


async def test_an_operator_loads_a_model_and_everybody_sees_it(
    browser: httpx.AsyncClient, operator: dict[str, str], connected: World
) -> None:
    loaded = [await browser.put("/api/models/kite", json=content(), headers=operator) for _ in range(2)]
    assert [(each.status_code, each.json()) for each in loaded] == [
        (200, {"outcome": "added"}),
        (200, {"outcome": "unchanged"}),
    ]
    browser.cookies.clear()
    models = (await browser.get("/api/models")).json()["items"]
    assert models[0] == {
        "model_id": "kite",
        "name": "Kite",
        "story": "It pulls.",
        "parts": [
            {"part_index": 1, "name": "Part 0", "svg": "part-1"},
            {"part_index": 2, "name": "Part 1", "svg": "part-2"},
        ],
        "retired_at": None,
    }
    trail = connected.db.run(events_of_user("boss"))
    assert sorted((entry.event_type, entry.details["outcome"]) for entry in trail) == [
        ("model_loaded", "added"),
        ("model_loaded", "unchanged"),
    ]


async def test_its_picture_is_svg_that_may_do_nothing(browser: httpx.AsyncClient, operator: dict[str, str]) -> None:
    await browser.put("/api/models/kite", json=content(), headers=operator)
    picture = await browser.get("/api/models/kite/picture")
    assert (picture.text, picture.headers["Content-Type"]) == (kite().picture, "image/svg+xml")
    assert picture.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    again = await browser.get("/api/models/kite/picture", headers={"If-None-Match": picture.headers["ETag"]})
    assert (again.status_code, again.text) == (304, "")
    await browser.put("/api/models/kite", json=content(parts=2, picture=kite(3).picture), headers=operator)
    other = await browser.get("/api/models/kite/picture", headers={"If-None-Match": picture.headers["ETag"]})
    assert (other.status_code, other.text) == (200, kite(3).picture)
    assert (await browser.get("/api/models/boat/picture")).status_code == 404


async def test_a_retired_model_says_so_and_begins_no_milestone(
    browser: httpx.AsyncClient, operator: dict[str, str]
) -> None:
    await browser.put("/api/models/kite", json=content(), headers=operator)
    retired = await browser.post("/api/models/kite/retire", headers=operator)
    assert (retired.status_code, retired.json()["model_id"]) == (200, "kite")
    models = (await browser.get("/api/models")).json()["items"]
    assert [model["retired_at"] is None for model in models] == [False, True, True, True]
    refused = await browser.post("/api/milestones", json={**DRAFT, "model_id": "kite"})
    (problem,) = refused.json()["errors"]
    assert (refused.status_code, problem["field"], problem["message"]) == (
        422,
        "model_id",
        "The model kite is retired.",
    )
    assert (await browser.post("/api/models/boat/retire", headers=operator)).status_code == 404


@pytest.mark.parametrize("model_id", ["boat", "lighthouses"])
async def test_a_model_that_there_is_not_begins_no_milestone(browser: httpx.AsyncClient, model_id: str) -> None:
    refused = await browser.post("/api/milestones", json={**DRAFT, "model_id": model_id})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "model_id")


async def test_what_is_no_model_is_refused(browser: httpx.AsyncClient, operator: dict[str, str]) -> None:
    await browser.put("/api/models/kite", json=content(), headers=operator)
    other = await browser.put("/api/models/kite", json=content(parts=3), headers=operator)
    assert (other.status_code, other.json()["code"]) == (409, "parts_changed")
    mistakes: list[dict[str, Any]] = [{"picture": "<svg/>"}, {"parts": []}, {"model_id": "kite"}]
    for wrong in mistakes:
        refused = await browser.put("/api/models/kite", json={**content(), **wrong}, headers=operator)
        assert refused.status_code == 422, wrong
    assert (await browser.put("/api/models/A", json=content(), headers=operator)).status_code == 422


async def test_only_operators_change_models(browser: httpx.AsyncClient, identity: Identity) -> None:
    user = {"Authorization": f"Bearer {identity.token(Caller('ann'))}"}
    for headers, status in (({}, 401), (user, 403)):
        assert (await browser.put("/api/models/kite", json=content(), headers=headers)).status_code == status
        assert (await browser.post("/api/models/lighthouse/retire", headers=headers)).status_code == status
    cross = {**user, "Sec-Fetch-Site": "cross-site"}
    assert (await browser.post("/api/models/lighthouse/retire", headers=cross)).json()["code"] == "cross_site"


async def test_without_models_the_list_is_empty(browser: httpx.AsyncClient, connected: World) -> None:
    for entry in connected.db.run(catalogue()):
        connected.db.run(delete(entry))
    response = await browser.get("/api/models")
    assert (response.status_code, response.json()) == (200, {"items": []})
