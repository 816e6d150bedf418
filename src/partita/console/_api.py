"""The console's own API. Declarations and figures are public, as are the metrics; data is for operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response

from partita import Pattern
from partita.console._attempt import Attempt, attempt
from partita.console._audit import audited
from partita.console._declared import ServiceView
from partita.console._live import live
from partita.http import AppState, CurrentCaller, HttpProblem, handle_errors, operators_only, run_with
from partita.service import Service

CONSOLE: Final = Path(__file__).parent / "pages"
"""The folder of the console's pages."""


def describe_services(services: Sequence[Service]) -> bytes:
    """The declarations of the services as the console shows them, in JSON."""
    return msgspec.json.encode([ServiceView.of(service) for service in services])


def console_api(services: Sequence[Service], state: AppState, declared: bytes) -> FastAPI:
    """The API of the console's pages; `declared` is the result of `describe_services`."""
    app = FastAPI(title="Partita's console", openapi_url=None, redirect_slashes=False)
    run_with(app, state.of_console())
    handle_errors(app, reads_with_head=True)
    patterns = {(service.name, pattern.name): pattern for service in services for pattern in service.patterns}

    @app.get("/services")
    async def show_services() -> Response:
        return Response(declared, media_type="application/json")

    @app.get("/live")
    async def show_live() -> Response:
        return _json(await live(services, state))

    @app.get("/me", dependencies=[Depends(operators_only)])
    async def show_me(caller: CurrentCaller) -> Response:
        return _json({"user_id": caller.user_id})

    @app.post("/attempts", dependencies=[Depends(operators_only)])
    async def run_attempt(wanted: Attempt, caller: CurrentCaller, request: Request) -> Response:
        with audited(caller, wanted, request.state.request_id):
            return _json(await attempt(_known(patterns, wanted), wanted, state.session.of_service(wanted.service)))

    return app


def _known(patterns: Mapping[tuple[str, str], Pattern], wanted: Attempt) -> Pattern:
    found = patterns.get((wanted.service, wanted.pattern))
    if found is None:
        raise HttpProblem(404, "not_found", f"{wanted.service} has no access pattern {wanted.pattern!r}.")
    return found


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json", headers={"Cache-Control": "no-store"})
