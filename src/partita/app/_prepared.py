"""The routes of all services as they are declared: described, and found directly. Nothing is opened for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI
from msgspec import Struct

from partita.app._openapi import ABOUT, completed
from partita.app.direct import DirectRoutes
from partita.console import describe_services
from partita.http import describe_problems
from partita.service import Service


class PreparedRoutes(Struct, frozen=True):
    """What an app is made of before anything is opened. It becomes one app; processes that are forked share it."""

    apis: Mapping[str, FastAPI]
    """The API of each service, by its name."""
    sites: Mapping[str, FastAPI]
    """What each serves beside its API."""
    direct: DirectRoutes
    console: bytes
    """What the console shows of the services."""


def prepare_routes(services: Sequence[Service]) -> PreparedRoutes:
    """Make what does not depend on what is opened: it takes most of the time and memory of making an app."""
    apis = {each.name: described_app(each, each.router()) for each in services if each.router is not None}
    sites = {each.name: described_app(each, each.site()) for each in services if each.site is not None}
    direct = DirectRoutes()
    for name, api in apis.items():
        direct.add(f"/{name}/api", api)
    return PreparedRoutes(apis, sites, direct, describe_services(services))


def describe_apis(service: Service) -> dict[str, dict[str, Any]]:
    """The OpenAPI descriptions of a service, as it serves them: `NAME` of its API, `NAME-site` of what is beside.

    Nothing is opened for it.
    """
    routers = {service.name: service.router, f"{service.name}-site": service.site}
    return {name: described_app(service, router()).openapi() for name, router in routers.items() if router is not None}


class _ServiceApp(FastAPI):
    """One service's API, whose OpenAPI description has what all of them share."""

    is_limited = False
    """Whether the service limits the requests of each caller."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = completed(super().openapi(), is_limited=self.is_limited)
        return self.openapi_schema


def described_app(service: Service, router: APIRouter) -> FastAPI:
    """The routes of a service, with what their description shares with that of all others."""
    app = _ServiceApp(
        title=service.title,
        summary=service.summary,
        description=ABOUT,
        version=version("partita"),
        docs_url=None,  # these pages load their scripts from outside; ours are at `/api-docs/`
        redoc_url=None,
        redirect_slashes=False,
        responses=describe_problems(401, 413, 414, 421, 422, 431, 500, 503),
        generate_unique_id_function=lambda route: route.name,
    )
    app.is_limited = service.rate_limit is not None
    app.include_router(router)
    return app
