"""The simulator sends events to a webhook: also repeatedly, late and out of order, and again after a failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import msgspec
import pytest
from tests.services.commitcollect.simulated import ALEX, CREDENTIALS, simulated

from partita.testing import FakeClock
from partita_services.commitcollect.simulator import api
from partita_services.commitcollect.simulator.app import build_simulator
from partita_services.commitcollect.simulator.oauth import READ, READ_ALL
from partita_services.commitcollect.simulator.strava import SimulatedStrava
from partita_services.commitcollect.simulator.world import Chaos, Event

pytestmark = pytest.mark.req("C08")

CALLBACK = "http://127.0.0.1/commitcollect/webhooks/strava"


class Webhook:
    """Records the events that it receives, and responds with the given statuses, then with 200."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.statuses: list[int] = []

    async def __call__(self, url: str, event: Event) -> int:
        assert url == CALLBACK
        self.events.append(event)
        return self.statuses.pop(0) if self.statuses else 200

    @property
    def aspects(self) -> list[tuple[str, dict[str, str]]]:
        return [(event.aspect_type, event.updates) for event in self.events]


@pytest.fixture
def webhook() -> Webhook:
    return Webhook()


@pytest.fixture
def connect(fake_clock: FakeClock, webhook: Webhook) -> Callable[..., SimulatedStrava]:
    """A function that returns a simulator in which Alex has granted some scopes, and a webhook is subscribed."""

    def connect(*scopes: str) -> SimulatedStrava:
        strava = simulated(fake_clock, post=webhook)
        strava.oauth.exchange(strava.oauth.approve(ALEX, scopes or (READ,)).code)
        strava.subscribe(CALLBACK)
        return strava

    return connect


async def test_every_change_is_sent(connect: Callable[..., SimulatedStrava], webhook: Webhook) -> None:
    strava = connect(READ_ALL)
    activity = strava.train(ALEX, "Run")
    strava.change(activity.id, name="Renamed", sport_type="Walk")
    strava.change(activity.id, visibility="only_me")
    strava.change(activity.id, distance=1.0)
    strava.delete(activity.id)
    strava.deauthorize(ALEX)
    await strava.webhook.deliver()
    assert webhook.aspects == [
        ("create", {}),
        ("update", {"title": "Renamed", "type": "Walk"}),
        ("update", {"private": "true"}),
        ("update", {}),
        ("delete", {}),
        ("update", {"authorized": "false"}),
    ]
    assert [event.object_type for event in webhook.events] == [*["activity"] * 5, "athlete"]


async def test_an_event_has_stravas_fields(
    connect: Callable[..., SimulatedStrava], webhook: Webhook, fake_clock: FakeClock
) -> None:
    strava = connect()
    activity = strava.train(ALEX)
    await strava.webhook.deliver()
    assert strava.world.subscription is not None
    assert msgspec.to_builtins(webhook.events) == [
        {
            "object_type": "activity",
            "object_id": activity.id,
            "aspect_type": "create",
            "updates": {},
            "owner_id": ALEX,
            "subscription_id": strava.world.subscription.id,
            "event_time": int(fake_clock()),
        }
    ]


async def test_with_the_lesser_scope_an_activity_that_is_hidden_seems_deleted(
    connect: Callable[..., SimulatedStrava], webhook: Webhook
) -> None:
    strava = connect(READ)
    activity = strava.train(ALEX)
    strava.change(activity.id, visibility="only_me")
    strava.change(activity.id, name="Nobody hears of this")
    strava.change(activity.id, visibility="followers_only")
    strava.delete(strava.train(ALEX, visibility="only_me").id)
    await strava.webhook.deliver()
    assert [aspect for aspect, _ in webhook.aspects] == ["create", "delete", "create"]


async def test_no_event_is_sent_of_an_athlete_who_granted_nothing(
    connect: Callable[..., SimulatedStrava], webhook: Webhook
) -> None:
    strava = connect()
    strava.train(1002)
    strava.deauthorize(1002)
    assert await strava.webhook.deliver() == []
    assert webhook.events == []


async def test_what_failed_is_sent_three_times_in_all(
    connect: Callable[..., SimulatedStrava], webhook: Webhook, fake_clock: FakeClock
) -> None:
    strava = connect()
    webhook.statuses = [500, 0, 503, 200]
    strava.train(ALEX)
    for _ in range(10):
        await strava.webhook.deliver()
        fake_clock.advance(5)
    assert [(one.attempt, one.status) for one in strava.webhook.outcomes] == [(1, 500), (2, 0), (3, 503)]
    assert strava.webhook.next_due is None


async def test_duplicates_arrive_late_and_out_of_order(
    connect: Callable[..., SimulatedStrava], webhook: Webhook, fake_clock: FakeClock
) -> None:
    strava = connect()
    strava.webhook.chaos = Chaos(duplicates=2, spread=30)
    made = [strava.train(ALEX).id for _ in range(5)]
    while strava.webhook.next_due is not None:
        fake_clock.advance(1)
        await strava.webhook.deliver()
    arrived = [event.object_id for event in webhook.events]
    assert sorted(arrived) == sorted(made * 3)
    assert arrived != sorted(arrived)


async def test_lost_attempts_are_made_again(
    connect: Callable[..., SimulatedStrava], webhook: Webhook, fake_clock: FakeClock
) -> None:
    strava = connect()
    strava.webhook.chaos = Chaos(failures=1)
    strava.train(ALEX)
    await strava.webhook.deliver()
    assert webhook.events == []
    strava.webhook.chaos = Chaos()
    fake_clock.advance(5)
    (outcome,) = await strava.webhook.deliver()
    assert (outcome.attempt, outcome.status) == (2, 200)


async def test_events_are_sent_again_on_demand(connect: Callable[..., SimulatedStrava], webhook: Webhook) -> None:
    strava = connect()
    strava.train(ALEX)
    strava.train(ALEX)
    await strava.webhook.deliver()
    assert strava.send_again(40) == 2
    await strava.webhook.deliver()
    assert webhook.events[:2] == webhook.events[2:]


async def test_a_subscription_is_made_once_and_only_with_an_address_that_agrees(
    fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def agrees(url: str, verify_token: str, challenge: str) -> bool:
        return (url, verify_token, bool(challenge)) == (CALLBACK, "ours", True)

    monkeypatch.setattr(api, "wants_events", agrees)
    transport = httpx.ASGITransport(build_simulator(simulated(fake_clock), delivers=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1/api/v3") as client:

        async def subscribed(verify_token: str) -> httpx.Response:
            form = {**CREDENTIALS, "callback_url": CALLBACK, "verify_token": verify_token}
            return await client.post("/push_subscriptions", data=form)

        assert (await subscribed("theirs")).status_code == 400
        made = await subscribed("ours")
        assert made.status_code == 201
        known: list[dict[str, Any]] = (await client.get("/push_subscriptions", params=CREDENTIALS)).json()
        assert [(one["id"], one["callback_url"]) for one in known] == [(made.json()["id"], CALLBACK)]
        assert (await subscribed("ours")).json()["errors"][0]["code"] == "already exists"
        ended = await client.delete(f"/push_subscriptions/{made.json()['id']}", params=CREDENTIALS)
        assert ended.status_code == 204
        assert (await client.get("/push_subscriptions", params=CREDENTIALS)).json() == []
