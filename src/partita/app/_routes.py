"""The labels by which requests are counted and traced: the template of the route that served it, and the method.

A client may invent paths and methods, so each label has one of a few known values, whatever the client sends.
"""

from __future__ import annotations

from typing import Final

from starlette.types import Scope

UNKNOWN: Final = "none"
"""Stands for all paths without a route. Anybody may invent such paths, so they are counted together."""
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER: Final = "other"
"""Stands for all methods that no route has, for the same reason."""


def route_of(scope: Scope) -> str:
    """The template of the route that served a request, such as `/todo/api/tasks/{task_id}`. Call it afterwards."""
    route = scope.get("route")
    return UNKNOWN if route is None else f"{scope.get('root_path', '')}{route.path}"


def method_of(scope: Scope) -> str:
    """The method of a request, or `other` if no route has it."""
    return scope["method"] if scope["method"] in METHODS else OTHER
