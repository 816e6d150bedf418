"""The events service on an empty store and empty queues, with the fake clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from partita import AsyncSession, Session
from partita.app import build_app
from partita.change import Consumer
from partita.http import AppState, Caller, Identity, Role
from partita.queue import Queue
from partita.queue.embedded import EmbeddedQueue
from partita.service import OpenProjection
from partita.store._interface import Store
from partita.testing import FakeClock, FaultyStore
from partita_services.events.bootstrap import SERVICE
from partita_services.events.changes.notices import POLICY as NOTICES_POLICY
from partita_services.events.changes.notices import QUEUE
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.model import TABLE
from partita_services.events.queueing.messages import NAME, POLICY
from partita_services.events.queueing.tools import Tools


@pytest.fixture
def queue(tmp_path: Path, fake_clock: FakeClock) -> Iterator[Queue]:
    """The queue of requests, with the fake clock."""
    path = tmp_path / "queue.db"
    with EmbeddedQueue(path, NAME, policy=POLICY, clock=fake_clock, durable=False, sleep=fake_clock.advance) as queue:
        yield queue


@pytest.fixture
def notices(tmp_path: Path, fake_clock: FakeClock) -> Iterator[Queue]:
    """The queue of notices, with the fake clock."""
    path = tmp_path / "notices.db"
    with EmbeddedQueue(path, QUEUE, policy=NOTICES_POLICY, clock=fake_clock, durable=False) as queue:
        yield queue


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    """A session; exceeding a budget raises, and waiting advances the fake clock."""
    session = Session(store, clock=fake_clock, secret=b"fake", strict_budgets=True, sleep=fake_clock.advance)
    session.create_tables([TABLE])
    return session


@pytest.fixture
def projection(partita_store: Store, fake_clock: FakeClock, tmp_path: Path) -> Iterator[OpenProjection]:
    """The projection of the figures; a test calls `projection.consumer.catch_up()` to read changes."""
    with closing(RequestProjection(tmp_path / "projection.db")) as sink:
        yield OpenProjection(sink, Consumer(partita_store, TABLE, sink, clock=fake_clock, pause=lambda _: None))


@pytest.fixture
async def api(
    db: Session,
    fake_clock: FakeClock,
    identity: Identity,
    projection: OpenProjection,
    queue: Queue,
    notices: Queue,
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API, authorized as the operator `ada`; exceeding a budget raises."""
    session = AsyncSession(db.store, clock=fake_clock, secret=b"fake", strict_budgets=True)
    app = build_app([SERVICE], AppState(session, identity, {"events": Tools(queue, notices)}, {"events": projection}))
    headers = {"Authorization": f"Bearer {identity.token(Caller('ada', Role.OPERATOR))}"}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test/events/api", headers=headers) as client:
        yield client
