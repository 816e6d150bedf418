"""The routes of a service, for tests that go through all of them."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute


def routes_of(router: APIRouter) -> list[str]:
    """Every route of a router (`POST /tasks`), in the order of their declaration."""
    routes = (route for route in router.routes if isinstance(route, APIRoute))
    return [f"{method} {route.path}" for route in routes for method in sorted(route.methods or ())]
