"""CommitCollect's API and site over HTTP, as a browser and Strava use them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from tests.services.commitcollect.strava_model import ATHLETE, SUBSCRIPTION
from tests.services.commitcollect.world import SETTINGS, TRACE, WEBHOOK, World, event
from tests.services.fields import check_fields
from tests.services.routes import routes_of

from partita import AsyncSession, insert
from partita.app import build_app
from partita.errors import StoreUnavailable
from partita.http import AppState, Identity
from partita.queue import Send
from partita.queue._interface import MAX_BODY_BYTES
from partita.reports import TABLE as REPORTS_TABLE
from partita.reports import ProcessFigures, Reporter, ReportReader
from partita.store import PutItem, QueryTable, ScanTable, TransactWriteItems
from partita.testing import FaultyStore
from partita_services.commitcollect.audit import AUDIT, AUDIT_TABLE, LoggedOut
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.http import ROUTER
from partita_services.commitcollect.jobs.ingest import process_event
from partita_services.commitcollect.model import MAX_ACTIVE, Milestone, milestones_of

ROUTES = routes_of(ROUTER)
FOR_EVERYBODY = ("GET /models", "GET /models/{model_id}/picture")
FOR_OPERATORS = ("PUT /models/{model_id}", "POST /models/{model_id}/retire")
LAST = ("DELETE /me/connection", "DELETE /me")
"""The routes to call last, because they delete what the others need."""
ENDLESS = "GET /stream"
"""A route that does not end, and has its own tests."""

DRAFT: dict[str, Any] = {
    "title": "Run 10 km",
    "model_id": "lighthouse",
    "metric": "distance",
    "target": 10_000,
    "starts_on": "2025-12-25",
    "ends_on": "2026-01-05",
}


async def create(browser: httpx.AsyncClient, **changes: Any) -> dict[str, Any]:
    response = await browser.post("/api/milestones", json={**DRAFT, **changes})
    assert response.status_code == 201, response.text
    created: dict[str, Any] = response.json()
    return created


def strava_says(number: int, aspect: str, world: World, **more: Any) -> dict[str, Any]:
    fields = {
        "object_type": "activity",
        "object_id": number,
        "aspect_type": aspect,
        "owner_id": ATHLETE,
        "subscription_id": SUBSCRIPTION,
        "event_time": int(world.clock()),
        "updates": {},
    }
    return {**fields, **more}


# --- the user ---


@pytest.mark.req("C20", "X03")
async def test_without_a_session_there_is_nothing_but_models(stranger: httpx.AsyncClient) -> None:
    refused = []
    for route in ROUTES:
        method, path = route.split()
        response = await stranger.request(method, f"/api{path.format(milestone_id='m1', model_id='lighthouse')}")
        refused += [route] if response.status_code == 401 and response.json()["code"] == "unauthenticated" else []
    assert refused == [route for route in ROUTES if route not in FOR_EVERYBODY]


@pytest.mark.req("C01", "C07")
async def test_the_user_sees_how_it_stands_with_strava(browser: httpx.AsyncClient, connected: World) -> None:
    response = await browser.get("/api/me")
    assert response.json() == {
        "user_id": connected.user_id,
        "name": "Alex Runner",
        "created_at": "2026-01-01T12:00:00Z",
        "strava_url": SETTINGS.strava_url,
        "connection": {
            "athlete_id": str(ATHLETE),
            "athlete_name": "Alex Runner",
            "state": "connected",
            "scopes": ["activity:read", "read"],
            "connected_at": "2026-01-01T12:00:00Z",
            "backfill": {
                "state": "done",
                "since": "2025-12-02",
                "pages": 1,
                "found": 0,
                "stored": 0,
                "started_at": "2026-01-01T12:00:00Z",
                "updated_at": "2026-01-01T12:00:00Z",
                "waiting_until": None,
            },
        },
    }


@pytest.mark.req("C20")
async def test_logging_out_ends_the_session(browser: httpx.AsyncClient) -> None:
    kept = dict(browser.cookies)
    response = await browser.post("/auth/logout")
    assert (response.status_code, "Max-Age=0" in response.headers["Set-Cookie"]) == (204, True)
    browser.cookies.update(kept)
    assert (await browser.get("/api/me")).status_code == 401


@pytest.mark.req("C23", "C20")
async def test_a_deleted_account_is_gone_from_everywhere(browser: httpx.AsyncClient, connected: World) -> None:
    await create(browser)
    kept = dict(browser.cookies)
    response = await browser.delete("/api/me")
    assert (response.status_code, response.json()) == (202, {"status": "deleting"})
    browser.cookies.update(kept)
    assert (await browser.get("/api/me")).status_code == 401
    connected.work()
    before = connected.user_id
    connected.log_in()
    assert connected.user_id != before
    assert connected.strava.tokens.keys() == {ATHLETE}


@pytest.mark.req("C07")
async def test_a_resync_is_for_who_is_connected(browser: httpx.AsyncClient, connected: World) -> None:
    connected.strava.train(1)
    response = await browser.post("/api/sync")
    assert (response.status_code, response.json()["state"]) == (202, "running")
    connected.work()
    assert (await browser.get("/api/me")).json()["connection"]["backfill"]["found"] == 1
    connected.strava.revoke()
    connected.strava.train(2)
    await browser.post(WEBHOOK, json=strava_says(2, "create", connected))
    connected.work()
    assert (await browser.get("/api/me")).json()["connection"]["state"] == "reconnect"
    refused = await browser.post("/api/sync")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_connected")


@pytest.mark.req("C01")
async def test_who_calls_this_machine_by_another_name_logs_in_under_the_one_that_strava_knows(
    connected: World, store: FaultyStore, identity: Identity
) -> None:
    settings = replace(SETTINGS, public_url="http://127.0.0.1:8321", is_loopback=True)
    tools = replace(connected.tools, application=replace(connected.app, settings=settings))
    app = build_app([SERVICE], AppState(AsyncSession(store), identity, {SERVICE.name: tools}))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
        other = await client.get("http://localhost:8321/commitcollect/auth/login")
        known = await client.get("http://127.0.0.1:8321/commitcollect/auth/login")
    assert (other.headers["Location"], "Set-Cookie" in other.headers) == (
        "http://127.0.0.1:8321/commitcollect/auth/login",
        False,
    )
    assert known.headers["Location"].startswith("https://strava.test/oauth/authorize?")


# --- milestones ---


@pytest.mark.req("C10", "C11")
async def test_a_milestone_shows_its_progress_and_what_does_not_count(
    browser: httpx.AsyncClient, connected: World
) -> None:
    fields: list[dict[str, Any]] = [{"distance": 2_500.4}, {"manual": True}, {"flagged": True}, {"sport_type": "Ride"}]
    for number, changes in enumerate(fields):
        connected.strava.train(number, **changes)
        await browser.post(WEBHOOK, json=strava_says(number, "create", connected))
    connected.work()
    created = await create(browser, sport_types=["TrailRun", "Run"])
    shown = (await browser.get(f"/api/milestones/{created['milestone_id']}")).json()
    assert shown["progress"] == {
        "value": 2500.4,
        "fraction": 0.25004,
        "counted": 1,
        "inspected": 4,
        "truncated": False,
        "not_counted": {"manual": 1, "flagged": 1, "other_sport": 1},
    }
    assert (shown["parts_total"], shown["parts_earned"], shown["status"]) == (10, 2, "ACTIVE")
    listed = await browser.get("/api/milestones")
    assert listed.json() == {"items": [shown], "next_cursor": None}
    again = await browser.get("/api/milestones", headers={"If-None-Match": listed.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.req("C10")
@pytest.mark.parametrize("version", [True, "1", 1.5, None])
async def test_a_version_is_a_whole_number(browser: httpx.AsyncClient, version: Any) -> None:
    path = f"/api/milestones/{(await create(browser))['milestone_id']}"
    refused = await browser.patch(path, json={"version": version, "title": "Mine"})
    assert (refused.status_code, [each["field"] for each in refused.json()["errors"]]) == (422, ["version"])
    assert (await browser.get(path)).json()["title"] != "Mine"


@pytest.mark.req("C10")
async def test_a_stale_edit_is_refused_with_the_current_version(browser: httpx.AsyncClient) -> None:
    created = await create(browser)
    path = f"/api/milestones/{created['milestone_id']}"
    edited = await browser.patch(path, json={"version": 1, "title": "Run 12 km", "target": 12_000})
    assert (edited.status_code, edited.json()["version"], edited.json()["title"]) == (200, 2, "Run 12 km")
    stale = await browser.patch(path, json={"version": 1, "title": "Mine"})
    assert (stale.status_code, stale.json()["code"], stale.json()["current_version"]) == (409, "version_conflict", 2)


@pytest.mark.req("C10")
async def test_a_milestone_only_moves_forwards(browser: httpx.AsyncClient, connected: World) -> None:
    cancelled, over = await create(browser), await create(browser, ends_on="2026-01-01")
    unread = await create(browser, ends_on="2026-01-01")
    path = f"/api/milestones/{cancelled['milestone_id']}"
    assert (await browser.patch(path, json={"version": 1, "status": "CANCELLED"})).json()["status"] == "CANCELLED"
    late = await browser.patch(path, json={"version": 2, "title": "Again"})
    assert (late.status_code, late.json()["code"]) == (409, "illegal_transition")
    assert (await browser.patch(path, json={"version": 2, "status": "ACTIVE"})).status_code == 422
    connected.clock.advance(5 * 86_400)
    browser.cookies.set("__Host-commitcollect", connected.log_in(), domain="collect.test", path="/")
    path = f"/api/milestones/{over['milestone_id']}"
    assert (await browser.get(path)).json()["status"] == "EXPIRED"
    late = await browser.patch(path, json={"version": 2, "ends_on": "2026-02-01"})
    assert (late.status_code, late.json()["code"]) == (409, "illegal_transition")
    late = await browser.patch(
        f"/api/milestones/{unread['milestone_id']}", json={"version": 1, "ends_on": "2026-02-01"}
    )
    assert (late.status_code, late.json()["code"]) == (409, "illegal_transition")  # still stored as active


@pytest.mark.req("C10", "C12")
async def test_an_easier_target_is_awarded_at_once(browser: httpx.AsyncClient, connected: World) -> None:
    connected.strava.train(1)
    await browser.post(WEBHOOK, json=strava_says(1, "create", connected))
    connected.work()
    created = await create(browser)
    path = f"/api/milestones/{created['milestone_id']}"
    version = (await browser.get(path)).json()["version"]
    done = (await browser.patch(path, json={"version": version, "target": 1_000})).json()
    assert (done["status"], done["parts_earned"]) == ("COMPLETED", 10)
    awards = (await browser.get("/api/awards", params={"milestone_id": created["milestone_id"]})).json()["items"]
    assert [award["part_index"] for award in awards] == list(range(1, 11))
    assert awards[0] == {
        "milestone_id": created["milestone_id"],
        "model_id": "lighthouse",
        "part_index": 1,
        "part_name": "Rocks",
        "part_svg": "part-1",
        "awarded_at": "2026-01-01T12:00:00Z",
    }


@pytest.mark.req("C10", "C12")
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"target": 10_000}, ("ACTIVE", 1)),
        ({"target": 1_000}, ("COMPLETED", 10)),
        ({"target": 10_000, "starts_on": "2025-11-01", "ends_on": "2025-12-01"}, ("EXPIRED", 0)),
    ],
)
async def test_the_response_to_a_new_milestone_is_what_is_stored(
    browser: httpx.AsyncClient, connected: World, changes: dict[str, Any], expected: tuple[str, int]
) -> None:
    connected.strava.train(1)
    await browser.post(WEBHOOK, json=strava_says(1, "create", connected))
    connected.work()
    once = {"Idempotency-Key": "k1"}
    first = await browser.post("/api/milestones", json={**DRAFT, **changes}, headers=once)
    created = first.json()
    path = f"/api/milestones/{created['milestone_id']}"
    assert (created["status"], created["parts_earned"]) == expected
    assert (await browser.get(path)).json() == created
    awards = (await browser.get("/api/awards", params={"milestone_id": created["milestone_id"]})).json()["items"]
    assert [award["part_index"] for award in awards] == list(range(1, expected[1] + 1))
    again = await browser.post("/api/milestones", json={**DRAFT, **changes}, headers=once)
    assert again.json() == created
    if created["status"] == "ACTIVE":
        edited = await browser.patch(path, json={"version": created["version"], "title": "Run on"})
        assert edited.status_code == 200, edited.text


@pytest.mark.req("C22")
async def test_what_a_new_milestone_has_earned_already_is_audited_once(
    browser: httpx.AsyncClient, connected: World
) -> None:
    connected.strava.train(1)
    await browser.post(WEBHOOK, json=strava_says(1, "create", connected))
    connected.work()
    for _ in range(2):
        await browser.post("/api/milestones", json={**DRAFT, "target": 1_000}, headers={"Idempotency-Key": "k1"})
    trail = [entry["event_type"] for entry in (await browser.get("/api/audit")).json()["items"]]
    assert [trail.count(kind) for kind in ("milestone_created", "part_awarded", "milestone_completed")] == [1, 10, 1]


@pytest.mark.req("C12")
async def test_a_workout_that_is_stored_while_a_milestone_is_created_earns_its_parts(
    browser: httpx.AsyncClient, connected: World, store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request counts workouts before this one is stored; its job looks for milestones before this one exists."""
    connected.strava.train(1)
    execute = store.execute_async

    async def overtaken(request: Any) -> Any:
        if isinstance(request, TransactWriteItems):
            connected.do(process_event(connected.app, event(1, "create", connected.clock())))
        return await execute(request)

    monkeypatch.setattr(store, "execute_async", overtaken)
    created = await create(browser)
    assert (await browser.get(f"/api/milestones/{created['milestone_id']}")).json()["parts_earned"] == 1


