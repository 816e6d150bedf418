"""The rate limit: a user who sends too many requests has to wait; the session cookie identifies the user."""

from __future__ import annotations

import httpx
from tests.services.commitcollect.world import new_world

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Identity
from partita.recipes.rate_limit import Rate
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.signin.browser import SECURE


async def test_a_browser_that_sends_too_much_is_told_when_to_try_again() -> None:
    with new_world() as world:
        session = AsyncSession(world.db.store, clock=world.clock, secret=b"fake", strict_budgets=True)
        state = AppState(
            session, Identity(b"k" * 32), {SERVICE.name: world.tools}, rate_limit=Rate(burst=2, per_second=0.1)
        )
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(build_app([SERVICE], state)), base_url="https://collect.test/commitcollect"
        ) as browser:
            assert [(await browser.get("/api/me")).status_code for _ in range(3)] == [401, 401, 401]
            browser.cookies.set(SECURE, world.log_in(), domain="collect.test", path="/")
            responses = [await browser.get("/api/me") for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert (responses[2].json()["code"], responses[2].headers["Retry-After"]) == ("rate_limited", "10")
