"""The state that the services of an app run with: a typed value for the app, and one for the routes of each service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Generic, Literal

from fastapi import Depends, FastAPI, Request
from msgspec import Struct, field
from typing_extensions import TypeVar

from partita import AsyncSession
from partita.change.shared import ShardReader
from partita.http._rate_limit import CallerLimiter
from partita.http.identity import Verifier
from partita.queue import Queue
from partita.recipes.rate_limit import Rate
from partita.reports import ReportReader, ServerFigures
from partita.service import OpenProjection, Service

R = TypeVar("R", default=Any)
T = TypeVar("T")


class ServiceState(Struct, Generic[R], frozen=True):
    """The state that one service runs with. `R` is the type of its resources (`Service.resources`)."""

    session: AsyncSession
    identity: Verifier
    resources: R
    projection: OpenProjection[Any] | None
    """None if this server does not read the changes of the service."""
    stopping: threading.Event
    """Set when the server stops, which ends responses that would otherwise never end."""
    limiter: CallerLimiter | None = None
    """Counts the requests of each caller; None if there is no limit."""
    _singletons: dict[Callable[..., Any], Any] = field(default_factory=dict)

    def singleton(self, make: Callable[[ServiceState[R]], T]) -> T:
        """Return the result of `make(self)`, which is called once, in the event loop, at the first request for it."""
        if make not in self._singletons:
            self._singletons[make] = make(self)
        made: T = self._singletons[make]
        return made


class Siblings:
    """The other processes of the same server. This base class is for a server of one process: there are none."""

    async def figures(self) -> ServerFigures:
        """Return the counts of the other processes, including those that have ended.

        Raises:
            StoreUnavailable: the other processes cannot be reached.
        """
        return ServerFigures()

    async def troubles(self) -> Mapping[str, str]:
        """Return the problems of the process that does the background work for all.

        Raises:
            StoreUnavailable: this process cannot be reached.
        """
        return {}


ALONE: Final = Siblings()
"""No other processes: a single process serves."""


class AppState(Struct, frozen=True):
    """The state that an app and all of its services run with."""

    session: AsyncSession
    """Runs the operations of all services."""
    identity: Verifier
    """Verifies the tokens of callers."""
    resources: Mapping[str, Any] = {}
    """The resources that services opened for their routes, by the name of the service."""
    projections: Mapping[str, OpenProjection[Any]] = {}
    """The open projections, by the name of the service."""
    queues: Mapping[str, Queue] = {}
    """The open queues whose depth the console shows, by name."""
    troubles: Mapping[str, str] = {}
    """Background work that cannot continue, each with the code of its last error; `/healthz` shows them."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set it when the server stops, to end responses that would otherwise never end."""
    rate_limit: Rate | Literal["declared", "off"] = "declared"
    """The rate limit of each service that declares one: as declared, another rate, or none."""

    reports: ReportReader | None = None
    """Reads the reports of workers; None if this app shows only its own figures."""
    processes: int = 1
    """How many processes serve this app. Together they enforce the same rate limit as one."""
    siblings: Siblings = ALONE
    """The other processes."""
    shards: ShardReader | None = None
    """Reads which worker has which shard of a shared stream; None if this app does not show it."""

    def of_service(self, service: Service) -> ServiceState[Any]:
        """The state of one service."""
        name = service.name
        session = self.session.of_service(name)
        return ServiceState(
            session,
            self.identity,
            self.resources.get(name),
            self.projections.get(name),
            self.stopping,
            self._limiter(service, session),
        )

    def of_console(self) -> ServiceState[None]:
        """The state of the console, which is not a service."""
        return ServiceState(self.session.of_service("console"), self.identity, None, None, self.stopping)

    def _limiter(self, service: Service, session: AsyncSession) -> CallerLimiter | None:
        limits = service.rate_limit
        if limits is None or self.rate_limit == "off":
            return None
        limits = limits if self.rate_limit == "declared" else limits.at(self.rate_limit)
        return CallerLimiter(limits, session, processes=self.processes)


def run_with(app: FastAPI, state: ServiceState[Any]) -> None:
    """Set the state that the routes of an app run with."""
    app.state.service = state


def state_of(request: Request) -> ServiceState[Any]:
    """The state of the service that a request is for."""
    state: ServiceState[Any] = request.app.state.service
    return state


async def _current_state(request: Request) -> ServiceState[Any]:
    return state_of(request)


CurrentState = Annotated[ServiceState[R], Depends(_current_state)]
"""The state of the service: `state: CurrentState[Tools]`, where `Tools` is the type of its resources."""
