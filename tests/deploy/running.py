"""A running service: its routes and workers, on stores and queues that may be behind policies."""

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
"""Returns a queue as a role sees it."""


class Visit(Struct, frozen=True):
    """The objects that a journey through a service uses."""

    api: httpx.AsyncClient
    clock: FakeClock
    work: Callable[[], None]
    """Runs a worker, which does all pending work."""
    db: Session
    """A session without a policy, for what other programs would write."""
    queues: dict[str, Queue]
    """The queues without a policy, by name."""


def _nothing(db: Session) -> None:
    """Do nothing, because the journey needs no prepared items."""


class Journey(Struct, frozen=True):
    """Calls to every route of a service that use every access pattern of the routes, and the work of its worker."""

    walk: Callable[[Visit], Awaitable[None]]
    prepare: Callable[[Session], None] = _nothing
    """Writes the items that the journey needs."""
    opened: Callable[[Installation], AbstractContextManager[Any]] | None = None
    """Opens the resources of the service, in place of the service's own function."""


class Site(Struct, frozen=True):
    """The environment in which a service runs, except its store."""

    folder: Path
    clock: FakeClock
    queues: dict[str, Queue] = {}

    @contextmanager
    def resources(self, service: Service, journey: Journey, gate: Gate = lambda queue: queue) -> Iterator[Any]:
        """Open the service's resources, with queues behind a gate; yield None if the service has none."""
        opening = journey.opened or service.resources
        if opening is None:
            yield None
            return
        with opening(self._installation(gate)) as opened:
            yield opened

    @contextmanager
    def projection(self, service: Service, store: Store) -> Iterator[OpenProjection | None]:
        """Open the service's projection, filled from a store; yield None if the service has none."""
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
        """Open a client that calls the service's API as an operator."""
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
        """Return a session that waits by advancing the test's clock."""
        wait = self.clock.advance
        return Session(store, clock=self.clock, secret=b"fake", strict_budgets=True, meter=meter, sleep=wait)

    def worker(
        self, service: Service, store: Store, resources: Any = None, meter: Meter | None = None
    ) -> Callable[[], None]:
        """Return a function that runs a worker of the service for some rounds."""
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
    """An event that is set after it was checked a number of times."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self._rounds = rounds

    def is_set(self) -> bool:
        self._rounds -= 1
        return self._rounds < 0

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 - an idle worker does not wait
        return False
