"""The return from Strava: a code that Strava refuses is reported, and its rate limit of reads stops no login."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.services.commitcollect.world import TRACE, new_world

from partita_services.commitcollect.signin.login import LoginRefused, Return, arrive
from partita_services.commitcollect.signin.sessions import begin_login
from partita_services.commitcollect.strava.model import RateLimit, save_limit

pytestmark = pytest.mark.req("C01")


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
