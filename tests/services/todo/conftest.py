"""A client of the To-Do API, on an empty store with the fake clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from partita import AsyncSession
from partita.app import build_app
from partita.change import Consumer
from partita.http import AppState, Caller, Identity
from partita.service import OpenProjection
from partita.store._interface import Store
from partita.testing import FakeClock, FaultyStore
from partita_services.todo.bootstrap import SERVICE
from partita_services.todo.model import TABLE
from partita_services.todo.projection import TaskProjection


@pytest.fixture
def projection(partita_store: Store, fake_clock: FakeClock, tmp_path: Path) -> Iterator[OpenProjection[TaskProjection]]:
    """The projection of counts and search; a test calls `projection.consumer.catch_up()` to read changes."""
    with closing(TaskProjection(tmp_path / "projection.db")) as sink:
        yield OpenProjection(sink, Consumer(partita_store, TABLE, sink, clock=fake_clock, pause=lambda _: None))


@pytest.fixture
async def api(
    store: FaultyStore, fake_clock: FakeClock, identity: Identity, projection: OpenProjection
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API, authorized as the user `ann`; exceeding a budget raises."""
    session = AsyncSession(store, clock=fake_clock, secret=b"fake", strict_budgets=True)
    await session.create_tables(SERVICE.tables)
    transport = httpx.ASGITransport(build_app([SERVICE], AppState(session, identity, projections={"todo": projection})))
    headers = {"Authorization": f"Bearer {identity.token(Caller('ann'))}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://test/todo/api", headers=headers) as client:
        yield client
