"""Every limit of the service, from both sides: the largest allowed value is accepted, and the next is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.services.commitcollect.test_http import DRAFT, strava_says
from tests.services.commitcollect.world import TRACE, WEBHOOK, World

from partita.testing import FakeClock
from partita_services.commitcollect.collectibles.model import MAX_MODELS, MAX_PARTS, MAX_PICTURE
from partita_services.commitcollect.jobs import (
    announcing,
    backfill,
    ingest,
    looks,
    subscription,
    webhook_limits,
    worker,
)
from partita_services.commitcollect.jobs.backfill import start_backfill
from partita_services.commitcollect.milestones import awarding
from partita_services.commitcollect.model import MAX_ACTIVE, MAX_CHECKED, MAX_WORKOUTS, PER_TRANSACTION
from partita_services.commitcollect.signin.limits import LIMITS
from partita_services.commitcollect.strava import client, settings, tokens
from partita_services.commitcollect.strava.model import RateLimit, save_limit

FIGURES = {
    "models": (MAX_MODELS, 100),
    "parts of a model": (MAX_PARTS, 24),
    "bytes of a picture": (MAX_PICTURE, 60_000),
    "active milestones of a user": (MAX_ACTIVE, 100),
    "active milestones that are checked": (MAX_CHECKED, 1_000),
    "workouts that are inspected": (MAX_WORKOUTS, 3_000),
    "workouts and a check in a transaction": (PER_TRANSACTION, 24),
    "days of grace": (awarding.GRACE, timedelta(days=3)),
    "tries to award": (awarding.MAX_TRIES, 20),
    "days that a backfill reads": (backfill.REACH, timedelta(days=30)),
    "activities of a page": (backfill.PER_PAGE, 100),
    "pages of a backfill": (backfill.MAX_PAGES, 30),
    "seconds until an event is settled": (ingest.SETTLED_SECONDS, 5),
    "days that a deletion is remembered": (ingest.GONE_FOR, timedelta(days=1)),
    "a quarter of an hour": (looks.QUARTER, 900),
    "quarters of a day": (looks.QUARTERS_PER_DAY, 96),
    "seconds until a look that met another is tried again": (looks.BUSY_SECONDS, 1.0),
    "minutes that clocks differ by": (subscription.CLOCKS_DIFFER, timedelta(minutes=1)),
    "reads that events of an athlete lead to in a quarter": (webhook_limits.LOOKS_PER_QUARTER, 50),
    "and in a day": (webhook_limits.LOOKS_PER_DAY, 500),
    "requests at once that are not Strava's": (webhook_limits.GUESSES, 60),
    "events of an athlete at once": (webhook_limits.EVENTS, 500),
    "athletes whose events are counted": (webhook_limits.MAX_NAMES, 10_000),
    "seconds of a day": (webhook_limits.SECONDS_PER_DAY, 86_400),
    "seconds until the job of a dead worker comes again": (worker.VISIBLE_AFTER, 60.0),
    "seconds until a job that failed is tried again, at most": (worker.MAX_PAUSE, 900.0),
    "seconds between two looks for notices": (announcing.EVERY, timedelta(seconds=10)),
    "requests of a user at once": (LIMITS.rate.burst, 600),
    "and in a second": (LIMITS.rate.per_second, 100),
    "seconds that a token is refreshed early": (tokens.EARLY_SECONDS, 300),
    "milliseconds of a claim to refresh": (tokens.LEASE_MS, 30_000),
    "seconds that Strava may take": (client.TIMEOUT_SECONDS, 10.0),
    "bytes of a key": (settings.KEY_BYTES, 32),
    "hexadecimal digits of the webhook's address": (settings.WEBHOOK_KEY_LENGTH, 32),
}
"""The figures that the documentation of the service states: a change to one requires a change to these pages."""


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_what_the_pages_say(name: str) -> None:
    actual, promised = FIGURES[name]
    assert actual == promised


@pytest.mark.req("C10")
@pytest.mark.parametrize(
    ("field", "most", "more"),
    [
        ("title", "t" * 100, "t" * 101),
        ("title", "t", " "),
        ("target", 1_000_000_000, 1_000_000_001),
        ("target", 1, 0),
        ("sport_types", ["Run"] * 20, ["Run"] * 21),
        ("sport_types", ["R" * 40], ["R" * 41]),
        ("ends_on", "2026-12-25", "2026-12-26"),
        ("ends_on", "2025-12-25", "2025-12-24"),
    ],
)
async def test_a_milestone_is_bounded(browser: httpx.AsyncClient, field: str, most: Any, more: Any) -> None:
    for value, status in ((most, 201), (more, 422)):
        response = await browser.post("/api/milestones", json={**DRAFT, field: value})
        assert response.status_code == status, response.text


@pytest.mark.req("C10")
async def test_the_last_day_that_there_is(browser: httpx.AsyncClient) -> None:
    last = date(9998, 12, 31)
    for day, status in ((last, 201), (last + timedelta(days=1), 422)):
        days = {"starts_on": "9998-12-01", "ends_on": day.isoformat()}
        assert (await browser.post("/api/milestones", json={**DRAFT, **days})).status_code == status


@pytest.mark.req("C04")
@pytest.mark.parametrize(
    ("field", "most", "more"),
    [
        ("object_type", "o" * 40, "o" * 41),
        ("aspect_type", "a" * 40, "a" * 41),
        *((name, 2**63 - 1, 2**63) for name in ("object_id", "owner_id", "event_time")),
        *((name, 0, -1) for name in ("object_id", "owner_id", "event_time")),
        ("updates", {f"u{number}": 1 for number in range(20)}, {f"u{number}": 1 for number in range(21)}),
        ("updates", {"title": "t" * 1_000}, {"title": "t" * 1_001}),
    ],
)
async def test_an_event_is_bounded(
    browser: httpx.AsyncClient, connected: World, field: str, most: Any, more: Any
) -> None:
    for value, status in ((most, 200), (more, 422)):
        event = {**strava_says(1, "create", connected), field: value}
        assert (await browser.post(WEBHOOK, json=event)).status_code == status


@pytest.mark.req("C04")
@pytest.mark.parametrize(("number", "status"), [(-1, 422), (0, 403), (2**63 - 1, 403), (2**63, 422)])
async def test_a_subscription_is_bounded(
    browser: httpx.AsyncClient, connected: World, number: int, status: int
) -> None:
    event = {**strava_says(1, "create", connected), "subscription_id": number}
    assert (await browser.post(WEBHOOK, json=event)).status_code == status


@pytest.mark.req("C22")
@pytest.mark.parametrize(
    ("path", "most", "more"),
    [
        ("/api/milestones/{}", "m" * 64, "m" * 65),
        ("/api/awards?milestone_id={}", "m" * 64, "m" * 65),
        ("/api/awards?milestone_id={}", "m", ""),
        ("/api/audit?correlation_id={}", "c" * 64, "c" * 65),
        ("/api/audit?correlation_id={}", "c", ""),
        ("/api/audit?month=202601&event_type={}", "e" * 40, "e" * 41),
        ("/api/models/{}/picture", "m" * 40, "m" * 41),
    ],
)
async def test_a_parameter_is_bounded(browser: httpx.AsyncClient, path: str, most: str, more: str) -> None:
    assert (await browser.get(path.format(most))).status_code in (200, 404)
    assert (await browser.get(path.format(more))).status_code == 422


@pytest.mark.req("C20")
async def test_a_session_ends_when_it_was_idle_for_eight_hours_and_after_seven_days(
    browser: httpx.AsyncClient, fake_clock: FakeClock, embedded: object
) -> None:
    async def lives() -> bool:
        return (await browser.get("/api/me")).status_code == 200

    hour = 3_600
    fake_clock.advance(8 * hour - 1)
    assert await lives()
    for _ in range(22):
        fake_clock.advance(7 * hour)
        assert await lives()
    fake_clock.advance(7 * 24 * hour - (8 + 22 * 7) * hour)
    assert await lives()
    fake_clock.advance(1)
    assert not await lives()


@pytest.mark.req("C01")
@pytest.mark.parametrize(("seconds", "expected"), [(599, None), (600, "state_invalid")])
async def test_a_login_may_take_ten_minutes(
    stranger: httpx.AsyncClient, fake_clock: FakeClock, embedded: object, seconds: int, expected: str | None
) -> None:
    leaving = await stranger.get("/auth/login")
    state = leaving.headers["Location"].rpartition("state=")[2]
    fake_clock.advance(seconds)
    back = {"state": state, "code": "code-1001", "scope": "read,activity:read"}
    arrived = (await stranger.get("/auth/callback", params=back)).headers["Location"]
    assert arrived.partition("problem=")[2] == (expected or "")


@pytest.mark.req("C06")
@pytest.mark.parametrize(("seconds", "is_waiting"), [(-1, False), (0, False), (1, True)])
async def test_a_limit_of_strava_is_shown_until_it_is_over(
    browser: httpx.AsyncClient,
    connected: World,
    seconds: int,
    is_waiting: bool,  # noqa: FBT001
) -> None:
    connected.do(start_backfill(connected.app, connected.connection, TRACE))
    open_at = datetime.fromtimestamp(connected.clock() + seconds, UTC)
    connected.db.run(save_limit(RateLimit(client_id=connected.app.settings.client_id, open_at=open_at)))
    shown = (await browser.get("/api/me")).json()["connection"]["backfill"]["waiting_until"]
    assert (shown is not None) is is_waiting
