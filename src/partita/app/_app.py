"""One app for all services: each API under `/<service>/api`, the console at `/`, `/healthz` and `/metrics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from partita import Meter
from partita.app._capacity import ConsumedCapacity
from partita.app._limits import MAX_BODY_BYTES, BodyLimit
from partita.app._metrics import MEDIA_TYPE as METRICS
from partita.app._metrics import MeasuredRequests, RequestMetrics, metrics_text
from partita.app._openapi import ABOUT, completed
from partita.app._request_id import RequestId
from partita.app._tracing import TracedRequests, can_trace
from partita.console import CONSOLE, console_api
from partita.http import (
    ASSETS,
    AppState,
    Pages,
    ServiceState,
    check_store,
    describe_problems,
    handle_errors,
    run_with,
)
from partita.service import Service


def build_app(
    services: Sequence[Service],
    state: AppState,
    *,
    apps: Mapping[str, ASGIApp] | None = None,
    max_body_bytes: int = MAX_BODY_BYTES,
) -> FastAPI:
    """The app that serves the services.

    Args:
        services: each is served at its own path.
        state: what all of them run with.
        apps: other apps, by the path that each is served at.
        max_body_bytes: a larger body is refused.
    """
    requests = RequestMetrics()
    app = _outer_app(state.session.meter, requests, max_body_bytes)
    for service in services:
        _mount(app, service, state.of_service(service))
    for path, other in (apps or {}).items():
        app.mount(path, other)
    app.mount("/assets", Pages(ASSETS))
    app.mount("/console/api", console_api(services, state))
    pages = Pages(CONSOLE)
    app.mount("/console", pages)

    @app.get("/")
    async def console(request: Request) -> Response:
        return await pages.get_response("index.html", request.scope)

    @app.get("/healthz")
    async def healthz() -> Response:
        await check_store(state.session, services)
        return JSONResponse({"status": "ok"})

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(metrics_text(requests, state.session.meter), media_type=METRICS)

    return app


def _outer_app(meter: Meter, requests: RequestMetrics, max_body_bytes: int) -> FastAPI:
    """What every request passes through, whichever service it is for."""
    app = FastAPI(
        title="Partita",
        openapi_url=None,
        middleware=[
            Middleware(MeasuredRequests, metrics=requests),
            *([Middleware(TracedRequests, meter=meter)] if can_trace() else []),
            Middleware(RequestId),
            Middleware(ConsumedCapacity, meter=meter),
            Middleware(BodyLimit, max_bytes=max_body_bytes),
        ],
    )
    handle_errors(app)
    return app


def _mount(app: FastAPI, service: Service, state: ServiceState) -> None:
    """Serve a service: its API, and beside it its own routes first, then its pages."""
    app.mount(f"/{service.name}/api", _service_app(service, service.router(), state))
    if service.site is not None:
        site = _service_app(service, service.site(), state)
        if service.pages is not None:
            site.mount("/", Pages(service.pages))
        app.mount(f"/{service.name}", site)
    elif service.pages is not None:
        app.mount(f"/{service.name}", Pages(service.pages))


class _ServiceApp(FastAPI):
    """One service's API, whose OpenAPI description has what all of them share."""

    is_limited = False
    """Whether the service limits the requests of each caller."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = completed(super().openapi(), is_limited=self.is_limited)
        return self.openapi_schema


def _service_app(service: Service, router: APIRouter, state: ServiceState) -> FastAPI:
    app = _ServiceApp(
        title=service.title,
        summary=service.summary,
        description=ABOUT,
        version=version("partita"),
        docs_url=None,  # these pages load their scripts from outside
        redoc_url=None,
        responses=describe_problems(401, 413, 422, 500, 503),
        generate_unique_id_function=lambda route: route.name,
    )
    app.is_limited = service.rate_limit is not None
    run_with(app, state)
    handle_errors(app)
    app.include_router(router)
    return app
