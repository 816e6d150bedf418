"""`partita serve`: run services on a store, in one process on one port."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final

import click

from partita import AsyncSession, Session
from partita.change.shared import ShardReader
from partita.cli._data_folder import EMBEDDED, DataFolder, store_and_queue_options
from partita.cli._extras import needs_serve
from partita.cli._installation import LEASES, installation_of, opening, prepare_reports, tracking_queues
from partita.cli._listen import allowed_hosts_option, listening, run_app, warn_beyond_loopback
from partita.cli._names import chosen_services
from partita.cli._token_file import identity_of
from partita.cli.data import begin_seeding, filling, is_seeding, lake_option, projecting, seed_service
from partita.cli.serving._banner import banner
from partita.cli.serving._rate_limit import RateOption, rate_limit_option
from partita.cli.serving._sign_in import sign_in_link, sign_in_of
from partita.cli.serving._worker import default_workers, working
from partita.errors import TableNotFound
from partita.queue import Queue
from partita.reports import ReportReader
from partita.runtime import AllowedHosts
from partita.service import Installation, Service
from partita.store import DescribeTable, Store

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from partita.http import Verifier

SWEEP_SECONDS: Final = 60.0


@click.command()
@chosen_services
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8321, show_default=True, help="0 takes a free one.")
@allowed_hosts_option
@store_and_queue_options
@click.option(
    "--workers",
    type=click.IntRange(0, 64),
    default=None,
    show_default="1 where store and queue are embedded, else 0",
    help="How many worker processes to start.",
)
@lake_option(required=False)
@click.option(
    "--seed/--no-seed",
    default=None,
    show_default="on the first start of the embedded database",
    help="Sample data, in any store; or none.",
)
@click.option(
    "--issuer",
    envvar="PARTITA_ISSUER",
    show_envvar=True,
    metavar="URL",
    help="Take the tokens of this OpenID Connect issuer, instead of those of `partita token`.",
)
@click.option(
    "--audience",
    envvar="PARTITA_AUDIENCE",
    show_envvar=True,
    metavar="NAME",
    help="What the issuer's tokens must be meant for; required with --issuer.",
)
@click.option("--any-audience", is_flag=True, help="Take the tokens that the issuer makes for other clients too.")
@click.option(
    "--client-id",
    envvar="PARTITA_CLIENT_ID",
    show_envvar=True,
    show_default="the audience",
    metavar="NAME",
    help="As which client the issuer knows the pages, where people sign in. PARTITA_CLIENT_SECRET has its secret.",
)
@click.option(
    "--demo-sign-in/--no-demo-sign-in",
    default=None,
    show_default="on this machine alone, without --issuer",
    help="One click signs in as a demo user or operator.",
)
@rate_limit_option
@needs_serve
def serve(  # noqa: PLR0913 - one for each option
    services: Sequence[Service],
    data: DataFolder,
    host: str,
    port: int,
    workers: int | None,
    issuer: str | None,
    audience: str | None,
    lake: str | None,
    *,
    allowed_hosts: AllowedHosts,
    seed: bool | None,
    any_audience: bool,
    client_id: str | None,
    demo_sign_in: bool | None,
    rate_limit: RateOption,
) -> None:
    """Serve the services until Ctrl-C or SIGTERM."""
    from partita.app import build_app
    from partita.http import AppState

    if issuer is not None:
        _check_audience(audience, any_audience=any_audience)
    _check_apis(services)
    with listening(host, port) as listener, closing(data.open_store(sweep_every=SWEEP_SECONDS)) as store:
        with_samples = data.store == EMBEDDED if seed is None else seed
        _prepare(services, store, data, with_samples=with_samples, asked=seed is True)
        queues: dict[str, Queue] = {}
        troubles: dict[str, str] = {}
        installation = tracking_queues(queues, installation_of(data, _address(listener)))
        session = AsyncSession(store, secret=data.secret("cursors"), keys=data.keys())
        reports = ReportReader(session, prepare_reports(Session(store, meter=session.meter)))
        verifier = _verifier(data, issuer, audience)
        sign_in = sign_in_of(verifier, client_id or audience, demo_sign_in, installation)
        with (
            opening(services, installation) as resources,
            projecting(services, store, data, troubles) as projections,
            filling(lake, services, store, data, troubles),
            working(services, data, default_workers(data) if workers is None else workers, installation.url),
        ):
            state = AppState(
                session,
                verifier,
                resources,
                projections,
                queues,
                troubles=troubles,
                rate_limit=rate_limit,
                reports=reports,
                shards=ShardReader(session.of_service(LEASES.name)),
            )
            app = build_app(
                services, state, apps=_apps(services, installation), allowed_hosts=allowed_hosts, sign_in=sign_in
            )
            warn_beyond_loopback(listener, allowed_hosts)
            link = sign_in_link(sign_in, installation.url)
            run_app(app, listener, banner(services, data, installation.url, issuer, link=link), state.stopping.set)
    click.echo("Stopped.")


def _apps(services: Sequence[Service], installation: Installation) -> dict[str, ASGIApp]:
    return {path: app for service in services if service.apps for path, app in service.apps(installation).items()}


def _check_apis(services: Sequence[Service]) -> None:
    """Refuse services of which there is nothing to serve."""
    if not any(service.router or service.site or service.pages or service.apps for service in services):
        names = ", ".join(service.name for service in services)
        raise click.ClickException(f"There is nothing to serve: {names} has no API. Give its Service a router.")


def _check_audience(audience: str | None, *, any_audience: bool) -> None:
    """Refuse an issuer of which it was not said whose tokens are taken."""
    if audience and any_audience:
        raise click.UsageError("Give --audience or --any-audience, not both.")
    if not audience and not any_audience:
        reason = (
            "--issuer needs --audience NAME: an issuer makes tokens for other clients too, which must not be taken."
        )
        raise click.UsageError(f"{reason} Where it has no other clients, say --any-audience.")


def _verifier(data: DataFolder, issuer: str | None, audience: str | None) -> Verifier:
    from partita.http import Issuer

    if issuer is None:
        return identity_of(data)
    return Issuer(issuer, audience=audience, any_audience=not audience)


def _prepare(
    services: Sequence[Service], store: Store, data: DataFolder, *, with_samples: bool, asked: bool = False
) -> None:
    """Create the tables; a service that had none of them yet, or is asked for it, gets its sample data or its rest."""
    session = Session(store, keys=data.keys())
    for service in services:
        if with_samples and service.seed is not None and (asked or _is_new(service, store)):
            begin_seeding(service, data)  # before its tables are made: from then on it is no longer new
        session.create_tables(service.tables)
        if with_samples and is_seeding(service, data):
            seed_service(service, session, data)


def _is_new(service: Service, store: Store) -> bool:
    return not any(_exists(store, table.name) for table in service.tables)


def _exists(store: Store, table: str) -> bool:
    try:
        store.execute(DescribeTable(table))
    except TableNotFound:
        return False
    return True


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
