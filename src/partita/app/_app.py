"""One app for all services: each API under `/<service>/api`, the console at `/`, `/healthz` and `/metrics`."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from partita import AsyncSession
from partita.app._capacity import ConsumedCapacity
from partita.app._limits import MAX_BODY_BYTES, BodyLimit
from partita.app._metrics import MEDIA_TYPE as METRICS
from partita.app._metrics import MeasuredRequests, Requests, metrics_text
from partita.app._openapi import ABOUT, completed
from partita.app._request_id import RequestId
from partita.app._tracing import TracedRequests, can_trace
from partita.console import CONSOLE, console_api
from partita.http import ASSETS, Pages, Verifier, answer_with_problems, ask_store, describe_problems
from partita.queue import Queue
from partita.service import Projected, Service


def build_app(
    services: Sequence[Service],
    session: AsyncSession,
    identity: Verifier,
    *,
    max_body_bytes: int = MAX_BODY_BYTES,
    projected: Mapping[str, Projected] | None = None,
    resources: Mapping[str, Any] | None = None,
    beside: Mapping[str, ASGIApp] | None = None,
    queues: Mapping[str, Queue] | None = None,
) -> FastAPI:
    """The app that serves the services. Whoever runs it sets `app.state.stopping`, at which answers without end do end.

    Args:
        services: each is served at its own path.
        session: runs the operations of all of them.
        identity: says who is calling.
        max_body_bytes: a larger body is refused.
        projected: the open projections, by the name of their service.
        resources: what services have opened for their routes, by the name of the service.
        beside: other apps, by the path that each is served at.
        queues: the open queues whose depth the console shows, by name.
    """
    requests = Requests()
    app = _outer_app(session, requests, max_body_bytes)
    for service in services:
        state = {
            "stopping": app.state.stopping,
            "session": session.of_service(service.name),
            "identity": identity,
            "projected": (projected or {}).get(service.name),
            "resources": (resources or {}).get(service.name),
        }
        _mount(app, service, state)
    for path, other in (beside or {}).items():
        app.mount(path, other)
    app.mount("/assets", Pages(ASSETS))
    app.mount("/console/api", console_api(services, session, identity, projected or {}, queues or {}))
    pages = Pages(CONSOLE)
    app.mount("/console", pages)

    @app.get("/")
    async def console(request: Request) -> Response:
        return await pages.get_response("index.html", request.scope)

    @app.get("/healthz")
    async def healthz() -> Response:
        await ask_store(session, services)
        return JSONResponse({"status": "ok"})

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(metrics_text(requests, session.meter), media_type=METRICS)

    return app


def _outer_app(session: AsyncSession, requests: Requests, max_body_bytes: int) -> FastAPI:
    """What every request passes, whichever service it is for."""
    app = FastAPI(
        title="Partita",
        openapi_url=None,
        middleware=[
            Middleware(MeasuredRequests, requests=requests),
            *([Middleware(TracedRequests, meter=session.meter)] if can_trace() else []),
            Middleware(RequestId),
            Middleware(ConsumedCapacity, meter=session.meter),
            Middleware(BodyLimit, max_bytes=max_body_bytes),
        ],
    )
    app.state.stopping = threading.Event()
    answer_with_problems(app)
    return app


def _mount(app: FastAPI, service: Service, state: Mapping[str, Any]) -> None:
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

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = completed(super().openapi())
        return self.openapi_schema


def _service_app(service: Service, router: APIRouter, state: Mapping[str, Any]) -> FastAPI:
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
    for name, value in state.items():
        setattr(app.state, name, value)
    answer_with_problems(app)
    app.include_router(router)
    return app
