"""Which route served a request, as its template: the name to count and trace requests by."""

from __future__ import annotations

from typing import Final

from starlette.types import Scope

UNKNOWN: Final = "none"
"""Requests that no route took. Anybody may invent their paths, so they are counted together."""


def route_of(scope: Scope) -> str:
    """The template of the route that took the request, such as `/todo/api/tasks/{task_id}`; after it was served."""
    route = scope.get("route")
    return UNKNOWN if route is None else f"{scope.get('root_path', '')}{route.path}"