@pytest.mark.req("C10", "C12")
async def test_no_more_milestones_are_active_than_may_be_however_many_are_created_at_once(
    browser: httpx.AsyncClient, connected: World
) -> None:
    for _ in range(MAX_ACTIVE - 2):
        connected.commit()
    responses = await asyncio.gather(*(browser.post("/api/milestones", json=DRAFT) for _ in range(6)))
    assert sorted(response.status_code for response in responses) == [201, 201, 409, 409, 409, 409]
    assert {response.json()["code"] for response in responses if response.status_code == 409} == {"too_many_milestones"}
    active = connected.db.run(milestones_of(connected.user_id).page(200))
    assert len(active) == MAX_ACTIVE


@pytest.mark.req("C10")
async def test_the_response_to_an_edit_that_changes_nothing_is_what_is_there(browser: httpx.AsyncClient) -> None:
    created = await create(browser)
    path = f"/api/milestones/{created['milestone_id']}"
    response = await browser.patch(path, json={"version": 1})
    assert (response.status_code, response.json()) == (200, created)
    assert (await browser.patch(path, json={"version": 7})).json()["current_version"] == 1


@pytest.mark.req("X05", "C10")
async def test_a_milestone_is_created_once_for_a_key(browser: httpx.AsyncClient) -> None:
    first = await browser.post("/api/milestones", json=DRAFT, headers={"Idempotency-Key": "k1"})
    again = await browser.post("/api/milestones", json=DRAFT, headers={"Idempotency-Key": "k1"})
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    other = await browser.post("/api/milestones", json={**DRAFT, "target": 1}, headers={"Idempotency-Key": "k1"})
    assert (other.status_code, len((await browser.get("/api/milestones")).json()["items"])) == (422, 1)


