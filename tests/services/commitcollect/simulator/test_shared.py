"""Several processes share one simulator: each sees the changes of the others, and each event is sent once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from tests.services.commitcollect.simulated import ALEX, CREDENTIALS, simulated

from partita.testing import FakeClock
from partita_services.commitcollect.simulator.app import build_simulator
from partita_services.commitcollect.simulator.strava import SimulatedStrava
from partita_services.commitcollect.simulator.world import Chaos, Event

pytestmark = [pytest.mark.req("C08"), pytest.mark.anyio]

CALLBACK = "http://127.0.0.1/commitcollect/webhooks/strava"


class SlowWebhook:
    """Records the events that it receives, and lets other tasks run before it responds."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def __call__(self, url: str, event: Event) -> int:  # noqa: ARG002 - there is only one URL
        self.events.append(event)
        await asyncio.sleep(0)
        return 200


@pytest.fixture
def webhook() -> SlowWebhook:
    return SlowWebhook()


@pytest.fixture
def pair(fake_clock: FakeClock, tmp_path: Path, webhook: SlowWebhook) -> list[SimulatedStrava]:
    """Two simulators with one file, as in two processes."""
    file = tmp_path / "strava.json"
    return [simulated(fake_clock, file=file, post=webhook) for _ in range(2)]


def client_of(strava: SimulatedStrava) -> httpx.AsyncClient:
    app = build_simulator(strava, delivers=False)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


async def test_a_code_of_one_process_is_exchanged_in_another_and_once(pair: list[SimulatedStrava]) -> None:
    async with client_of(pair[0]) as first, client_of(pair[1]) as second:
        asked = {"client_id": CREDENTIALS["client_id"], "redirect_uri": "http://127.0.0.1/x", "scope": "read"}
        decided = await first.post(
            "/oauth/authorize", params=asked, data={"decision": "authorize", "athlete": str(ALEX)}
        )
        form = {**CREDENTIALS, "grant_type": "authorization_code"}
        form["code"] = httpx.URL(decided.headers["Location"]).params["code"]
        token = (await second.post("/oauth/token", data=form)).json()["access_token"]
        assert (await first.post("/oauth/token", data=form)).status_code == 400
        athlete = await first.get("/api/v3/athlete", headers={"Authorization": f"Bearer {token}"})
        assert athlete.json()["id"] == ALEX


async def test_requests_are_counted_together(pair: list[SimulatedStrava]) -> None:
    async with client_of(pair[0]) as first, client_of(pair[1]) as second:
        for client in (first, second, second):
            last = await client.get("/api/v3/athlete")
        assert last.headers["X-RateLimit-Usage"] == "3,3"
        await first.post("/control/limits/exhaust", json={})
        assert (await second.get("/api/v3/athlete")).status_code == 429


async def test_what_goes_wrong_is_said_for_all(pair: list[SimulatedStrava]) -> None:
    async with client_of(pair[0]) as first, client_of(pair[1]) as second:
        await first.put("/control/chaos", json={"duplicates": 2, "spread": 0, "failures": 0})
        assert (await second.get("/control")).json()["chaos"]["duplicates"] == 2
    assert pair[1].webhook.chaos == Chaos(duplicates=2)


async def test_each_event_is_delivered_by_one_of_them(pair: list[SimulatedStrava], webhook: SlowWebhook) -> None:
    first, second = pair
    with first.changing():
        first.oauth.exchange(first.oauth.approve(ALEX, ("read", "activity:read")).code)
        first.subscribe(CALLBACK)
    for strava in (first, second, first):
        with strava.changing():
            strava.train(ALEX)
    second.refresh()
    await asyncio.gather(first.webhook.deliver(), second.webhook.deliver())
    assert len({event.object_id for event in webhook.events}) == len(webhook.events) == 3
    first.refresh()
    assert (first.world.underway, len(first.webhook.outcomes)) == ([], 3)


async def test_what_was_claimed_by_one_that_died_is_delivered_by_another(
    pair: list[SimulatedStrava], webhook: SlowWebhook, fake_clock: FakeClock
) -> None:
    first, second = pair
    with first.changing():
        first.oauth.exchange(first.oauth.approve(ALEX, ("read", "activity:read")).code)
        first.subscribe(CALLBACK)
        first.train(ALEX)
    first.webhook._claimed()  # claims the event, and then crashes
    assert await second.webhook.deliver() == []
    fake_clock.advance(31)
    assert len(await second.webhook.deliver()) == len(webhook.events) == 1
