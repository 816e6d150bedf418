"""The apps of services, each created once.

FastAPI inspects every parameter of every route of a new app, and again to describe the app; direct routes do so, too.
That takes a tenth of a second, which is longer than most tests take, and the result is the same for each test.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from fastapi import APIRouter, FastAPI
from starlette.datastructures import State

from partita.app._prepared import described_app as _described_app
from partita.app.direct._endpoint import DirectEndpoint
from partita.app.direct._routes import DirectRoutes, _Route, _Table
from partita.console import describe_services
from partita.service import Service

_MADE: dict[tuple[str, bool, int], tuple[FastAPI, APIRouter]] = {}
_DIRECT: dict[FastAPI, dict[str, _Table]] = {}
_SERVICES: dict[tuple[int, ...], tuple[bytes, Sequence[Service]]] = {}


class OnceDirect(DirectRoutes):
    """Direct routes of copies of apps: the routes of the original app are inspected once."""

    def add(self, prefix: str, app: FastAPI) -> None:
        made = getattr(app, "made", app)
        if made not in _DIRECT:
            first = DirectRoutes()
            first.add(prefix, made)
            _DIRECT[made] = first._tables.get(prefix, {})
        if _DIRECT[made]:
            self._tables[prefix] = {method: _table_of(app, table) for method, table in _DIRECT[made].items()}


def _table_of(app: FastAPI, table: _Table) -> _Table:
    own = _Table()
    own._literal = {path: _route_of(app, route) for path, route in table._literal.items()}
    own._templates = {slashes: [_route_of(app, each) for each in found] for slashes, found in table._templates.items()}
    return own


def _route_of(app: FastAPI, route: _Route) -> _Route:
    if route.endpoint is None:
        return route
    own: DirectEndpoint = copy(route.endpoint)
    own.app = app
    return _Route(route.pattern, own)


def described_app(service: Service, router: APIRouter) -> FastAPI:
    """Return an app of a service with its own state and exception handlers; its routes are shared with other copies."""
    key = (service.name, service.rate_limit is not None, id(router))
    if key not in _MADE:
        made = _described_app(service, router)
        made.openapi()
        _MADE[key] = (made, router)  # keeping the router ensures that no other gets its id
    return _copy(_MADE[key][0])


def described_services(services: Sequence[Service]) -> bytes:
    """Return the description of services for the console, created once."""
    key = tuple(map(id, services))
    if key not in _SERVICES:
        _SERVICES[key] = (describe_services(services), tuple(services))
    return _SERVICES[key][0]


def _copy(app: FastAPI) -> FastAPI:
    own = copy(app)
    own.made = app  # type: ignore[attr-defined]
    own.state = State()
    own.exception_handlers = dict(app.exception_handlers)
    own.router = copy(app.router)
    own.router.routes = list(app.router.routes)
    return own
