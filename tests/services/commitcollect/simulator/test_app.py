"""The Strava simulator: Strava's endpoints for OAuth, activities, limits and subscriptions, and its control page."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.services.commitcollect.simulated import (
    ALEX,
    CREDENTIALS,
    asking,
    redirected_with,
    serving_simulator,
    simulated,
)

from partita.cli import DataFolder, installation_of
from partita.testing import FakeClock
from partita_services.commitcollect.simulator.app import build_simulator, simulator_of
from partita_services.commitcollect.simulator.strava import SimulatedStrava
from partita_services.commitcollect.strava.settings import read

pytestmark = pytest.mark.req("C08")


@pytest.fixture
def strava(fake_clock: FakeClock) -> SimulatedStrava:
    return simulated(fake_clock)


@pytest.fixture
async def client(strava: SimulatedStrava) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(build_simulator(strava, delivers=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


async def granted(client: httpx.AsyncClient, scope: str = "read,activity:read") -> dict[str, Any]:
    """Let Alex grant the scopes, authorize the client with the tokens, and return them."""
    form = {"athlete": ALEX, "decision": "authorize", "scope": scope.split(",")}
    code = redirected_with(await client.post("/oauth/authorize", params=asking(scope), data=form))["code"]
    exchanged = await client.post(
        "/oauth/token", data={**CREDENTIALS, "grant_type": "authorization_code", "code": code}
    )
    tokens: dict[str, Any] = exchanged.json()
    client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
    return tokens


async def refreshed(client: httpx.AsyncClient, token: str) -> httpx.Response:
    form = {**CREDENTIALS, "grant_type": "refresh_token", "refresh_token": token}
    return await client.post("/oauth/token", data=form)


def fault(response: httpx.Response) -> tuple[int, str, str, str]:
    (error,) = response.json()["errors"]
    return response.status_code, error["resource"], error["field"], error["code"]


async def test_the_athlete_is_asked_for_each_scope(client: httpx.AsyncClient) -> None:
    page = await client.get("/oauth/authorize", params=asking("read,activity:read_all"))
    assert page.status_code == 200
    assert "Alex Runner" in page.text
    assert 'value="activity:read_all"' in page.text
    assert "This is not Strava" in page.text


async def test_an_approval_says_what_was_accepted(client: httpx.AsyncClient) -> None:
    form = {"athlete": ALEX, "decision": "authorize"}
    said = redirected_with(await client.post("/oauth/authorize", params=asking(state="a&b"), data=form))
    assert (said["scope"], said["state"], len(said["code"])) == ("read", "a&b", 40)


async def test_a_refusal_says_so(client: httpx.AsyncClient) -> None:
    said = redirected_with(await client.post("/oauth/authorize", params=asking(), data={"decision": "cancel"}))
    assert said == {"state": "s1", "error": "access_denied"}


@pytest.mark.parametrize(
    ("wrong", "refused"),
    [
        ({"client_id": "1"}, (400, "Application", "client_id", "invalid")),
        ({"redirect_uri": "http://elsewhere.example/"}, (400, "Application", "redirect_uri", "invalid")),
        ({"redirect_uri": "http://["}, (400, "Application", "redirect_uri", "invalid")),
        ({"scope": "everything"}, (400, "Authorize", "scope", "invalid")),
    ],
)
async def test_other_applications_are_refused(
    client: httpx.AsyncClient, wrong: dict[str, str], refused: tuple[int, str, str, str]
) -> None:
    assert fault(await client.get("/oauth/authorize", params=asking() | wrong)) == refused


@pytest.mark.parametrize("path", ["/oauth/authorize", "/oauth/token"])
async def test_a_form_that_is_not_text_is_refused(client: httpx.AsyncClient, path: str) -> None:
    assert fault(await client.post(path, params=asking(), content=b"\xff")) == (400, "Request", "form", "invalid")


async def test_nobody_decides_for_an_athlete_who_is_not_there(client: httpx.AsyncClient) -> None:
    for athlete in ("", "7", "9" * 5_000):
        form = {"athlete": athlete, "decision": "authorize"}
        assert fault(await client.post("/oauth/authorize", params=asking(), data=form))[:3] == (400, "Athlete", "id")


async def test_a_code_gives_tokens_and_the_athlete_once(client: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    form = {"athlete": ALEX, "decision": "authorize"}
    code = redirected_with(await client.post("/oauth/authorize", params=asking("read"), data=form))["code"]
    exchange = {**CREDENTIALS, "grant_type": "authorization_code", "code": code}
    tokens = (await client.post("/oauth/token", data=exchange)).json()
    assert (tokens["token_type"], tokens["expires_in"], tokens["athlete"]["id"]) == ("Bearer", 21_600, ALEX)
    assert tokens["expires_at"] == int(fake_clock()) + 21_600
    again = await client.post("/oauth/token", data=exchange)
    assert fault(again) == (400, "AuthorizationCode", "code", "invalid")


async def test_the_secret_of_the_application_is_checked(client: httpx.AsyncClient) -> None:
    form = {**CREDENTIALS, "client_secret": "guessed", "grant_type": "refresh_token", "refresh_token": "x"}
    assert fault(await client.post("/oauth/token", data=form)) == (401, "Application", "client_secret", "invalid")


async def test_a_refresh_token_is_good_for_one_use(client: httpx.AsyncClient) -> None:
    first = await granted(client)
    second = await refreshed(client, first["refresh_token"])
    assert second.status_code == 200
    assert "athlete" not in second.json()
    assert fault(await refreshed(client, first["refresh_token"])) == (400, "RefreshToken", "refresh_token", "invalid")
    assert fault(await client.get("/api/v3/athlete"))[0] == 401  # the refresh also ends the access token
    client.headers["Authorization"] = f"Bearer {second.json()['access_token']}"
    assert (await client.get("/api/v3/athlete")).json()["username"] == "alex_runs"
    assert (await refreshed(client, second.json()["refresh_token"])).status_code == 200


async def test_an_access_token_ends_after_six_hours(client: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    await granted(client)
    fake_clock.advance(21_599)
    assert (await client.get("/api/v3/athlete")).status_code == 200
    fake_clock.advance(1)
    assert fault(await client.get("/api/v3/athlete")) == (401, "Athlete", "access_token", "invalid")


async def test_activities_come_in_pages_newest_first(client: httpx.AsyncClient) -> None:
    await granted(client)
    listed = [
        activity
        for page in (1, 2, 3, 4)
        for activity in (await client.get("/api/v3/athlete/activities", params={"page": page, "per_page": 7})).json()
    ]
    assert len(listed) == 19  # of 20, one is private
    assert [one["start_date"] for one in listed] == sorted((one["start_date"] for one in listed), reverse=True)
    assert {one["athlete"]["id"] for one in listed} == {ALEX}


async def test_activities_between_two_instants_come_oldest_first(
    client: httpx.AsyncClient, strava: SimulatedStrava
) -> None:
    await granted(client, "read,activity:read_all")
    starts = sorted(one.started_at for one in strava.world.activities.values() if one.athlete_id == ALEX)
    window = {"after": starts[2], "before": starts[6]}
    listed = (await client.get("/api/v3/athlete/activities", params=window)).json()
    assert [strava.world.activities[one["id"]].started_at for one in listed] == starts[3:6]


async def test_an_activity_has_stravas_fields(client: httpx.AsyncClient, strava: SimulatedStrava) -> None:
    await granted(client)
    given: dict[str, Any] = {"name": "Parkrun", "started_at": 1_780_000_000, "distance": 5000.0, "moving_time": 1500}
    activity = strava.train(ALEX, "Run", elapsed_time=1520, total_elevation_gain=12.0, **given)
    shown = (await client.get(f"/api/v3/activities/{activity.id}")).json()
    assert shown == {
        "id": activity.id,
        "resource_state": 2,
        "athlete": {"id": ALEX, "resource_state": 1},
        "name": "Parkrun",
        "type": "Run",
        "sport_type": "Run",
        "start_date": "2026-05-28T20:26:40Z",
        "start_date_local": "2026-05-29T06:26:40Z",
        "timezone": "(GMT+10:00) Australia/Brisbane",
        "utc_offset": 36000.0,
        "distance": 5000.0,
        "moving_time": 1500,
        "elapsed_time": 1520,
        "total_elevation_gain": 12.0,
        "average_speed": 3.333,
        "manual": False,
        "flagged": False,
        "private": False,
        "visibility": "everyone",
    }


@pytest.mark.parametrize(("scope", "status"), [("read,activity:read", 404), ("read,activity:read_all", 200)])
async def test_a_private_activity_needs_the_greater_scope(
    client: httpx.AsyncClient, strava: SimulatedStrava, scope: str, status: int
) -> None:
    await granted(client, scope)
    activity = strava.train(ALEX, visibility="only_me")
    assert (await client.get(f"/api/v3/activities/{activity.id}")).status_code == status


async def test_without_the_scope_no_activity_is_read(client: httpx.AsyncClient) -> None:
    await granted(client, "read")
    refused = fault(await client.get("/api/v3/athlete/activities"))
    assert refused == (401, "AccessToken", "activity:read_permission", "missing")


async def test_deauthorizing_ends_the_tokens(client: httpx.AsyncClient) -> None:
    tokens = await granted(client)
    ended = await client.post("/oauth/deauthorize", data={"access_token": tokens["access_token"]})
    assert ended.json() == {"access_token": tokens["access_token"]}
    assert fault(await client.get("/api/v3/athlete"))[0] == 401
    assert (await refreshed(client, tokens["refresh_token"])).status_code == 400


@pytest.mark.req("C06")
async def test_the_limits_are_shown_counted_and_start_again_with_the_quarter_of_an_hour(
    client: httpx.AsyncClient, strava: SimulatedStrava, fake_clock: FakeClock
) -> None:
    await granted(client)
    first = await client.get("/api/v3/athlete")
    assert {name: first.headers[name] for name in strava.limits.headers()} == {
        "X-RateLimit-Limit": "400,4000",
        "X-RateLimit-Usage": "1,1",
        "X-ReadRateLimit-Limit": "200,2000",
        "X-ReadRateLimit-Usage": "1,1",
    }
    strava.limits.exhaust()
    refused = await client.get("/api/v3/athlete")
    assert fault(refused) == (429, "Application", "overall rate limit", "exceeded")
    assert refused.headers["X-ReadRateLimit-Usage"] == "201,201"
    fake_clock.advance(900 - fake_clock() % 900)
    again = await client.get("/api/v3/athlete")
    assert (again.status_code, again.headers["X-ReadRateLimit-Usage"]) == (200, "1,202")


async def test_a_restart_keeps_the_grant_and_the_activities(fake_clock: FakeClock, tmp_path: Path) -> None:
    file = tmp_path / "strava.json"
    transport = httpx.ASGITransport(build_simulator(simulated(fake_clock, file=file), delivers=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        await granted(client)
        json: dict[str, Any] = {"name": "Before the restart"}
        added = (await client.post(f"/control/athletes/{ALEX}/activities", json=json)).json()
        headers = client.headers
    transport = httpx.ASGITransport(build_simulator(simulated(fake_clock, file=file), delivers=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
        assert (await client.get(f"/api/v3/activities/{added['id']}")).json()["name"] == "Before the restart"
    assert file.stat().st_mode & 0o777 == 0o600


async def test_the_page_gets_all_it_shows(client: httpx.AsyncClient) -> None:
    await granted(client)
    shown = (await client.get("/control")).json()
    assert [(athlete["username"], athlete["granted"] is not None) for athlete in shown["athletes"]] == [
        ("alex_runs", True),
        ("robin_rides", False),
        ("sam_hikes", False),
    ]
    assert (shown["subscription"], shown["underway"], shown["outcomes"]) == (None, 0, [])
    assert shown["chaos"] == {"duplicates": 0, "spread": 0.0, "failures": 0.0}


async def test_a_person_adds_edits_hides_and_deletes(client: httpx.AsyncClient, strava: SimulatedStrava) -> None:
    added = (await client.post(f"/control/athletes/{ALEX}/activities", json={"sport_type": "Swim"})).json()
    assert added["sport_type"] == "Swim"
    address = f"/control/activities/{added['id']}"
    edited = (await client.patch(address, json={"name": "Bay", "flagged": True, "visibility": "only_me"})).json()
    assert (edited["name"], edited["flagged"], edited["private"]) == ("Bay", True, True)
    json = {"Content-Type": "application/json"}
    assert (await client.delete(address, headers=json)).status_code == 204
    assert added["id"] not in strava.world.activities
    assert fault(await client.delete(address, headers=json))[0] == 404
    week = (await client.post(f"/control/athletes/{ALEX}/weeks", json={})).json()
    assert len({one["start_date"][:10] for one in week}) == 4


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("distance", "1e400"),
        ("distance", "NaN"),
        ("distance", "10000001"),
        ("moving_time", "9" * 400),
        ("moving_time", "31536001"),
        ("total_elevation_gain", "Infinity"),
        ("total_elevation_gain", "100001"),
        ("name", '"\\ud800"'),
        ("name", f'"{"x" * 201}"'),
    ],
)
async def test_a_workout_that_could_not_be_kept_is_refused(
    fake_clock: FakeClock, tmp_path: Path, field: str, value: str
) -> None:
    file = tmp_path / "strava.json"
    strava = simulated(fake_clock, file=file)
    transport = httpx.ASGITransport(build_simulator(strava, delivers=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        headers, body = {"Content-Type": "application/json"}, f'{{"{field}": {value}}}'
        train = f"/control/athletes/{ALEX}/activities"
        added = (await client.post(train, json={})).json()
        for method, path in (("POST", train), ("PATCH", f"/control/activities/{added['id']}")):
            response = await client.request(method, path, content=body, headers=headers)
            assert fault(response) == (400, "Request", field, "invalid")
        assert (await client.post(train, json={})).status_code == 201  # this writes the file
    assert simulated(fake_clock, file=file).world == strava.world


def test_a_state_that_cannot_be_read_is_set_aside(
    fake_clock: FakeClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "strava.json"
    simulated(fake_clock, file=file).save()
    damaged = file.read_bytes().replace(b'"distance":', b'"distance":null,"was":', 1)
    file.write_bytes(damaged)
    fresh = simulated(fake_clock, file=file)
    assert len(fresh.world.athletes) == 3
    assert (tmp_path / "strava.json.unreadable").read_bytes() == damaged
    assert "starts with a new state" in caplog.text
    fresh.save()
    assert simulated(fake_clock, file=file).world == fresh.world


def test_a_state_has_its_events_under_the_name_that_earlier_states_have(fake_clock: FakeClock, tmp_path: Path) -> None:
    file = tmp_path / "strava.json"
    strava = simulated(fake_clock, file=file)
    strava.oauth.exchange(strava.oauth.approve(ALEX, ("read", "activity:read")).code)
    strava.subscribe("http://127.0.0.1/webhook")
    strava.train(ALEX)
    strava.save()
    assert len(msgspec.json.decode(file.read_bytes())["told"]) == 1
    assert simulated(fake_clock, file=file).world.sent == strava.world.sent


async def test_what_makes_no_sense_is_refused_as_strava_words_it(client: httpx.AsyncClient) -> None:
    await granted(client)
    wrong_page = await client.get("/api/v3/athlete/activities", params={"page": "x"})
    assert fault(wrong_page) == (400, "Request", "page", "invalid")
    no_address = await client.post(
        "/api/v3/push_subscriptions", data={**CREDENTIALS, "callback_url": "http://127.0.0.1:x", "verify_token": "t"}
    )
    assert fault(no_address)[:3] == (400, "PushSubscription", "callback url")


async def test_a_page_of_another_site_changes_nothing(client: httpx.AsyncClient, strava: SimulatedStrava) -> None:
    before = len(strava.world.activities)
    response = await client.post(f"/control/athletes/{ALEX}/weeks", data={"a": "form"})
    assert fault(response) == (400, "Control", "Content-Type", "invalid")
    assert len(strava.world.activities) == before


async def test_a_person_uses_up_the_limit_and_ends_tokens(client: httpx.AsyncClient) -> None:
    await granted(client)
    assert (await client.post("/control/limits/exhaust", json={})).status_code == 204
    assert (await client.get("/api/v3/athlete")).status_code == 429
    assert (await client.post("/control/limits/reset", json={})).status_code == 204
    assert (await client.post(f"/control/athletes/{ALEX}/expire", json={})).status_code == 204
    assert (await client.get("/api/v3/athlete")).status_code == 401


async def test_the_pages_load_nothing_from_outside(client: httpx.AsyncClient) -> None:
    page = await client.get("/")
    assert page.status_code == 200
    assert "Strava simulator" in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    moved = await client.get("/activities/7")
    assert (moved.status_code, moved.headers["Location"]) == (303, "../#activity-7")


def test_it_runs_on_a_port_of_its_own(fake_clock: FakeClock) -> None:
    with serving_simulator(simulated(fake_clock)) as address:
        assert httpx.get(f"{address}/control").json()["sports"][0] == "Run"


async def test_it_knows_the_application_of_its_data_folder_alone(tmp_path: Path) -> None:
    installation = installation_of(DataFolder(tmp_path))
    transport = httpx.ASGITransport(simulator_of(installation))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1/api/v3") as client:
        own = {"client_id": read(installation).client_id, "client_secret": read(installation).client_secret}
        assert (await client.get("/push_subscriptions", params=own)).json() == []
        other = own | {"client_secret": "guessed"}
        assert fault(await client.get("/push_subscriptions", params=other))[:2] == (401, "Application")


def test_the_command_serves_it_alone_until_it_is_asked_to_stop(tmp_path: Path) -> None:
    run = "from partita.cli import main; main()"
    command = [sys.executable, "-c", run, "commitcollect", "simulator", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = line.removeprefix("The Strava simulator is at ").strip()
        try:
            assert httpx.get(f"{address}/control", trust_env=False).json()["subscription"] is None
            assert httpx.get(f"{address}/assets/base.css", trust_env=False).status_code == 200
            rebound = httpx.get(f"{address}/control", headers={"Host": "evil.example"}, trust_env=False)
            assert (rebound.status_code, rebound.json()["code"]) == (421, "host_not_allowed")
        finally:
            process.terminate()
        assert (process.wait(), process.stdout.read()) == (0, "")
