"""Forged events: a secret address, a limit on guesses, and for each athlete only a share of Strava's limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from tests.recipes.interleaving import overtaken
from tests.services.commitcollect.strava_model import ATHLETE, SUBSCRIPTION
from tests.services.commitcollect.world import SETTINGS, WEBHOOK, World, event, new_world, queued_world, revocation

from partita import AsyncSession, put
from partita.app import build_app
from partita.errors import ItemMissing
from partita.http import AppState, Identity
from partita.queue import GetStats, Send, encode_body
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.jobs.ingest import process_event
from partita_services.commitcollect.jobs.looks import QUARTER, take_look
from partita_services.commitcollect.jobs.webhook_limits import (
    GUESSES,
    LOOKS_PER_DAY,
    LOOKS_PER_QUARTER,
    TokenBuckets,
    WebhookLimits,
)
from partita_services.commitcollect.jobs.worker import work_once
from partita_services.commitcollect.strava.interface import ReadActivity, ReadAthlete
from partita_services.commitcollect.strava.model import Tickets
from partita_services.commitcollect.work import TryLater

pytestmark = pytest.mark.req("C04")

SITE = "https://collect.test/commitcollect"


@pytest.fixture
def world() -> Iterator[World]:
    """A world with a connected user, whose sign-in and its jobs were a quarter of an hour ago."""
    with queued_world() as world:
        world.log_in()
        world.work()
        world.clock.advance(QUARTER)
        world.strava.requests.clear()
        yield world


@pytest.fixture
async def eve(world: World) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is not Strava, on a site that takes a burst of three events for each athlete."""
    world.tools = replace(world.tools, webhook_limits=WebhookLimits(events=TokenBuckets(3, 100.0)))
    session = AsyncSession(world.db.store, clock=world.clock, secret=b"fake", strict_budgets=True)
    app = build_app([SERVICE], AppState(session, Identity(b"k" * 32), {SERVICE.name: world.tools}))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=SITE) as client:
        yield client


def an_event(**changes: Any) -> dict[str, Any]:
    fields = {"object_type": "activity", "object_id": 7, "aspect_type": "create", "owner_id": ATHLETE}
    return {**fields, "subscription_id": SUBSCRIPTION, "event_time": 1_767_225_600, "updates": {}} | changes


def waiting(world: World) -> int:
    return world.tools.queue.execute(GetStats()).waiting


def queue_events(world: World, number: int) -> None:
    """Queue the events of a number of activities, as the webhook does."""
    for activity in range(number):
        job = event(activity, "create", world.clock() - 60)
        world.tools.queue.execute(Send(encode_body(job), str(ATHLETE), f"delivery-{activity}"))


def reads(world: World) -> int:
    return sum(isinstance(request, ReadActivity | ReadAthlete) for request in world.strava.requests)


# --- the address


@pytest.mark.parametrize("end", ["/" + "0" * 32, f"/{SETTINGS.webhook_key}0", f"/{SETTINGS.webhook_key[:-1]}"])
async def test_an_event_to_another_address_finds_nothing(eve: httpx.AsyncClient, world: World, end: str) -> None:
    shaking = {"hub.mode": "subscribe", "hub.challenge": "c", "hub.verify_token": SETTINGS.verify_token}
    for response in (
        await eve.post(f"/webhooks/strava{end}", json=an_event()),
        await eve.get(f"/webhooks/strava{end}", params=shaking),
    ):
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert waiting(world) == 0


@pytest.mark.parametrize("path", ["/webhooks/strava", "/webhooks/strava/"])
async def test_the_address_without_its_secret_end_takes_nothing(
    eve: httpx.AsyncClient, world: World, path: str
) -> None:
    assert (await eve.post(path, json=an_event())).status_code in {404, 405}
    assert waiting(world) == 0


async def test_strava_is_told_the_address_and_its_events_arrive(eve: httpx.AsyncClient, world: World) -> None:
    assert world.strava.callback_url == f"{SITE}{WEBHOOK}"
    assert (await eve.post(world.strava.callback_url, json=an_event())).status_code == 200
    assert waiting(world) == 1


@pytest.mark.parametrize("path", ["/webhooks/strava/" + "0" * 32, WEBHOOK])
async def test_who_guesses_is_sent_away_and_strava_is_not(eve: httpx.AsyncClient, world: World, path: str) -> None:
    """The attack: guessing the id of the subscription as fast as possible."""
    guesses = [await eve.post(path, json=an_event(subscription_id=guess)) for guess in range(GUESSES + 40)]
    refused = 404 if path != WEBHOOK else 403
    assert Counter(response.status_code for response in guesses) == {refused: GUESSES, 429: 40}
    assert (guesses[-1].json()["code"], guesses[-1].headers["Retry-After"]) == ("rate_limited", "1")
    assert (await eve.post(WEBHOOK, json=an_event())).status_code == 200
    world.clock.advance(1)
    assert (await eve.post(path, json=an_event(subscription_id=1))).status_code == refused
    assert waiting(world) == 1


# --- what an event may cost


async def test_events_of_strangers_are_not_even_queued(eve: httpx.AsyncClient, world: World) -> None:
    for stranger in range(20):
        response = await eve.post(WEBHOOK, json=an_event(owner_id=5_000 + stranger))
        assert (response.status_code, response.json()) == (200, {})
    assert (waiting(world), world.strava.requests) == (0, [])