@pytest.mark.req("C10", "X04")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", " "),
        ("model_id", "unicorn"),
        ("metric", "calories"),
        ("target", 0),
        ("target", True),
        ("target", "5"),
        ("sport_types", ["no sport!"]),
        ("starts_on", "yesterday"),
        ("starts_on", 1_767_225_600),
        ("starts_on", "1767225600"),
        ("starts_on", "2026-01-01T00:00:00"),
        ("ends_on", 1_767_225_600),
        ("colour", "red"),
    ],
)
async def test_bad_input_names_its_field(browser: httpx.AsyncClient, field: str, value: Any) -> None:
    response = await browser.post("/api/milestones", json={**DRAFT, field: value})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"].split(".")[0] == field


@pytest.mark.req("C10")
@pytest.mark.parametrize("ends_on", ["2025-12-24", "2026-12-26"])
async def test_a_window_is_no_longer_than_a_year_and_not_backwards(browser: httpx.AsyncClient, ends_on: str) -> None:
    created = await create(browser)
    drafted = await browser.post("/api/milestones", json={**DRAFT, "ends_on": ends_on})
    edited = await browser.patch(f"/api/milestones/{created['milestone_id']}", json={"version": 1, "ends_on": ends_on})
    for response in (drafted, edited):
        problem = response.json()
        assert (response.status_code, problem["code"]) == (422, "invalid_request")
        assert [(one["location"], one["field"]) for one in problem["errors"]] == [("body", "ends_on")]


