"""The handlers that templates name, created from environment variables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.errors import OperationError
from partita.functions._figures import FigureLog, StreamFigureLog
from partita.functions._http import HttpHandler
from partita.functions._settings import FunctionSettings
from partita.functions._stream import StreamHandler, Target
from partita.functions._worker import WorkerHandler
from partita.model import Table
from partita.service import Service
from partita.session import AsyncSession, Meter, Session
from partita.store.remote import Credentials

if TYPE_CHECKING:
    from partita.app.signin import SignIn
    from partita.change.lake import Lake, LakeErasure
    from partita.http import Verifier


def http_handler(settings: FunctionSettings) -> HttpHandler:
    """Return the handler that serves the services, as `partita serve` does.

    Raises:
        OperationError: a setting is missing or wrong.
    """
    from partita.app import build_app  # noqa: PLC0415 - only serving needs the extra `serve`
    from partita.http import AppState  # noqa: PLC0415 - as above

    services, installation = settings.found_services(), settings.installation()
    opened = ExitStack()  # never closed: it lives as long as this execution environment
    resources = {
        service.name: opened.enter_context(service.resources(installation))
        for service in services
        if service.resources is not None
    }
    session = AsyncSession(settings.open_store(), secret=settings.secret("cursors"), keys=settings.open_keys())
    state = AppState(session, _verifier(settings), resources)
    apps = {path: app for each in services if each.apps for path, app in each.apps(installation).items()}
    app = build_app(services, state, apps=apps, sign_in=_sign_in(state.identity, settings))
    return HttpHandler(app, stopping=state.stopping, after=_figures(settings, session.meter))


def _figures(settings: FunctionSettings, meter: Meter) -> FigureLog | None:
    """Return the writer of the consumption to the log, or None if that is not wanted."""
    return FigureLog(meter) if settings.metrics == "emf" else None


def _sign_in(verifier: Verifier, settings: FunctionSettings) -> SignIn:
    """Return how people sign in at the pages: at the issuer, if this installation is one of its clients."""
    from partita.app.signin import IssuerClient, SignIn  # noqa: PLC0415 - only serving needs the extra `serve`
    from partita.http import Issuer  # noqa: PLC0415 - as above

    client_id = settings.client_id or settings.audience
    if not isinstance(verifier, Issuer) or client_id is None:
        return SignIn()
    return SignIn(client=IssuerClient(verifier, client_id, secret=settings.client_secret, clock=time.monotonic))


def _verifier(settings: FunctionSettings) -> Verifier:
    """Return the verifier of tokens: those of an issuer, or those signed with this installation's secret."""
    from partita.http import Identity, Issuer  # noqa: PLC0415 - only serving needs the extra `serve`

    if settings.issuer is not None:
        if settings.audience is None:
            hint = "Set PARTITA_AUDIENCE, because an issuer also issues tokens for other clients."
            raise OperationError(
                "The function has an issuer (PARTITA_ISSUER) but no audience for its tokens.", hint=hint
            )
        return Issuer(settings.issuer, audience=settings.audience)
    return Identity(settings.secret("tokens"))


def worker_handler(settings: FunctionSettings) -> WorkerHandler:
    """Return the handler that runs the worker of the first service, as `partita worker` does.

    Raises:
        OperationError: a setting is missing or wrong.
    """
    service = settings.found_services()[0]
    session = Session(settings.open_store(), keys=settings.open_keys())
    return WorkerHandler(
        service,
        session,
        settings.installation(),
        name=settings.name,
        queue_name=settings.queue_name,
        after=_figures(settings, session.meter),
    )


def stream_handler(settings: FunctionSettings) -> Callable[[Any, Any], dict[str, Any]]:
    """Return the handler that delivers records to the lake and projections, which are opened only during an event.

    Raises:
        OperationError: a setting is missing or wrong.
    """
    services = settings.found_services()
    tables = {table.name: service.name for service in services for table in service.tables}
    after = StreamFigureLog(tables) if settings.metrics == "emf" else lambda _delivered: None

    def handle(event: Any, context: Any = None) -> dict[str, Any]:
        with _sinks(services, settings) as (targets, lakes):
            response = StreamHandler(targets, table_names=settings.table_names, after=after)(event, context)
            for lake in lakes:
                lake.erase_users()
            return response

    return handle


@contextmanager
def _sinks(
    services: list[Service], settings: FunctionSettings
) -> Iterator[tuple[dict[Table, list[Target]], list[Lake]]]:
    targets: dict[Table, list[Target]] = {}
    lakes: list[Lake] = []
    with ExitStack() as opened:
        for service in services:
            for table in service.tables:
                if settings.lake is not None and table.schema.stream == "NEW_AND_OLD_IMAGES":
                    lakes.append(
                        opened.enter_context(closing(_lake(settings.lake, service, table, settings.credentials)))
                    )
                    targets.setdefault(table, []).append(lakes[-1])
            if settings.projections is not None and service.projection is not None:
                path = Path(settings.projections) / f"{settings.table_prefix}{service.name}-projection.db"
                sink = opened.enter_context(closing(service.projection.open(path)))
                targets.setdefault(service.projection.table, []).append(sink)
        yield targets, lakes


def _lake(place: str, service: Service, table: Table, credentials: Credentials | None) -> Lake:
    from partita.change.lake import Lake, S3Location, location_of  # noqa: PLC0415 - only a lake needs the extra

    is_bucket = place.startswith("s3://")
    location = S3Location.parse(place, credentials=credentials) if is_bucket else location_of(place)
    return Lake(location, table, erasure=_erasure(service, table))


def _erasure(service: Service, table: Table) -> LakeErasure | None:
    from partita.change.lake import LakeErasure  # noqa: PLC0415 - as above

    personal = service.personal
    if personal is None or personal.record is None or personal.record.table is not table:
        return None
    return LakeErasure(personal.record.name, personal.owners)
