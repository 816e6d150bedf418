"""The To-Do API with a caller, on an empty store whose clock stands still."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

import httpx
import pytest

from partita import AsyncSession, EmbeddedStore
from partita.http import Caller, Identity, build_app
from partita.store._requests import Request
from partita.testing import FakeClock
from partita_services.todo.bootstrap import SERVICE

R = TypeVar("R")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def identity() -> Identity:
    return Identity(b"k" * 32)


class RecordingStore:
    """A store that remembers which requests it was sent."""

    def __init__(self, store: EmbeddedStore) -> None:
        self.store = store
        self.seen: list[type] = []

    def execute(self, request: Request[R]) -> R:
        self.seen.append(type(request))
        return self.store.execute(request)

    async def execute_async(self, request: Request[R]) -> R:
        self.seen.append(type(request))
        return await self.store.execute_async(request)

    def close(self) -> None:
        self.store.close()


@pytest.fixture
def store(partita_store: EmbeddedStore) -> RecordingStore:
    return RecordingStore(partita_store)


@pytest.fixture
async def api(store: RecordingStore, fake_clock: FakeClock, identity: Identity) -> AsyncIterator[httpx.AsyncClient]:
    """Calls the API as the user `ann`; going over a budget is an error."""
    session = AsyncSession(store, clock=fake_clock, secret=b"fake", strict_budgets=True)
    await session.create_tables(SERVICE.tables)
    transport = httpx.ASGITransport(build_app([SERVICE], session, identity))
    headers = {"Authorization": f"Bearer {identity.token(Caller('ann'))}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://test/todo/api", headers=headers) as client:
        yield client
