"""CommitCollect's site with a browser that is signed in, on a store that records its requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

import httpx
import pytest
from msgspec.structs import replace
from tests.services.commitcollect.world import World, new_world

from partita import AsyncSession, EmbeddedStore
from partita.app import build_app
from partita.http import AppState, Identity
from partita.store import CreateTable, Request, Store
from partita.testing import FakeClock, FaultyStore
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.signin.browser import SECURE

SITE = "https://collect.test/commitcollect"

R = TypeVar("R")


class PatientStore(FaultyStore):
    """Creates tables without TTL, because a server would delete items by its own clock instead of the fake clock."""

    def execute(self, request: Request[R]) -> R:
        if isinstance(request, CreateTable):
            return super().execute(CreateTable(replace(request.schema, ttl=None)))  # type: ignore[return-value]
        return super().execute(request)


@pytest.fixture
def store(partita_store: Store) -> FaultyStore:
    """A store that records its requests."""
    return FaultyStore(partita_store) if isinstance(partita_store, EmbeddedStore) else PatientStore(partita_store)


@pytest.fixture
def connected(store: FaultyStore, fake_clock: FakeClock) -> Iterator[World]:
    """A world on the store of the test, in which nobody has signed in yet."""
    with new_world(store=store, clock=fake_clock) as world:
        yield world


@pytest.fixture
async def stranger(connected: World, store: FaultyStore, identity: Identity) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that is not signed in; exceeding a budget raises."""
    session = AsyncSession(store, clock=connected.clock, secret=b"fake", strict_budgets=True)
    app = build_app([SERVICE], AppState(session, identity, {SERVICE.name: connected.tools}))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=SITE) as client:
        yield client


@pytest.fixture
async def browser(connected: World, stranger: httpx.AsyncClient) -> httpx.AsyncClient:
    """A browser that is signed in, after the jobs of the sign-in."""
    stranger.cookies.set(SECURE, connected.log_in(), domain="collect.test", path="/")
    connected.work()
    return stranger
