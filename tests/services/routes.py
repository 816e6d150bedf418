"""The routes of a service, for tests that go through all of them."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.routing import APIRoute


def routes_of(router: APIRouter) -> list[str]:
    """Return every route of a router (`POST /tasks`) and of the routers that it includes, in order of declaration."""
    return [f"{method} {route.path}" for route in _routes(router) for method in sorted(route.methods or ())]


def _routes(router: APIRouter) -> Iterator[APIRoute]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield route
        elif isinstance(included := getattr(route, "original_router", None), APIRouter):
            yield from _routes(included)
