"""A console for the To-Do service with its sample data, and a client that calls it as an operator."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from partita import AsyncSession, EmbeddedStore
from partita.app import build_app
from partita.change import Consumer
from partita.http import AppState, Caller, Identity, Role
from partita.queue import Queue, QueuePolicy, open_queue
from partita.service import OpenProjection
from partita.testing import FakeClock, FaultyStore
from partita_services.todo.bootstrap import SERVICE
from partita_services.todo.model import TABLE
from partita_services.todo.projection import TaskProjection


@pytest.fixture
def identity() -> Identity:
    return Identity(b"k" * 32)


@pytest.fixture
def store(partita_store: EmbeddedStore) -> FaultyStore:
    """A store that records the requests it receives."""
    return FaultyStore(partita_store)


@pytest.fixture
async def session(store: FaultyStore, fake_clock: FakeClock) -> AsyncSession:
    session = AsyncSession(store, clock=fake_clock, secret=b"fake")
    await session.create_tables(SERVICE.tables)
    for step in SERVICE.seed(fake_clock()) if SERVICE.seed else ():
        await AsyncSession(store, clock=fake_clock).run(step)
    store.requests.clear()
    return session


@pytest.fixture
def projection(partita_store: EmbeddedStore, fake_clock: FakeClock, tmp_path: Path) -> Iterator[OpenProjection]:
    with closing(TaskProjection(tmp_path / "projection.db")) as sink:
        yield OpenProjection(sink, Consumer(partita_store, TABLE, sink, clock=fake_clock))


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with closing(open_queue(tmp_path, "errands", QueuePolicy())) as queue:
        yield queue


@pytest.fixture
def app(session: AsyncSession, identity: Identity, projection: OpenProjection, queue: Queue) -> FastAPI:
    state = AppState(session, identity, projections={"todo": projection}, queues={"errands": queue})
    return build_app([SERVICE], state)


@pytest.fixture
async def client(app: FastAPI, identity: Identity) -> AsyncIterator[httpx.AsyncClient]:
    """A client that calls the app as the operator `ada`."""
    headers = {"Authorization": f"Bearer {identity.token(Caller('ada', Role.OPERATOR))}"}
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        yield client
