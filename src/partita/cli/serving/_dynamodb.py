"""`partita dynamodb`: serve the embedded database over DynamoDB's own protocol."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._descriptors import log_outages
from partita.cli._listen import allowed_hosts_option, listening, warn_beyond_loopback
from partita.cli._numbers import FiniteRange
from partita.cli._signals import stop_signals
from partita.cli.processes import Supervisor, Work, default_processes, loading_for_forks, processes_option
from partita.cli.serving._realism import is_realistic, realism_options
from partita.cli.serving._wire_process import (
    WireSettings,
    banner_of,
    new_loop,
    opened_server,
    run_sweeper,
    run_wire_server,
)
from partita.runtime import AllowedHosts

SWEEP_SECONDS: Final = 60.0

if TYPE_CHECKING:
    from partita.wire import AccessKey, WireServer


@click.command()
@data_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 chooses a free port.")
@click.option(
    "--key",
    envvar="PARTITA_DYNAMODB_KEY",
    show_envvar=True,
    metavar="ID:SECRET",
    help="Respond only to requests signed with this access key. Prefer the variable: other users can see options.",
)
@allowed_hosts_option
@processes_option
@realism_options
@click.option("--regions", is_flag=True, help="Separate the tables of each region; us-east-1 uses the usual database.")
@click.option(
    "--buckets",
    metavar="DIR|s3://",
    help="Where bulk operations, exports and imports read and write: a folder that replaces S3, with a folder for "
    "each bucket; or s3:// for S3 itself, or s3://?endpoint=URL for a compatible server.",
)
@click.option(
    "--sweep-every",
    type=FiniteRange(min=0, min_open=True),
    default=SWEEP_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Interval at which expired items are deleted.",
)
def dynamodb(  # noqa: PLR0913 - one for each option
    data: DataFolder,
    host: str,
    port: int,
    *,
    key: str | None,
    allowed_hosts: AllowedHosts,
    regions: bool,
    buckets: str | None,
    sweep_every: float,
    processes: int | None,
    **switches: Any,
) -> None:
    """Serve the database over DynamoDB's own protocol, until Ctrl-C or SIGTERM.

    It can be used with boto3, the AWS CLI, NoSQL Workbench and any other DynamoDB tool.
    """
    if buckets is not None:
        from partita.buckets import open_buckets

        open_buckets(buckets)  # reports a mistake before anything is served
    settings = WireSettings(data, allowed_hosts, switches, regions=regions, key=_access_key(key), buckets=buckets)
    processes = _processes(processes, switches)
    with listening(host, port) as listener:
        if processes == 1:
            _serve_here(listener, settings, sweep_every)
        else:
            _serve_in_processes(listener, settings, sweep_every, processes)
    click.echo("Stopped.")


def _processes(asked: int | None, switches: Mapping[str, Any]) -> int:
    """How many processes serve: only one if options for tests are used, because their state is in its memory."""
    if not is_realistic(switches):
        return default_processes() if asked is None else asked
    if asked is not None and asked > 1:
        message = "Options for tests keep their state in the memory of one process, so they need --processes 1."
        raise click.UsageError(message)
    return 1


def _serve_here(listener: socket.socket, settings: WireSettings, sweep_every: float) -> None:
    """Serve in this process."""
    with opened_server(settings, sweep_every=sweep_every) as server:
        warn_beyond_loopback(listener, settings.allowed_hosts)
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(_serve(server, listener, settings.data))


def _serve_in_processes(listener: socket.socket, settings: WireSettings, sweep_every: float, processes: int) -> None:
    """Serve in several processes that are forked from this one, with one more that sweeps for all."""
    with loading_for_forks(["partita.wire", "uvloop"]):
        servers = Work("dynamodb", run_wire_server, (listener, settings), processes)
        background = Work("background", run_sweeper, (settings, sweep_every))

    def ready(banner: str) -> None:
        warn_beyond_loopback(listener, settings.allowed_hosts)
        click.echo(banner)

    Supervisor(listener, servers, background, on_ready=ready).run()


def _access_key(text: str | None) -> AccessKey | None:
    from partita.wire import AccessKey

    if text is None:
        return None
    name, separator, secret = text.partition(":")
    if not (name and separator and secret):
        raise click.BadParameter("Must have the form ID:SECRET.", param_hint="--key")
    return AccessKey(name, secret)


async def _serve(server: WireServer, listener: socket.socket, data: DataFolder) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in stop_signals():
        loop.add_signal_handler(number, stopped.set)
    log_outages()
    await server.start(listener)
    click.echo(banner_of(listener, data))
    await stopped.wait()
    await server.stop()
