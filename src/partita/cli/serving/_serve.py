"""`partita serve`: run services on a store, in one process or several on one port."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import closing
from typing import Final

import click
from msgspec import Struct, field
from msgspec.structs import replace

from partita import Meter, Session
from partita.cli._data_folder import EMBEDDED, DataFolder, store_and_queue_options
from partita.cli._extras import needs_serve
from partita.cli._installation import prepare_reports
from partita.cli._listen import allowed_hosts_option, listening, run_app, warn_beyond_loopback
from partita.cli._names import chosen_services
from partita.cli.data import begin_seeding, filling, is_seeding, lake_option, projecting, seed_service
from partita.cli.processes import Supervisor, Work, default_processes, prepare_forks, processes_option
from partita.cli.serving._rate_limit import RateOption, rate_limit_option
from partita.cli.serving._served_app import ServeSettings, address_of, make_app, opened_resources
from partita.cli.serving._sign_in import check_demo_sign_in
from partita.cli.serving._worker import default_workers, working
from partita.errors import TableNotFound
from partita.reports import ServerFigures
from partita.runtime import AllowedHosts, is_loopback
from partita.service import Service
from partita.store import DescribeTable, Store

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
@processes_option
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
    processes: int | None,
    allowed_hosts: AllowedHosts,
    seed: bool | None,
    any_audience: bool,
    client_id: str | None,
    demo_sign_in: bool | None,
    rate_limit: RateOption,
) -> None:
    """Serve the services until Ctrl-C or SIGTERM."""
    if issuer is not None:
        _check_audience(audience, any_audience=any_audience)
    _check_apis(services)
    processes = default_processes() if processes is None else processes
    if processes > 1:
        prepare_forks([service.name for service in services])  # it imports while the store is opened here
    with listening(host, port) as listener, closing(data.open_store(sweep_every=SWEEP_SECONDS)) as store:
        _check_demo(demo_sign_in, listener, has_issuer=issuer is not None)
        with_samples = data.store == EMBEDDED if seed is None else seed
        _prepare(services, store, data, with_samples=with_samples, asked=seed is True)
        background = Background(lake, default_workers(data) if workers is None else workers)
        before = prepare_reports(Session(store, meter=background.meter))
        settings = ServeSettings(
            data, issuer, audience, client_id, demo_sign_in, rate_limit, allowed_hosts, processes, before
        )
        if processes == 1:
            _serve_here(services, store, listener, settings, background)
        else:
            _serve_in_processes(services, store, listener, settings, background)
    click.echo("Stopped.")


class Background(Struct, frozen=True):
    """What is done besides serving."""

    lake: str | None
    workers: int
    meter: Meter = field(default_factory=Meter)
    """Counts what that consumes."""


def _serve_here(
    services: Sequence[Service],
    store: Store,
    listener: socket.socket,
    settings: ServeSettings,
    background: Background,
) -> None:
    """Serve in this process, which does all the rest, too."""
    data, troubles = settings.data, dict[str, str]()
    with (
        opened_resources(services, store, data, listener) as opened,
        projecting(services, store, data, troubles) as projections,
        filling(background.lake, services, store, data, troubles),
        working(services, data, background.workers, opened.installation.url),
    ):
        served = make_app(settings, replace(opened, projections=projections, troubles=troubles, meter=background.meter))
        warn_beyond_loopback(listener, settings.allowed_hosts)
        run_app(served.app, listener, served.banner(), served.state.stopping.set)


def _serve_in_processes(
    services: Sequence[Service],
    store: Store,
    listener: socket.socket,
    settings: ServeSettings,
    background: Background,
) -> None:
    """Serve in several processes. What is to be done once is done in this one: it sweeps, projects, and fills lakes."""
    from partita.cli.serving._server_process import run_server

    data, troubles = settings.data, dict[str, str]()
    data.secret("cursors")  # what is wrong with it is said once, and here
    with (
        projecting(services, store, data, troubles),
        filling(background.lake, services, store, data, troubles),
        working(services, data, background.workers, address_of(listener)),
    ):
        warn_beyond_loopback(listener, settings.allowed_hosts)
        work = Work("server", run_server, ([service.name for service in services], listener, settings))
        own = ServerFigures(background.meter.usage())
        Supervisor(work, settings.processes, own=own, troubles=troubles).run()


def _check_demo(demo: bool | None, listener: socket.socket, *, has_issuer: bool) -> None:  # noqa: FBT001 - as it was given
    check_demo_sign_in(demo, has_issuer=has_issuer, is_loopback=is_loopback(listener.getsockname()[0]))


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
