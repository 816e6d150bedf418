"""The app of the simulator: part of `partita serve` together with CommitCollect, or on a port of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse

from partita.http import ASSETS, Pages
from partita.service import Installation
from partita_services.commitcollect.simulator.api import API, OAUTH
from partita_services.commitcollect.simulator.control import CONTROL
from partita_services.commitcollect.simulator.faults import StravaFault, bad_request, exhausted
from partita_services.commitcollect.simulator.strava import SimulatedStrava
from partita_services.commitcollect.simulator.world import Application
from partita_services.commitcollect.strava.log_redaction import redact_logs
from partita_services.commitcollect.strava.settings import read

PAGES: Final = Path(__file__).parent / "pages"
FILE: Final = "strava-simulator.json"
Next: TypeAlias = Callable[[Request], Awaitable[Response]]


def simulator_of(installation: Installation) -> FastAPI:
    """Return the simulator of an installation, which serves only its service and stores its state in its folder."""
    settings = read(installation)
    application = Application(settings.client_id, settings.client_secret)
    return build_simulator(SimulatedStrava(application, file=installation.folder / FILE))


def build_simulator(strava: SimulatedStrava, *, delivers: bool = True) -> FastAPI:
    """Return the app.

    Args:
        strava: the state that the app serves.
        delivers: whether the app delivers events to the webhook; if not, `strava.webhook.deliver()` has to be called.
    """
    redact_logs()  # the app calls the webhook, whose address is a secret
    app = FastAPI(title="Strava simulator", openapi_url=None)
    app.state.strava = strava
    _handle_faults(app)
    app.include_router(OAUTH)
    app.include_router(CONTROL)
    app.mount("/api/v3", _api(strava))

    @app.get("/activities/{activity_id}")
    async def activity_page(activity_id: int) -> RedirectResponse:
        return RedirectResponse(f"../#activity-{activity_id}", 303)

    app.mount("/assets", Pages(ASSETS))  # for its pages, when it runs on a port of its own
    app.mount("/", Pages(PAGES))
    if delivers:
        app.middleware("http")(_BackgroundDelivery(strava).begin)
    return app


def _api(strava: SimulatedStrava) -> FastAPI:
    api = FastAPI(openapi_url=None)
    api.state.strava = strava
    _handle_faults(api)
    api.include_router(API)

    @api.middleware("http")
    async def within_limits(request: Request, call_next: Next) -> Response:
        with strava.changing():
            is_allowed = strava.limits.take(reads=request.method == "GET")
        response = await call_next(request) if is_allowed else _response(exhausted())
        response.headers.update(strava.limits.headers())
        return response

    return api


def _handle_faults(app: FastAPI) -> None:
    """Respond to refused requests with errors in Strava's format."""
    app.add_exception_handler(StravaFault, _fault)
    app.add_exception_handler(RequestValidationError, _invalid)


async def _fault(request: Request, error: Exception) -> Response:  # noqa: ARG001 - Starlette's signature
    assert isinstance(error, StravaFault)  # noqa: S101 - registered for these only
    return _response(error)


async def _invalid(request: Request, error: Exception) -> Response:  # noqa: ARG001 - Starlette's signature
    """Name the field without its value, because not every value that JSON can be parsed to can be written as JSON."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these only
    where = error.errors()[0]["loc"]
    return _response(bad_request("Request", ".".join(str(part) for part in where[1:]) or str(where[0])))


def _response(fault: StravaFault) -> Response:
    return JSONResponse(fault.shown(), fault.status)


class _BackgroundDelivery:
    """Delivers events that are due. A mounted app gets no startup event, so any request starts the delivery."""

    def __init__(self, strava: SimulatedStrava) -> None:
        self._strava = strava
        self._running: asyncio.Task[None] | None = None

    async def begin(self, request: Request, call_next: Next) -> Response:
        """Respond, and then deliver the events that the request caused."""
        response = await call_next(request)
        if self._strava.webhook.next_due is not None and (self._running is None or self._running.done()):
            self._running = asyncio.create_task(self._deliver())
        return response

    async def _deliver(self) -> None:
        webhook = self._strava.webhook
        while (due := webhook.next_due) is not None:
            await asyncio.sleep(max(0.0, min(due - self._strava.clock(), 1.0)))
            await webhook.deliver()
