"""The apps of services, each made once.

FastAPI looks at every parameter of every route of an app that is new, and again to describe it; so do direct routes.
That takes a tenth of a second, which is longer than most tests; and what comes of it is the same for each.
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
    """Direct routes of copies of apps: what the routes take is found out once."""

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
    """An app of a service, with a state and handlers of its own; its routes are shared."""
    key = (service.name, service.rate_limit is not None, id(router))
    if key not in _MADE:
        made = _described_app(service, router)
        made.openapi()
        _MADE[key] = (made, router)  # with its router, so that no other has its id
    return _copy(_MADE[key][0])


def described_services(services: Sequence[Service]) -> bytes:
    """What the console shows of services."""
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
