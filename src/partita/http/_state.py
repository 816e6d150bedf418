"""What the services of an app run with: a typed value for the app, and one for each service, which its routes take."""

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
    """What one service runs with. `R` is what it has opened (`Service.resources`)."""

    session: AsyncSession
    identity: Verifier
    resources: R
    projection: OpenProjection[Any] | None
    """None where nobody reads the changes of the service here."""
    stopping: threading.Event
    """Set when the server stops, which ends responses that have no end of their own."""
    limiter: CallerLimiter | None = None
    """Counts the requests of each caller; None where nothing limits them."""
    _singletons: dict[Callable[..., Any], Any] = field(default_factory=dict)

    def singleton(self, make: Callable[[ServiceState[R]], T]) -> T:
        """What `make` makes of this state: made when it is first asked for, in the event loop, and then kept."""
        if make not in self._singletons:
            self._singletons[make] = make(self)
        made: T = self._singletons[make]
        return made


class Siblings:
    """The other processes of the same server. This is what a server has that is one process: there are none."""

    async def figures(self) -> ServerFigures:
        """What the others have counted, also those that have ended.

        Raises:
            StoreUnavailable: they cannot be asked.
        """
        return ServerFigures()

    async def troubles(self) -> Mapping[str, str]:
        """What goes wrong in the process that does the background work for all.

        Raises:
            StoreUnavailable: it cannot be asked.
        """
        return {}


ALONE: Final = Siblings()
"""No others: one process serves."""


class AppState(Struct, frozen=True):
    """What an app and all of its services run with."""

    session: AsyncSession
    """Runs the operations of all services."""
    identity: Verifier
    """Says who is calling."""
    resources: Mapping[str, Any] = {}
    """What services have opened for their routes, by the name of the service."""
    projections: Mapping[str, OpenProjection[Any]] = {}
    """The open projections, by the name of the service."""
    queues: Mapping[str, Queue] = {}
    """The open queues whose depth the console shows, by name."""
    troubles: Mapping[str, str] = {}
    """What cannot go on in the background, with the code of its last error; `/healthz` shows it."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set it when the server stops, so that responses that have no end of their own end too."""
    rate_limit: Rate | Literal["declared", "off"] = "declared"
    """How many requests a caller may send to each service that declares a limit: another rate, or any number."""

    reports: ReportReader | None = None
    """Reads what workers report; None where this app shows its own figures alone."""
    processes: int = 1
    """How many processes serve this app, which together let a caller send as much as one would."""
    siblings: Siblings = ALONE
    """The others among them."""
    shards: ShardReader | None = None
    """Reads who has which shard of a shared stream; None where this app does not show it."""

    def of_service(self, service: Service) -> ServiceState[Any]:
        """The part that one service runs with."""
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
        """The part that the console runs with, which is not a service."""
        return ServiceState(self.session.of_service("console"), self.identity, None, None, self.stopping)

    def _limiter(self, service: Service, session: AsyncSession) -> CallerLimiter | None:
        limits = service.rate_limit
        if limits is None or self.rate_limit == "off":
            return None
        limits = limits if self.rate_limit == "declared" else limits.at(self.rate_limit)
        return CallerLimiter(limits, session, processes=self.processes)


def run_with(app: FastAPI, state: ServiceState[Any]) -> None:
    """Give the routes of an app the state that they run with."""
    app.state.service = state


def state_of(request: Request) -> ServiceState[Any]:
    """The state of the service that a request is for."""
    state: ServiceState[Any] = request.app.state.service
    return state


async def _current_state(request: Request) -> ServiceState[Any]:
    return state_of(request)


CurrentState = Annotated[ServiceState[R], Depends(_current_state)]
"""What the service runs with: `state: CurrentState[Tools]`, where `Tools` is what it has opened."""
