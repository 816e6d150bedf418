"""A service as it is served: on a store that may be behind a policy, with what it opens and keeps up beside it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct

from partita import AsyncSession, Meter
from partita.change import Consumer
from partita.http import Caller, Identity, Role, build_app
from partita.queue import open_queue
from partita.service import Place, Projected, Service
from partita.store import Store
from partita.testing import FakeClock

IDENTITY = Identity(b"k" * 32)
OPERATOR = Caller("ann", Role.OPERATOR)
BASE = "https://service.test"


class Installation(Struct, frozen=True):
    """What a service has besides its store."""

    folder: Path
    clock: FakeClock

    @contextmanager
    def resources(self, service: Service) -> Iterator[Any]:
        """What the service opens; None where it opens nothing."""
        if service.resources is None:
            yield None
            return
        with service.resources(self._place()) as opened:
            yield opened

    @contextmanager
    def projected(self, service: Service, store: Store) -> Iterator[Projected | None]:
        """The service's projection, filled from a store; None where it has none."""
        if service.projection is None:
            yield None
            return
        with closing(service.projection.open(self.folder / "projection.db")) as sink:
            consumer = Consumer(store, service.projection.table, sink, clock=self.clock, pause=self.clock.advance)
            consumer.catch_up()
            yield Projected(sink, consumer)

    @asynccontextmanager
    async def client(
        self,
        service: Service,
        store: Store,
        resources: Any = None,
        projected: Projected | None = None,
        meter: Meter | None = None,
    ) -> AsyncIterator[httpx.AsyncClient]:
        """Calls the service's API as an operator."""
        app = build_app(
            [service],
            AsyncSession(store, clock=self.clock, secret=b"fake", strict_budgets=True, meter=meter),
            IDENTITY,
            projected={service.name: projected} if projected else None,
            resources={service.name: resources},
        )
        headers = {"Authorization": f"Bearer {IDENTITY.token(OPERATOR)}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url=f"{BASE}/{service.name}/api", headers=headers
        ) as client:
            yield client

    def _place(self) -> Place:
        return Place(
            self.folder,
            lambda purpose: hashlib.sha256(purpose.encode()).digest(),
            lambda name, policy: open_queue(str(self.folder), name, policy),
            BASE,
        )
