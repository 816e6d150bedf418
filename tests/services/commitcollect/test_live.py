"""Live changes: server-sent events about a user's data, until the session ends."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.services.commitcollect.world import new_world
from tests.services.news import heard, state_of

from partita import AsyncSession
from partita.app import build_app
from partita.change import Consumer
from partita.http import AppState, Identity
from partita.service import OpenProjection
from partita_services.commitcollect import live
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.live import UserChanges
from partita_services.commitcollect.model import TABLE
from partita_services.commitcollect.signin.browser import SECURE
from partita_services.commitcollect.signin.sessions import SESSIONS

pytestmark = pytest.mark.req("C31")


async def test_workouts_and_parts_are_told_until_the_session_ends(
    identity: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_world() as world, closing(UserChanges(tmp_path / "projection.db")) as sink:
        world.log_in()
        projection = OpenProjection(sink, Consumer(world.db.store, TABLE, sink, clock=world.clock))
        projection.consumer.catch_up()
        session = AsyncSession(world.db.store, clock=world.clock, secret=b"fake")
        state = AppState(session, identity, {SERVICE.name: world.tools}, {SERVICE.name: projection})
        transport = httpx.ASGITransport(build_app([SERVICE], state))
        session_id = world.log_in()
        projection.consumer.catch_up()
        async with httpx.AsyncClient(transport=transport, base_url="https://collect.test/commitcollect/api") as api:
            api.cookies.set(SECURE, session_id, domain="collect.test", path="/")
            news = await heard(api, monkeypatch, "/stream", world.commit, projection.consumer.catch_up)
            assert [(event, data.get("what")) for event, data in news] == [
                ("ready", None),
                ("change", "milestones"),
                ("change", "me"),  # it counts the milestones
            ]
            monkeypatch.setattr(live, "LOOKS", 1)
            left = await heard(api, monkeypatch, "/stream", lambda: world.db.run(SESSIONS.end(session_id)), *[list] * 9)
            assert [event for event, _ in left] == ["ready"]
            assert not state_of(api).stopping.is_set()  # the stream ended before the server
            assert (await api.get("/stream")).status_code == 401
