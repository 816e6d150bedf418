"""The return from Strava: refused codes are reported, an athlete belongs to one user, and limits stop no login."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.services.commitcollect.strava_model import ATHLETE
from tests.services.commitcollect.world import TRACE, World, new_world

from partita import Transaction
from partita.runtime import run
from partita.store import ScanTable
from partita_services.commitcollect.model import TABLE, owner_of
from partita_services.commitcollect.signin.login import LoginRefused, Return, arrive
from partita_services.commitcollect.signin.sessions import SESSIONS, begin_login
from partita_services.commitcollect.strava.model import RateLimit, save_limit

pytestmark = pytest.mark.req("C01")


def coming_back(world: World, athlete: int, session_id: str = "") -> Any:
    """Return the work of a browser that comes back from Strava as an athlete."""
    state, browser = world.app.new_id() * 2, world.app.new_id() * 2
    world.db.run(begin_login(state, browser, int(world.clock())))
    scopes = frozenset({"read", "activity:read"})
    return arrive(world.app, Return(state, browser, f"code-{athlete}", scopes, session_id=session_id), TRACE)


def users(world: World) -> list[str]:
    """Return the ids of all users."""
    items = world.db.store.execute(ScanTable(TABLE.name)).items
    return [item["user_id"] for item in items if item["SK"] == "PROFILE"]


def test_a_code_that_strava_does_not_know_is_refused() -> None:
    with new_world() as world:
        world.db.run(begin_login("state" * 8, "browser" * 8, int(world.clock())))
        back = Return("state" * 8, "browser" * 8, "forged", frozenset({"read", "activity:read"}))
        with pytest.raises(LoginRefused, match="access_denied"):
            world.do(arrive(world.app, back, TRACE))


def test_who_logs_in_need_not_wait_for_reads() -> None:
    with new_world() as world:
        open_at = datetime.fromtimestamp(world.clock() + 100, UTC)
        world.db.run(save_limit(RateLimit(client_id=world.app.settings.client_id, open_at=open_at)))
        assert world.log_in()


@pytest.mark.parametrize("is_known", [True, False])
def test_a_user_who_is_logged_in_connects_no_other_athlete(*, is_known: bool) -> None:
    with new_world() as world:
        if is_known:
            world.log_in(ATHLETE + 1)
        session_id = world.log_in()
        before, connection = users(world), world.connection
        with pytest.raises(LoginRefused, match="athlete_taken"):
            world.do(coming_back(world, ATHLETE + 1, session_id))
        assert (users(world), world.connection) == (before, connection)
        assert world.db.run(SESSIONS.resolve(session_id)) is not None


def test_two_first_logins_of_an_athlete_at_once_make_one_user() -> None:
    with new_world() as world:
        sessions: list[str] = []

        def execute(request: Any) -> Any:
            if isinstance(request, Transaction) and not sessions:
                sessions.append(world.log_in())  # just before the other browser writes its user
            return world.do(_alone(request))

        with pytest.raises(LoginRefused, match="athlete_taken"):
            run(coming_back(world, ATHLETE), execute)
        owner = world.db.run(owner_of(str(ATHLETE)))
        assert owner is not None
        assert users(world) == [owner.user_id] == [world.user_id]


def _alone(request: Any) -> Generator[Any, Any, Any]:
    return (yield request)
