"""A service as it runs: its routes and its workers on stores and queues that may be behind policies."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct

from partita import AsyncSession, Meter, Session
from partita.app import build_app
from partita.change import Consumer
from partita.http import AppState, Caller, Identity, Role
from partita.queue import Queue, QueuePolicy
from partita.queue.embedded import EmbeddedQueue
from partita.service import Installation, OpenProjection, Service, WorkerContext
from partita.store import Store
from partita.testing import FakeClock

IDENTITY = Identity(b"k" * 32)
OPERATOR = Caller("ann", Role.OPERATOR)
BASE = "https://service.test"
ROUNDS = 5

Gate = Callable[[Queue], Queue]
"""Gives a queue as a role sees it."""


class Visit(Struct, frozen=True):
    """What a journey through a service has at hand."""

    api: httpx.AsyncClient
    clock: FakeClock
    work: Callable[[], None]
    """Lets a worker do what there is to do."""
    db: Session
    """Runs what must have happened elsewhere, behind no policy."""
    queues: dict[str, Queue]
    """The same for messages."""


def _nothing(db: Session) -> None:
    """Nothing has to be there before."""


class Journey(Struct, frozen=True):
    """Calls to every route of a service, in the ways that reach every access pattern behind them, and its work."""

    walk: Callable[[Visit], Awaitable[None]]
    prepare: Callable[[Session], None] = _nothing
    """Writes what must be there before."""
    opened: Callable[[Installation], AbstractContextManager[Any]] | None = None
    """Opens what the service uses, instead of what it would open itself."""


class Site(Struct, frozen=True):
    """Where a service runs: what it has besides its store."""

    folder: Path
    clock: FakeClock
    queues: dict[str, Queue] = {}

    @contextmanager
    def resources(self, service: Service, journey: Journey, gate: Gate = lambda queue: queue) -> Iterator[Any]:
        """What the service opens, with queues behind a gate; None where it opens nothing."""
        opening = journey.opened or service.resources
        if opening is None:
            yield None
            return
        with opening(self._installation(gate)) as opened:
            yield opened

    @contextmanager
    def projection(self, service: Service, store: Store) -> Iterator[OpenProjection | None]:
        """The service's projection, filled from a store; None where it has none."""
        if service.projection is None:
            yield None
            return
        with closing(service.projection.open(self.folder / "projection.db")) as sink:
            consumer = Consumer(store, service.projection.table, sink, clock=self.clock, pause=self.clock.advance)
            consumer.catch_up()
            yield OpenProjection(sink, consumer)

    @asynccontextmanager
    async def client(
        self,
        service: Service,
        store: Store,
        resources: Any = None,
        projection: OpenProjection | None = None,
        meter: Meter | None = None,
    ) -> AsyncIterator[httpx.AsyncClient]:
        """Calls the service's API as an operator."""
        session = AsyncSession(store, clock=self.clock, secret=b"fake", strict_budgets=True, meter=meter)
        projections = {service.name: projection} if projection else {}
        app = build_app([service], AppState(session, IDENTITY, {service.name: resources}, projections))
        headers = {"Authorization": f"Bearer {IDENTITY.token(OPERATOR)}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url=f"{BASE}/{service.name}/api", headers=headers
        ) as client:
            yield client

    def session(self, store: Store, meter: Meter | None = None) -> Session:
        """A session that waits by the clock of the test."""
        wait = self.clock.advance
        return Session(store, clock=self.clock, secret=b"fake", strict_budgets=True, meter=meter, sleep=wait)

    def worker(
        self, service: Service, store: Store, resources: Any = None, meter: Meter | None = None
    ) -> Callable[[], None]:
        """A function that lets a worker of the service run for some rounds."""
        session = self.session(store, meter)

        def work() -> None:
            if service.worker is not None:
                service.worker(WorkerContext(session, resources, "worker", _After(ROUNDS)))

        return work

    def _installation(self, gate: Gate) -> Installation:
        def opened(name: str, policy: QueuePolicy) -> Queue:
            path = self.folder / f"{name}.db"
            queue = EmbeddedQueue(path, name, policy=policy, clock=self.clock, durable=False, sleep=self.clock.advance)
            self.queues[name] = queue
            return gate(queue)

        return Installation(self.folder, lambda purpose: hashlib.sha256(purpose.encode()).digest(), opened, BASE)


class _After(threading.Event):
    """Is set after it was asked so often."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self._rounds = rounds

    def is_set(self) -> bool:
        self._rounds -= 1
        return self._rounds < 0

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 - a worker that has nothing to do goes on
        return False
