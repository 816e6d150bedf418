"""One app for all services: the front page at `/`, each API under `/<service>/api`, the console, health and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from partita.app._front import Front, GuardedApp
from partita.app._limits import MAX_BODY_BYTES, Limits
from partita.app._metrics import MEDIA_TYPE as METRICS
from partita.app._metrics import RequestMetrics, metrics_text
from partita.app._prepared import PreparedRoutes, prepare_routes
from partita.app._site import site_of
from partita.app._tracing import TracedRequests, can_trace
from partita.app._when_asked import WhenAsked
from partita.app.signin import PAGES as SIGN_IN_PAGES
from partita.app.signin import SignIn, signin_api
from partita.app.start import PAGES as START_PAGES
from partita.app.start import ApiSource, ServedService, add_start_pages, missing_page
from partita.console import CONSOLE, console_api
from partita.http import (
    ASSETS,
    AppState,
    MissingPage,
    Pages,
    ServiceState,
    background_figures,
    check_store,
    folder_redirect,
    handle_errors,
    run_with,
)
from partita.runtime import AllowedHosts
from partita.service import Service
from partita.store import write_troubles

READ: Final = ["GET", "HEAD"]


def build_app(
    services: Sequence[Service],
    state: AppState,
    *,
    apps: Mapping[str, ASGIApp] | None = None,
    max_body_bytes: int = MAX_BODY_BYTES,
    allowed_hosts: AllowedHosts | None = None,
    sign_in: SignIn | None = None,
    requests: RequestMetrics | None = None,
    routes: PreparedRoutes | None = None,
) -> FastAPI:
    """Build the app that serves the services.

    Args:
        services: the services, each of which is served at its own path.
        state: the state that all of them run with.
        apps: other apps, by the path at which each is served.
        max_body_bytes: the size of the largest body that is accepted.
        allowed_hosts: the host names that the app accepts. None accepts any name, for tests, and for a server behind
            a proxy that checks the name itself.
        sign_in: how people sign in at the pages, besides with a token that they already have.
        requests: counts the requests; pass one to read the counts elsewhere.
        routes: the routes of the services, if they were already prepared (`prepare_routes`). They can be used for one
            app only.
    """
    requests, routes = requests or RequestMetrics(), routes or prepare_routes(services)
    limits = Limits(allowed_hosts, max_body_bytes)
    served = [ServedService.of(service) for service in services]
    missing = partial(missing_page, services=served)
    app = _outer_app(missing)
    front = Front(app.routed, limits=limits, meter=state.session.meter, metrics=requests, direct=routes.direct)
    app.entry = TracedRequests(front, state.session.meter) if can_trace() else front
    apis: dict[str, tuple[ApiSource, Callable[[], dict[str, Any]]]] = {}
    for service in services:
        for source, api in _mount(app, routes, service, state.of_service(service), missing):
            apis[source.name] = (source, api.openapi)
    for path, other in (apps or {}).items():
        app.mount(path, other)
    app.mount("/assets", Pages(ASSETS))
    app.mount("/signin/api", WhenAsked(partial(signin_api, sign_in or SignIn(), state.of_console())))
    _mount_folder(app, "/signin", Pages(SIGN_IN_PAGES))
    app.mount("/console/api", WhenAsked(partial(console_api, services, state, routes.console)))
    _mount_folder(app, "/console", Pages(CONSOLE))
    app.mount("/start", Pages(START_PAGES))
    add_start_pages(app, served, apis)

    @app.api_route("/site.json", methods=READ)
    async def site() -> Response:
        return JSONResponse(site_of(services, sign_in or SignIn()))

    _add_figures(app, services, state, requests)
    return app


def _add_figures(app: FastAPI, services: Sequence[Service], state: AppState, requests: RequestMetrics) -> None:
    """Add the routes for the health and the metrics of the server, with all of its processes."""

    @app.api_route("/healthz", methods=READ)
    async def healthz() -> Response:
        await check_store(state.session, services)
        troubles = {**state.troubles, **await run_in_threadpool(write_troubles, state.session.store)}
        troubles |= await state.siblings.troubles()
        return JSONResponse({"status": "degraded", "troubles": troubles} if troubles else {"status": "ok"})

    @app.api_route("/metrics", methods=READ)
    async def metrics() -> Response:
        background = await background_figures(state)
        others = await state.siblings.figures()
        server = requests.figures(state.session.meter.usage()).plus(others)
        return Response(metrics_text(server, [service.name for service in services], background), media_type=METRICS)


def guarded(app: ASGIApp, allowed_hosts: AllowedHosts) -> ASGIApp:
    """Wrap another app, which is served on its own, in the same limits as `build_app`."""
    return GuardedApp(app, Limits(allowed_hosts))


class _OuterApp(FastAPI):
    """The outer app, which handles the requests for all services."""

    entry: ASGIApp
    """Receives every request first, and passes those that it does not handle itself to `routed`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        await self.entry(scope, receive, send)

    async def routed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond as FastAPI does, with its own routing."""
        await super().__call__(scope, receive, send)


def _outer_app(missing: MissingPage) -> _OuterApp:
    app = _OuterApp(
        title="Partita",
        openapi_url=None,
        redirect_slashes=False,  # Starlette's redirects contain the unverified host name of the request
        telemetry={"tracing": False, "metrics": False, "logs": False},  # avoids a check for every request
    )
    handle_errors(app, missing=missing, reads_with_head=True)
    return app


def _mount(
    app: FastAPI, routes: PreparedRoutes, service: Service, state: ServiceState, missing: MissingPage
) -> Iterator[tuple[ApiSource, FastAPI]]:
    """Serve a service: its API, its routes outside the API, then its pages. Yield the apps that have a description."""
    if (api := routes.apis.get(service.name)) is not None:
        _set_up(api, state)
        app.mount(f"/{service.name}/api", api)
        yield ApiSource(service.name, service.title, service.summary, f"/{service.name}/api"), api
    if (site := routes.sites.get(service.name)) is not None:
        _set_up(site, state, missing)
        title = f"{service.title}, outside its API"
        yield ApiSource(f"{service.name}-site", title, service.summary, f"/{service.name}"), site
        if service.pages is not None:
            site.mount("/", Pages(service.pages))
        _mount_folder(app, f"/{service.name}", site)
    elif service.pages is not None:
        _mount_folder(app, f"/{service.name}", Pages(service.pages))


def _mount_folder(app: FastAPI, path: str, folder: ASGIApp) -> None:
    """Serve a folder below a path, and redirect from the path itself to the folder."""

    @app.api_route(path, methods=READ)
    async def lead_into_folder(request: Request) -> Response:
        return folder_redirect(request.scope)

    app.mount(path, folder)


def _set_up(app: FastAPI, state: ServiceState, missing: MissingPage | None = None) -> None:
    """Give an app of a service its state, and have it respond to errors with problems."""
    run_with(app, state)
    handle_errors(app, missing=missing, reads_with_head=True)
