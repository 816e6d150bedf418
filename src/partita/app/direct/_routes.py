"""Find the route of a request: by method and path in a table, instead of trying one route after the other."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.convertors import StringConvertor
from starlette.types import ASGIApp, Scope

from partita.app.direct._endpoint import DirectEndpoint, can_be_direct

_PARTS: Final = 3
"""The parts of a path that is looked up: the two of the prefix, and the rest."""


class _Route(NamedTuple):
    """An entry of the table. `endpoint` is None if FastAPI must call the route."""

    pattern: re.Pattern[str]
    endpoint: DirectEndpoint | None


class _Table:
    """The routes of one app for one method."""

    def __init__(self) -> None:
        self._literal: dict[str, _Route] = {}
        self._templates: dict[int, list[_Route]] = {}
        """By the number of slashes, in the order of declaration."""

    def add(self, path: str, route: _Route) -> None:
        """Add the next route. It never receives paths that match an earlier route."""
        if "{" in path:
            self._templates.setdefault(path.count("/"), []).append(route)
        elif self.find(path) is None:
            self._literal[path] = route

    def find(self, path: str) -> tuple[DirectEndpoint | None, dict[str, str]] | None:
        """Return the first route that matches the path, and its path parameters."""
        literal = self._literal.get(path)
        if literal is not None:
            return literal.endpoint, {}
        for pattern, endpoint in self._templates.get(path.count("/"), ()):
            if (match := pattern.match(path)) is not None:
                return endpoint, match.groupdict()
        return None


class DirectRoutes:
    """The routes of mounted apps, each at a prefix of two parts such as `/todo/api`."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, _Table]] = {}

    def add(self, prefix: str, app: FastAPI) -> None:
        """Call the routes of the app that is mounted at the prefix directly."""
        contexts = list(iter_route_contexts(app.routes))
        if not all(map(_is_plain, contexts)):
            return
        tables = self._tables[prefix] = {}
        for context in contexts:
            endpoint = DirectEndpoint(app, context) if can_be_direct(context) else None
            for method in context.methods or ():
                tables.setdefault(method, _Table()).add(context.path or "", _Route(context.path_regex, endpoint))

    def find(self, scope: Scope) -> ASGIApp | None:
        """Return the endpoint for a request, and set its route in the scope; None if FastAPI must find the route."""
        path: str = scope["path"]
        parts = path.split("/", _PARTS)
        if len(parts) <= _PARTS or scope["root_path"] or "\n" in path:  # no path of a mounted app has these
            return None
        prefix = f"/{parts[1]}/{parts[2]}"
        table = self._tables.get(prefix, {}).get(scope["method"])
        found = None if table is None else table.find(f"/{parts[3]}")
        endpoint, parameters = found or (None, {})
        if endpoint is None:
            return None
        scope.update(
            app=endpoint.app,
            app_root_path="",
            endpoint=endpoint.route.endpoint,
            path_params=parameters,
            root_path=prefix,
            route=endpoint.route,
            router=endpoint.app.router,
        )
        return endpoint


def _is_plain(context: RouteContext) -> bool:
    """Whether all paths of a route have the same number of slashes."""
    convertors = getattr(context, "param_convertors", {}).values()
    return context.methods is not None and all(isinstance(each, StringConvertor) for each in convertors)
