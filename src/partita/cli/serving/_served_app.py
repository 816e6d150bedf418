"""The app that `partita serve` serves, built in its only process, or in each of several."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from partita import AsyncSession, Meter
from partita.change.shared import ShardReader
from partita.cli._data_folder import DataFolder
from partita.cli._installation import LEASES, installation_of, opening, tracking_queues
from partita.cli._listen import address_of
from partita.cli._token_file import identity_of
from partita.cli.serving._banner import banner as banner_of
from partita.cli.serving._rate_limit import RateOption
from partita.cli.serving._sign_in import sign_in_link, sign_in_of
from partita.queue import Queue
from partita.reports import ProcessFigures, ReportReader
from partita.runtime import AllowedHosts
from partita.service import Installation, OpenProjection, Service
from partita.store import Store

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp

    from partita.app import PreparedRoutes, RequestMetrics
    from partita.http import AppState, Siblings, Verifier


class ServeSettings(Struct, frozen=True):
    """The settings from the command line, which are the same for every process."""

    data: DataFolder
    issuer: str | None
    audience: str | None
    client_id: str | None
    demo_sign_in: bool | None
    rate_limit: RateOption
    allowed_hosts: AllowedHosts
    processes: int = 1


class ServerResources(Struct, frozen=True):
    """The resources that one process has opened for the app."""

    services: Sequence[Service]
    store: Store
    installation: Installation
    resources: Mapping[str, Any]
    queues: Mapping[str, Queue]
    projections: Mapping[str, OpenProjection] = {}
    troubles: Mapping[str, str] = field(default_factory=dict)
    siblings: Siblings | None = None
    """The other processes; None if there are none."""
    requests: RequestMetrics | None = None
    meter: Meter = field(default_factory=Meter)
    before: ProcessFigures = ProcessFigures()
    """The figures of workers when the server was started."""
    routes: PreparedRoutes | None = None
    """The routes of the services, if they were prepared before this process was forked."""


class ServedApp(Struct, frozen=True):
    """The app, its state, and its banner."""

    app: FastAPI
    state: AppState
    banner: Callable[[], str]
    """Creates the text to print when the app is ready. Each call creates a new sign-in link, so it is called once."""


@contextmanager
def opened_resources(
    services: Sequence[Service], store: Store, data: DataFolder, listener: socket.socket
) -> Iterator[ServerResources]:
    """Open the resources of the services in addition to the store, including their queues."""
    queues: dict[str, Queue] = {}
    installation = tracking_queues(queues, installation_of(data, address_of(listener)))
    with opening(services, installation) as resources:
        yield ServerResources(services, store, installation, resources, queues)


def make_app(settings: ServeSettings, opened: ServerResources) -> ServedApp:
    """Build the app of the services."""
    from partita.app import build_app
    from partita.http import ALONE, AppState

    data, services, installation = settings.data, opened.services, opened.installation
    session = AsyncSession(opened.store, secret=data.secret("cursors"), keys=data.keys(), meter=opened.meter)
    verifier = _verifier(settings)
    sign_in = sign_in_of(verifier, settings.client_id or settings.audience, settings.demo_sign_in, installation)
    state = AppState(
        session,
        verifier,
        opened.resources,
        opened.projections,
        opened.queues,
        troubles=opened.troubles,
        rate_limit=settings.rate_limit,
        reports=ReportReader(session, opened.before),
        shards=ShardReader(session.of_service(LEASES.name)),
        processes=settings.processes,
        siblings=opened.siblings or ALONE,
    )
    app = build_app(
        services,
        state,
        apps=_apps(services, installation),
        allowed_hosts=settings.allowed_hosts,
        sign_in=sign_in,
        requests=opened.requests,
        routes=opened.routes,
    )

    def banner() -> str:
        link = sign_in_link(sign_in, installation.url)
        return banner_of(services, data, installation.url, settings.issuer, link=link)

    return ServedApp(app, state, banner)


def _apps(services: Sequence[Service], installation: Installation) -> dict[str, ASGIApp]:
    return {path: app for service in services if service.apps for path, app in service.apps(installation).items()}


def _verifier(settings: ServeSettings) -> Verifier:
    from partita.http import Issuer

    if settings.issuer is None:
        return identity_of(settings.data)
    return Issuer(settings.issuer, audience=settings.audience, any_audience=not settings.audience)
