"""What to count and trace requests by: the route that served it, as its template, and its method.

A client may make up paths and methods. What is counted by is therefore one of few values, whatever it sends.
"""

from __future__ import annotations

from typing import Final

from starlette.types import Scope

UNKNOWN: Final = "none"
"""Requests that no route took. Anybody may invent their paths, so they are counted together."""
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER: Final = "other"
"""Methods that no route has, for the same reason."""


def route_of(scope: Scope) -> str:
    """The template of the route that took the request, such as `/todo/api/tasks/{task_id}`; after it was served."""
    route = scope.get("route")
    return UNKNOWN if route is None else f"{scope.get('root_path', '')}{route.path}"


def method_of(scope: Scope) -> str:
    """The method of a request, if it is one that routes have."""
    return scope["method"] if scope["method"] in METHODS else OTHER
