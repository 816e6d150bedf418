"""Which route takes a request: found by method and path in a table, not by trying one after the other."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.convertors import StringConvertor
from starlette.types import ASGIApp, Scope

from partita.app.direct._endpoint import DirectEndpoint, can_be_direct

_PARTS: Final = 3
"""Of the paths that are looked up: the two of the prefix, and what follows."""


class _Route(NamedTuple):
    """A route as the table has it. `endpoint` is None where FastAPI is to call it."""

    pattern: re.Pattern[str]
    endpoint: DirectEndpoint | None


class _Table:
    """The routes of one app that take one method."""

    def __init__(self) -> None:
        self._literal: dict[str, _Route] = {}
        self._templates: dict[int, list[_Route]] = {}
        """By the number of slashes, in the order in which they were declared."""

    def add(self, path: str, route: _Route) -> None:
        """Add the next route; what an earlier one takes never reaches it."""
        if "{" in path:
            self._templates.setdefault(path.count("/"), []).append(route)
        elif self.find(path) is None:
            self._literal[path] = route

    def find(self, path: str) -> tuple[DirectEndpoint | None, dict[str, str]] | None:
        """The first route that takes the path, and what the path has in the places of its parameters."""
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
        """Call the routes of the app that is mounted there directly."""
        contexts = list(iter_route_contexts(app.routes))
        if not all(map(_is_plain, contexts)):
            return
        tables = self._tables[prefix] = {}
        for context in contexts:
            endpoint = DirectEndpoint(app, context) if can_be_direct(context) else None
            for method in context.methods or ():
                tables.setdefault(method, _Table()).add(context.path or "", _Route(context.path_regex, endpoint))

    def find(self, scope: Scope) -> ASGIApp | None:
        """What responds to a request, whose scope then names the route; None where FastAPI is to find it."""
        path: str = scope["path"]
        parts = path.split("/", _PARTS)
        if len(parts) <= _PARTS or scope["root_path"] or "\n" in path:  # which no path of a mounted app has
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
    """Whether the number of slashes says which paths a route may take."""
    convertors = getattr(context, "param_convertors", {}).values()
    return context.methods is not None and all(isinstance(each, StringConvertor) for each in convertors)