async def test_an_athlete_with_too_many_events_has_to_wait_and_no_other(eve: httpx.AsyncClient, world: World) -> None:
    world.log_in(ATHLETE + 1)
    before = waiting(world)
    responses = [await eve.post(WEBHOOK, json=an_event(object_id=number)) for number in range(5)]
    assert [response.status_code for response in responses] == [200, 200, 200, 429, 429]
    assert responses[-1].headers["Retry-After"] == "100"
    assert (await eve.post(WEBHOOK, json=an_event(owner_id=ATHLETE + 1))).status_code == 200
    assert waiting(world) == before + 4
    world.clock.advance(100)
    assert (await eve.post(WEBHOOK, json=an_event())).status_code == 200


@pytest.mark.req("C06")
def test_forged_events_of_one_athlete_leave_the_others_their_reads(world: World) -> None:
    """The attack: 260 events of one athlete, which would use up the 200 reads of all athletes together."""
    queue_events(world, 260)
    world.work()
    assert reads(world) == LOOKS_PER_QUARTER
    world.log_in(ATHLETE + 1)
    world.work()
    assert world.connection.backfill is not None
    assert world.connection.backfill.finished


@pytest.mark.req("C06")
def test_what_is_over_the_share_waits_and_is_not_lost(world: World) -> None:
    for activity in range(LOOKS_PER_QUARTER + 10):
        world.strava.train(activity)
    queue_events(world, LOOKS_PER_QUARTER + 10)
    world.work()
    assert len(world.workouts) == LOOKS_PER_QUARTER
    assert work_once(world.db, world.tools) == 0
    world.clock.advance(QUARTER)
    world.work()
    assert (len(world.workouts), waiting(world)) == (LOOKS_PER_QUARTER + 10, 0)


def test_forged_withdrawals_have_the_same_share() -> None:
    with new_world() as world:
        world.log_in()
        world.strava.requests.clear()
        for _ in range(LOOKS_PER_QUARTER):
            world.do(process_event(world.app, revocation(world.clock())))
        with pytest.raises(TryLater) as later:
            world.do(process_event(world.app, revocation(world.clock())))
        assert (reads(world), later.value.seconds) == (LOOKS_PER_QUARTER, QUARTER - world.clock() % QUARTER)


def test_a_day_has_a_share_of_its_own() -> None:
    with new_world() as world:
        world.log_in()
        tickets = [_look(world) for _ in range(LOOKS_PER_DAY)]
        assert tickets == sorted(set(tickets))
        with pytest.raises(TryLater) as later:
            world.do(take_look(world.app, world.user_id))
        world.clock.advance(later.value.seconds)
        assert world.clock() % 86_400 == 0
        assert world.do(take_look(world.app, world.user_id)) == tickets[-1] + 1


def test_a_day_ends_also_where_a_quarter_of_an_hour_has_more() -> None:
    with new_world() as world:
        world.log_in()
        quarter = int(world.clock()) // QUARTER
        today = {"quarter": quarter, "looks": 1, "looks_today": LOOKS_PER_DAY}
        world.db.run(put(Tickets(user_id=world.user_id, issued=LOOKS_PER_DAY, **today)))
        with pytest.raises(TryLater) as later:
            world.do(take_look(world.app, world.user_id))
        assert (world.clock() + later.value.seconds) % 86_400 == 0


def _look(world: World) -> int:
    """Count a read, in the next quarter of an hour if this one has none left, and return its ticket."""
    try:
        ticket: int = world.do(take_look(world.app, world.user_id))
    except TryLater as later:
        world.clock.advance(later.seconds)
        ticket = world.do(take_look(world.app, world.user_id))
    return ticket


def test_who_opens_a_quarter_of_an_hour_too_late_tries_again_soon() -> None:
    with new_world() as world:
        world.log_in()
        first: list[int] = []

        def open_first() -> None:
            first.append(world.do(take_look(world.app, world.user_id)))

        with pytest.raises(TryLater) as later:
            overtaken(world.db, take_look(world.app, world.user_id), open_first, nth=2)
        assert later.value.seconds == 1
        assert world.do(take_look(world.app, world.user_id)) == first[0] + 1


def test_nobody_looks_for_a_user_who_is_gone() -> None:
    with new_world() as world, pytest.raises(ItemMissing):
        world.do(take_look(world.app, "nobody"))


# --- the buckets


def test_a_bucket_has_room_for_some_at_once_and_then_one_at_a_time() -> None:
    buckets = TokenBuckets(2, 10.0)
    assert [buckets.take("a", 0.0) for _ in range(4)] == [0.0, 0.0, 10.0, 10.0]
    assert [buckets.take("a", 9.0), buckets.take("a", 10.0), buckets.take("a", 10.0)] == [1.0, 0.0, 10.0]
    assert [buckets.take("b", 10.0), buckets.take("a", 1_000.0)] == [0.0, 0.0]


def test_as_many_names_are_remembered_as_there_is_room_for() -> None:
    buckets = TokenBuckets(1, 10.0, max_names=2)
    assert [buckets.take(name, 0.0) for name in "abab"] == [0.0, 0.0, 10.0, 10.0]
    assert [buckets.take(name, 0.0) for name in "cba"] == [0.0, 10.0, 0.0]
