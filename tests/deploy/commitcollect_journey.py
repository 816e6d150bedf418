"""A journey through CommitCollect: a user signs in, trains, collects parts, and finally deletes the account."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from msgspec.structs import replace
from tests.deploy.asking import ok
from tests.deploy.running import Journey, Visit
from tests.services.commitcollect.strava_model import ATHLETE, SUBSCRIPTION, StravaModel
from tests.services.commitcollect.world import SETTINGS, WEBHOOK, tools_of

from partita import Session
from partita.queue import Create, Send
from partita.recipes.web_sessions import new_session_id
from partita.service import Installation
from partita.testing import FakeClock
from partita_services.commitcollect.bootstrap import NOTICE_POLICY, NOTICE_QUEUE, POLICY, QUEUE
from partita_services.commitcollect.collectibles.definition import bundled
from partita_services.commitcollect.collectibles.loading import load_model
from partita_services.commitcollect.signin.sessions import SESSIONS
from partita_services.commitcollect.work import Tools

SITE = "https://service.test/commitcollect"
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
MILESTONE = {
    "title": "Run 2 km",
    "model_id": "lighthouse",
    "metric": "distance",
    "target": 2_000,
    "starts_on": "2025-12-25",
    "ends_on": "2026-01-05",
}


def commitcollect(clock: FakeClock) -> Journey:
    """Return the journey, with its own model of Strava."""
    strava = StravaModel(clock)

    @contextmanager
    def opened(installation: Installation) -> Iterator[Tools]:
        with (
            closing(installation.open_queue(QUEUE, POLICY)) as queue,
            closing(installation.open_queue(NOTICE_QUEUE, NOTICE_POLICY)) as notices,
        ):
            for each in (queue, notices):
                each.execute(Create())
            yield replace(tools_of(clock, queue, strava), notices=notices)

    async def walk(visit: Visit) -> None:
        await _log_in(visit)
        visit.work()
        await _train_and_collect(visit, strava)
        await _change_milestones(visit)
        await _lose_and_find_strava(visit, strava)
        await _operate(visit)
        await _disconnect(visit)
        await ok(visit.api, "POST", f"{SITE}/auth/logout")
        await _log_in(visit)
        user_id = (await ok(visit.api, "GET", "/me"))["user_id"]
        await ok(visit.api, "DELETE", "/me")
        visit.db.run(SESSIONS.create(new_session_id(), user_id))  # as another browser could have done just before
        visit.work()

    return Journey(walk, prepare=_fill_the_catalogue, opened=opened)


def _fill_the_catalogue(db: Session) -> None:
    for definition in bundled():
        db.run(load_model(definition))


async def _log_in(visit: Visit) -> None:
    leaving = await visit.api.get(f"{SITE}/auth/login")
    (state,) = parse_qs(urlsplit(leaving.headers["Location"]).query)["state"]
    back = {"state": state, "code": f"code-{ATHLETE}", "scope": "read,activity:read"}
    arrived = await visit.api.get(f"{SITE}/auth/callback", params=back)
    assert "problem" not in arrived.headers["Location"], arrived.headers["Location"]


async def _train_and_collect(visit: Visit, strava: StravaModel) -> None:
    handshake = {"hub.mode": "subscribe", "hub.challenge": "c", "hub.verify_token": SETTINGS.verify_token}
    await ok(visit.api, "GET", f"{SITE}{WEBHOOK}", params=handshake)
    milestone = await _commit(visit, headers={"Idempotency-Key": "k"})
    for number in (1, 2, 3):
        strava.train(number)
        await _strava_says(visit, number, "create")
    for queue in visit.queues.values():
        queue.execute(Send("nobody can read this", "group", "poison"))
    visit.clock.advance(MINUTE)  # only settled events are recorded as processed
    visit.work()
    await _commit(visit)  # earlier workouts already reach its target
    await ok(visit.api, "GET", "/audit", params={"correlation_id": "c"})
    await ok(visit.api, "GET", "/audit", params={"event_type": "logged_in", "month": "202601"})
    await ok(visit.api, "GET", "/awards", params={"milestone_id": milestone})
    for path in (
        "/me",
        "/me/data",
        "/milestones",
        f"/milestones/{milestone}",
        "/workouts",
        "/awards",
        "/models",
        "/audit",
    ):
        await ok(visit.api, "GET", path)


async def _change_milestones(visit: Visit) -> None:
    milestone = await _commit(visit, target=1_000_000)
    await ok(visit.api, "PATCH", f"/milestones/{milestone}", json={"version": 1, "title": "Run far"})
    await ok(visit.api, "PATCH", f"/milestones/{milestone}", json={"version": 2, "status": "CANCELLED"})
    await _commit(visit, target=1_000_000)
    visit.clock.advance(20 * DAY)  # past the end of that milestone
    await _strava_says(visit, 1, "update")
    visit.work()


async def _lose_and_find_strava(visit: Visit, strava: StravaModel) -> None:
    await _strava_says(visit, 3, "delete")
    visit.work()
    strava.revoke()
    await _strava_says(visit, 1, "update")
    visit.work()
    await _log_in(visit)
    await ok(visit.api, "POST", "/sync")
    visit.work()
    strava.open_at = datetime.fromtimestamp(visit.clock() + 60, UTC)
    await _strava_says(visit, 1, "update")
    visit.work()
    visit.clock.advance(HOUR)
    strava.revoke()
    await _strava_says(visit, ATHLETE, "update", object_type="athlete", updates={"authorized": "false"})
    visit.work()


async def _operate(visit: Visit) -> None:
    kite = bundled()[0]
    content = kite.model_dump(mode="json", exclude={"model_id"})
    for _ in range(2):
        await ok(visit.api, "PUT", "/models/kite", json=content)
    await ok(visit.api, "GET", "/models/kite/picture")
    await ok(visit.api, "POST", "/models/kite/retire")


async def _disconnect(visit: Visit) -> None:
    await _log_in(visit)
    visit.work()
    await ok(visit.api, "DELETE", "/me/connection")
    visit.work()
    await ok(visit.api, "POST", f"{SITE}/auth/logout-everywhere")
    await _log_in(visit)


async def _commit(visit: Visit, headers: dict[str, str] | None = None, **changes: Any) -> str:
    created = await ok(visit.api, "POST", "/milestones", json={**MILESTONE, **changes}, headers=headers)
    milestone_id: str = created["milestone_id"]
    return milestone_id


async def _strava_says(visit: Visit, number: int, aspect: str, **more: Any) -> None:
    fields = {
        "object_type": "activity",
        "object_id": number,
        "aspect_type": aspect,
        "owner_id": ATHLETE,
        "subscription_id": SUBSCRIPTION,
        "event_time": int(visit.clock()),
        "updates": {},
    }
    await ok(visit.api, "POST", f"{SITE}{WEBHOOK}", json={**fields, **more})
