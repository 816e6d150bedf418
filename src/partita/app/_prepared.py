"""The routes of all services, prepared from their declarations alone: their descriptions, and a table to find them."""

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
    """The parts of an app that need no open resources. They are used for one app; forked processes share them."""

    apis: Mapping[str, FastAPI]
    """The API of each service, by its name."""
    sites: Mapping[str, FastAPI]
    """The routes of each service outside its API."""
    direct: DirectRoutes
    console: bytes
    """The description of the services that the console shows."""


def prepare_routes(services: Sequence[Service]) -> PreparedRoutes:
    """Build the parts that do not depend on open resources. They take most of the time and memory of `build_app`."""
    apis = {each.name: described_app(each, each.router()) for each in services if each.router is not None}
    sites = {each.name: described_app(each, each.site()) for each in services if each.site is not None}
    direct = DirectRoutes()
    for name, api in apis.items():
        direct.add(f"/{name}/api", api)
    return PreparedRoutes(apis, sites, direct, describe_services(services))


def describe_apis(service: Service) -> dict[str, dict[str, Any]]:
    """Return the OpenAPI descriptions of a service: `NAME` for its API, `NAME-site` for its routes outside the API.

    No resources are opened for this.
    """
    routers = {service.name: service.router, f"{service.name}-site": service.site}
    return {name: described_app(service, router()).openapi() for name, router in routers.items() if router is not None}


class _ServiceApp(FastAPI):
    """The API of one service, whose OpenAPI description is completed with the common parts."""

    is_limited = False
    """Whether the service limits the requests of each caller."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = completed(super().openapi(), is_limited=self.is_limited)
        return self.openapi_schema


def described_app(service: Service, router: APIRouter) -> FastAPI:
    """An app with the routes of a service, whose description has the common parts."""
    app = _ServiceApp(
        title=service.title,
        summary=service.summary,
        description=ABOUT,
        version=version("partita"),
        docs_url=None,  # FastAPI's pages load scripts from other hosts; Partita's own are at `/api-docs/`
        redoc_url=None,
        redirect_slashes=False,
        responses=describe_problems(401, 413, 414, 421, 422, 431, 500, 503),
        generate_unique_id_function=lambda route: route.name,
    )
    app.is_limited = service.rate_limit is not None
    app.include_router(router)
    return app
