"""A client of the countries API, on an empty store with the fake clock."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Caller, Identity, Role
from partita.testing import FakeClock, FaultyStore
from partita_services.countries.bootstrap import SERVICE


@pytest.fixture
async def api(store: FaultyStore, fake_clock: FakeClock, identity: Identity) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API, authorized as the operator `ada`; exceeding a budget raises."""
    session = AsyncSession(store, clock=fake_clock, secret=b"fake", strict_budgets=True)
    await session.create_tables(SERVICE.tables)
    transport = httpx.ASGITransport(build_app([SERVICE], AppState(session, identity)))
    headers = {"Authorization": f"Bearer {identity.token(Caller('ada', Role.OPERATOR))}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://test/countries/api", headers=headers) as client:
        yield client