@pytest.mark.req("C10")
@pytest.mark.parametrize("day", ["9998-12-31", "9999-01-01", "9999-12-30", "9999-12-31"])
async def test_no_milestone_ends_after_the_last_day(browser: httpx.AsyncClient, day: str) -> None:
    """Later days would leave no room for date arithmetic."""
    is_allowed = day == "9998-12-31"
    created = await create(browser, starts_on="9998-12-01", ends_on="9998-12-02")
    drafted = await browser.post("/api/milestones", json={**DRAFT, "starts_on": day, "ends_on": day})
    edited = await browser.patch(f"/api/milestones/{created['milestone_id']}", json={"version": 1, "ends_on": day})
    assert [response.status_code for response in (drafted, edited)] == ([201, 200] if is_allowed else [422, 422])
    assert len((await browser.get("/api/milestones")).json()["items"]) == 1 + is_allowed


@pytest.mark.req("C10", "C12")
async def test_a_milestone_until_the_end_of_time_from_before_is_one_like_others(
    browser: httpx.AsyncClient, connected: World
) -> None:
    fields = {**DRAFT, "ends_on": "9999-12-31", "created_at": "2025-12-25T12:00:00Z"}
    milestone = Milestone(user_id=connected.user_id, **fields, parts_total=10)
    connected.db.run(insert(milestone))
    connected.strava.train(1)
    await browser.post(WEBHOOK, json=strava_says(1, "create", connected))
    connected.work()
    (shown,) = (await browser.get("/api/milestones")).json()["items"]
    assert (shown["status"], shown["parts_earned"], shown["version"]) == ("ACTIVE", 1, 2)
    path = f"/api/milestones/{milestone.milestone_id}"
    assert (await browser.patch(path, json={"version": 2, "title": "Run on"})).status_code == 200
    assert (await browser.patch(path, json={"version": 3, "status": "CANCELLED"})).status_code == 200


