"""`partita serve`: serve services on a store, in one process or in several on one port."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from contextlib import closing

import click
from msgspec.structs import replace

from partita import Meter, Session
from partita.cli._data_folder import DataFolder, store_and_queue_options
from partita.cli._extras import needs_serve, require
from partita.cli._installation import prepare_reports
from partita.cli._listen import address_of, allowed_hosts_option, listening, run_app, warn_beyond_loopback
from partita.cli._names import chosen_services
from partita.cli.data import filling, lake_option, projecting
from partita.cli.processes import Supervisor, Work, default_processes, processes_option, working_beside
from partita.cli.serving._background import SWEEP_SECONDS, Background, run_background
from partita.cli.serving._rate_limit import RateOption, rate_limit_option
from partita.cli.serving._served_app import ServeSettings, make_app, opened_resources
from partita.cli.serving._sign_in import check_demo_sign_in
from partita.cli.serving._worker import default_workers, has_work, run_worker_process, working
from partita.runtime import AllowedHosts, is_loopback
from partita.service import Service


@click.command()
@chosen_services
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8321, show_default=True, help="0 chooses a free port.")
@allowed_hosts_option
@store_and_queue_options
@click.option(
    "--workers",
    type=click.IntRange(0, 64),
    default=None,
    show_default="1 if store and queue are embedded, else 0",
    help="Number of worker processes to start.",
)
@processes_option
@lake_option(required=False)
@click.option(
    "--seed/--no-seed",
    default=None,
    show_default="on the first start of the embedded database",
    help="Add sample data, in any store; or add none.",
)
@click.option(
    "--issuer",
    envvar="PARTITA_ISSUER",
    show_envvar=True,
    metavar="URL",
    help="Accept tokens of this OpenID Connect issuer instead of tokens from `partita token`.",
)
@click.option(
    "--audience",
    envvar="PARTITA_AUDIENCE",
    show_envvar=True,
    metavar="NAME",
    help="Audience (aud) that the issuer's tokens must have; required with --issuer.",
)
@click.option("--any-audience", is_flag=True, help="Also accept tokens that the issuer makes for other clients.")
@click.option(
    "--client-id",
    envvar="PARTITA_CLIENT_ID",
    show_envvar=True,
    show_default="the audience",
    metavar="NAME",
    help="Client id of the pages at the issuer, for sign-in. PARTITA_CLIENT_SECRET has its secret, if it has one.",
)
@click.option(
    "--demo-sign-in/--no-demo-sign-in",
    default=None,
    show_default="on, unless other machines can connect or --issuer is used",
    help="Let one click sign in as a demo user or operator.",
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
    """Serve the services until Ctrl-C or SIGTERM.

    Serves the front page, the API and pages of each service, and the console on one port. Creates missing tables.
    """
    if issuer is not None:
        _check_audience(audience, any_audience=any_audience)
    else:
        _refuse_without_issuer({"--audience": audience, "--any-audience": any_audience, "--client-id": client_id})
    _check_apis(services)
    if lake is not None:
        require("lake")
    with listening(host, port) as listener:
        _check_demo(demo_sign_in, listener, has_issuer=issuer is not None)
        settings = ServeSettings(
            data,
            issuer,
            audience,
            client_id,
            demo_sign_in,
            rate_limit,
            allowed_hosts,
            default_processes() if processes is None else processes,
        )
        background = Background(lake, default_workers(data) if workers is None else workers, seed)
        serve_services = _serve_here if settings.processes == 1 else _serve_in_processes
        serve_services(services, listener, settings, background)
    click.echo("Stopped.")


def _serve_here(
    services: Sequence[Service], listener: socket.socket, settings: ServeSettings, background: Background
) -> None:
    """Serve in this process, which also does the background work."""
    data, troubles, meter = settings.data, dict[str, str](), Meter()
    with closing(data.open_store(sweep_every=SWEEP_SECONDS)) as store:
        background.prepare(services, store, data)
        before = prepare_reports(Session(store, meter=meter))
        with (
            opened_resources(services, store, data, listener) as opened,
            projecting(services, store, data, troubles) as projections,
            filling(background.lake, services, store, data, troubles),
            working(services, data, background.workers, opened.installation.url),
        ):
            shared = replace(opened, projections=projections, troubles=troubles, meter=meter, before=before)
            served = make_app(settings, shared)
            warn_beyond_loopback(listener, settings.allowed_hosts)
            run_app(served.app, listener, served.banner(), served.state.stopping.set)


def _serve_in_processes(
    services: Sequence[Service], listener: socket.socket, settings: ServeSettings, background: Background
) -> None:
    """Serve in several processes that are forked from this one, with one more for the work that must be done once."""
    data = settings.data

    def prepare() -> None:
        listener.close()  # only the servers keep the socket
        background.prepare_folder(services, data)

    with working_beside(prepare):
        from partita.cli.serving._loading import load_for_servers
        from partita.cli.serving._server_process import run_server

        routes = load_for_servers(services)
    busy = [service for service in services if has_work(service, None)]

    def ready(banner: str) -> None:
        warn_beyond_loopback(listener, settings.allowed_hosts)
        click.echo(banner)

    Supervisor(
        listener,
        Work("server", run_server, (services, routes, listener, settings), settings.processes),
        Work("background", run_background, (services, data, background)),
        Work("worker", run_worker_process, (busy, data, address_of(listener)), background.workers if busy else 0),
        on_ready=ready,
    ).run()


def _check_demo(demo: bool | None, listener: socket.socket, *, has_issuer: bool) -> None:  # noqa: FBT001 - as it was given
    check_demo_sign_in(demo, has_issuer=has_issuer, is_loopback=is_loopback(listener.getsockname()[0]))


def _check_apis(services: Sequence[Service]) -> None:
    """Refuse to serve if none of the services has an API or pages."""
    if not any(service.router or service.site or service.pages or service.apps for service in services):
        names = ", ".join(service.name for service in services)
        hint = "Add a router to a Service."
        raise click.ClickException(f"There is nothing to serve, because no service has an API: {names}. {hint}")


def _refuse_without_issuer(options: Mapping[str, object]) -> None:
    """Refuse options of an issuer if there is none: the server would accept other tokens than the operator expects."""
    if given := [name for name, value in options.items() if value]:
        raise click.UsageError(
            f"{given[0]} needs --issuer, or PARTITA_ISSUER: without it, no issuer's tokens are accepted."
        )


def _check_audience(audience: str | None, *, any_audience: bool) -> None:
    """Refuse an issuer without an audience, unless any audience is accepted explicitly."""
    if audience and any_audience:
        raise click.UsageError("Give --audience or --any-audience, not both.")
    if not audience and not any_audience:
        reason = (
            "--issuer needs --audience NAME: an issuer may make tokens for other clients, too, which must be refused."
        )
        raise click.UsageError(f"{reason} If it has no other clients, use --any-audience.")