@pytest.mark.req("X03")
async def test_another_users_milestone_is_not_found(browser: httpx.AsyncClient, connected: World) -> None:
    created = await create(browser)
    browser.cookies.clear()
    browser.cookies.set("__Host-commitcollect", connected.log_in(2002), domain="collect.test", path="/")
    path = f"/api/milestones/{created['milestone_id']}"
    responses = [await browser.get(path), await browser.patch(path, json={"version": 1, "title": "Mine"})]
    assert [response.status_code for response in responses] == [404, 404]
    assert (await browser.get("/api/milestones")).json()["items"] == []


# --- lists ---


@pytest.mark.req("C11", "X06")
async def test_workouts_are_newest_first_and_paged(browser: httpx.AsyncClient, connected: World) -> None:
    for number in (3, 1, 2):
        connected.clock.advance(3600)
        connected.strava.train(number, flagged=number == 1)
        await browser.post(WEBHOOK, json=strava_says(number, "create", connected))
    connected.work()
    first = (await browser.get("/api/workouts", params={"limit": 2})).json()
    rest = (await browser.get("/api/workouts", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    workouts = [*first["items"], *rest["items"]]
    assert [workout["activity_id"] for workout in workouts] == ["2", "1", "3"]
    assert [(workout["counts"], workout["why_not"]) for workout in workouts] == [
        (True, None),
        (False, "flagged"),
        (True, None),
    ]
    foreign = await browser.get("/api/awards", params={"cursor": first["next_cursor"]})
    assert (foreign.status_code, foreign.json()["code"]) == (400, "invalid_cursor")


@pytest.mark.req("C13")
async def test_models_and_their_parts_are_there_for_everybody(stranger: httpx.AsyncClient) -> None:
    models = (await stranger.get("/api/models")).json()["items"]
    assert [(model["model_id"], len(model["parts"])) for model in models] == [
        ("lighthouse", 10),
        ("sailing-boat", 8),
        ("steam-locomotive", 12),
    ]
    assert models[1]["parts"][0] == {"part_index": 1, "name": "Hull", "svg": "part-1"}


@pytest.mark.req("X14")
async def test_lists_can_be_asked_for_some_fields(browser: httpx.AsyncClient, connected: World) -> None:
    await create(browser, target=2_000)
    for number in (1, 2):
        connected.strava.train(number)
        await browser.post(WEBHOOK, json=strava_says(number, "create", connected))
    connected.work()
    for path in ("/api/milestones", "/api/workouts", "/api/awards", "/api/audit"):
        await check_fields(browser, path)
        refused = await browser.get(path, params={"fields": "user_id"})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "fields"), path


@pytest.mark.req("C22")
async def test_the_trail_is_read_by_user_by_story_and_by_kind_and_month(browser: httpx.AsyncClient) -> None:
    await browser.post("/api/milestones", json=DRAFT, headers={"X-Request-Id": "story-1"})
    all_events = (await browser.get("/api/audit")).json()["items"]
    assert {entry["event_type"] for entry in all_events} == {
        "athlete_linked",
        "logged_in",
        "backfill_finished",
        "milestone_created",
    }
    (of_story,) = (await browser.get("/api/audit", params={"correlation_id": "story-1"})).json()["items"]
    by_kind = {"event_type": "milestone_created", "month": "202601"}
    (of_kind,) = (await browser.get("/api/audit", params=by_kind)).json()["items"]
    assert of_story == of_kind
    assert (of_story["event_type"], of_story["request_id"]) == ("milestone_created", "story-1")
    assert (await browser.get("/api/audit", params={"month": "202601"})).status_code == 422
    assert (await browser.get("/api/audit", params={**by_kind, "month": "202613"})).status_code == 422


@pytest.mark.req("C22")
async def test_nobody_reads_another_users_trail(browser: httpx.AsyncClient, connected: World) -> None:
    browser.cookies.clear()
    browser.cookies.set("__Host-commitcollect", connected.log_in(2002), domain="collect.test", path="/")
    by_kind = {"event_type": "logged_in", "month": "202601"}
    assert len((await browser.get("/api/audit", params=by_kind)).json()["items"]) == 1
    assert len((await browser.get("/api/audit", params={"correlation_id": "c1"})).json()["items"]) == 2


@pytest.mark.req("C22")
async def test_a_trail_that_cannot_be_written_breaks_nothing_and_is_counted(
    browser: httpx.AsyncClient, connected: World, store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected.strava.train(1)
    execute = store.execute

    def failing(request: Any) -> Any:
        if isinstance(request, PutItem) and request.table == AUDIT_TABLE.name:
            raise StoreUnavailable("The store did not respond.")
        return execute(request)

    monkeypatch.setattr(store, "execute", failing)
    await browser.post(WEBHOOK, json=strava_says(1, "create", connected))
    connected.work()
    assert list(connected.workouts) == ["1"]
    assert AUDIT.dropped(connected.db.meter) == 1


@pytest.mark.req("C22")
async def test_records_that_servers_and_workers_lost_are_at_metrics(
    connected: World, store: FaultyStore, identity: Identity, embedded: object
) -> None:
    server = AsyncSession(store, clock=connected.clock, secret=b"fake")
    connected.db.create_tables([REPORTS_TABLE])
    state = AppState(server, identity, {SERVICE.name: connected.tools}, reports=ReportReader(server))
    session_id = connected.log_in()
    worker = connected.db.of_service(SERVICE.name)
    reporter = Reporter(worker, lambda: ProcessFigures(worker.meter.usage()), name="w1", services=[SERVICE.name])
    transport = httpx.ASGITransport(build_app([SERVICE], state))
    async with httpx.AsyncClient(transport=transport, base_url="https://collect.test") as browser:
        browser.cookies.set("__Host-commitcollect", session_id, domain="collect.test", path="/")
        store.unavailable(on=PutItem)
        assert worker.run(AUDIT.append(LoggedOut(), user_id=connected.user_id, trace=TRACE)) is None
        await browser.get("/commitcollect/api/me")
        store.unavailable(on=PutItem)
        assert (await browser.post("/commitcollect/auth/logout")).status_code == 204
        reporter.report()
        text = (await browser.get("/metrics")).text
    counted = [line for line in text.splitlines() if line.startswith("partita_failures_total") and "AuditEntry" in line]
    lost = [line for line in counted if not line.endswith(" 0.0")]
    labels = 'pattern="AuditEntry.append",process="{}",service="commitcollect"'
    assert sorted(lost) == [
        f"partita_failures_total{{{labels.format(process)}}} 1.0" for process in ("server", "worker")
    ]


# --- webhooks ---


@pytest.mark.req("C03")
async def test_the_webhook_shakes_hands_with_who_knows_the_token(stranger: httpx.AsyncClient) -> None:
    asked = {"hub.mode": "subscribe", "hub.challenge": "15f7d1a9", "hub.verify_token": SETTINGS.verify_token}
    response = await stranger.get(WEBHOOK, params=asked)
    assert (response.status_code, response.json()) == (200, {"hub.challenge": "15f7d1a9"})
    for wrong in ({"hub.verify_token": "guessed"}, {"hub.mode": "unsubscribe"}):
        assert (await stranger.get(WEBHOOK, params={**asked, **wrong})).status_code == 403


@pytest.mark.req("C04")
async def test_an_event_is_queued_and_nothing_else_happens(
    browser: httpx.AsyncClient, connected: World, store: FaultyStore
) -> None:
    store.requests.clear()
    asked = len(connected.strava.requests)
    response = await browser.post(WEBHOOK, json=strava_says(1, "create", connected))
    assert (response.status_code, response.json()) == (200, {})
    assert len(store.requests) == 2
    assert len(connected.strava.requests) == asked
    (sent,) = connected.tools.queue.sent  # type: ignore[attr-defined]
    assert isinstance(sent, Send)


@pytest.mark.req("C04", "X04")
@pytest.mark.parametrize(
    "updates",
    [
        '{"a": "\\ud800"}',
        '{"\\ud800": "a"}',
        f'{{"a": "{"x" * 1_001}"}}',
        f'{{"{"x" * 1_001}": "a"}}',
        f'{{"a": "{"x" * 300_000}"}}',
    ],
)
async def test_an_event_that_no_message_has_room_for_is_refused(
    browser: httpx.AsyncClient, connected: World, updates: str
) -> None:
    fields = strava_says(1, "update", connected, updates="here")
    body = json.dumps(fields).replace('"here"', updates)
    response = await browser.post(WEBHOOK, content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, connected.tools.queue.sent) == (422, [])  # type: ignore[attr-defined]
    assert response.json()["errors"][0]["field"].startswith("updates.")


@pytest.mark.req("C04")
async def test_the_largest_event_that_is_taken_has_room_in_a_message(
    browser: httpx.AsyncClient, connected: World
) -> None:
    updates = {f"{number:02}".ljust(1_000, "\0"): "\0" * 1_000 for number in range(20)}
    response = await browser.post(WEBHOOK, json=strava_says(1, "update", connected, updates=updates))
    (sent,) = connected.tools.queue.sent  # type: ignore[attr-defined]
    assert (response.status_code, len(sent.body.encode()) < MAX_BODY_BYTES) == (200, True)


@pytest.mark.req("C04")
async def test_events_of_other_subscriptions_are_refused(browser: httpx.AsyncClient, connected: World) -> None:
    forged = strava_says(1, "create", connected, subscription_id=SUBSCRIPTION + 1)
    response = await browser.post(WEBHOOK, json=forged)
    assert (response.status_code, connected.tools.queue.sent) == (403, [])  # type: ignore[attr-defined]


# --- what it costs ---


BODIES: dict[str, Any] = {
    "POST /milestones": DRAFT,
    "PATCH /milestones/{milestone_id}": {"version": 1, "title": "Run further"},
}


@pytest.mark.req("C24", "C11", "X09")
async def test_no_route_and_no_job_scans_and_progress_sends_its_projection(
    browser: httpx.AsyncClient, connected: World, store: FaultyStore
) -> None:
    created = await create(browser, target=1_000_000)
    connected.strava.train(1)
    for route in (*(route for route in ROUTES if route not in (*LAST, *FOR_OPERATORS, ENDLESS)), *LAST):
        store.requests.clear()
        method, path = route.split()
        url = f"/api{path.format(milestone_id=created['milestone_id'], model_id='lighthouse')}"
        response = await browser.request(method, url, **({"json": BODIES[route]} if route in BODIES else {}))
        assert response.is_success, response.text
        await browser.post(WEBHOOK, json=strava_says(1, "create", connected))
        connected.work()
        assert [request for request in store.requests if isinstance(request, ScanTable)] == []
        queries = [request for request in store.requests if isinstance(request, QueryTable)]
        walks = [query for query in queries if query.index == "LSI1" and "WORKOUT#" in repr(query.key_condition)]
        assert [query for query in walks if query.projection is None] == []


@pytest.mark.req("X07")
async def test_every_response_says_what_it_consumed(browser: httpx.AsyncClient, embedded: object) -> None:
    """The figures must be those in docs/services/commitcollect.md."""
    created = await create(browser)
    path = f"/api/milestones/{created['milestone_id']}"
    read = "LoginSession.resolve;rcu=1;wcu=0"
    for url, expected in (
        ("/api/me", "profile_of;rcu=0.5;wcu=0, connection_of;rcu=0.5;wcu=0, limit_of;rcu=0.5;wcu=0"),
        ("/api/milestones", "milestones_of;rcu=0.5;wcu=0, workouts_within;rcu=0.5;wcu=0"),
        (path, "milestone_by_id;rcu=1;wcu=0, workouts_within;rcu=0.5;wcu=0"),
        ("/api/workouts", "latest_workouts;rcu=0.5;wcu=0"),
        ("/api/awards", "awards_of;rcu=0.5;wcu=0"),
        ("/api/audit", "events_of_user;rcu=0.5;wcu=0"),
    ):
        assert (await browser.get(url)).headers["X-Consumed-Capacity"] == f"{read}, {expected}"
