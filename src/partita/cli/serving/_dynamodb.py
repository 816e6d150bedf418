"""`partita dynamodb`: serve the embedded database over DynamoDB's own protocol."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._listen import allowed_hosts_option, listening, warn_beyond_loopback
from partita.cli._signals import stop_signals
from partita.cli.serving._realism import realism_options, realistically
from partita.runtime import AllowedHosts

SWEEP_SECONDS: Final = 60.0

if TYPE_CHECKING:
    from partita.wire import AccessKey, WireServer


@click.command()
@data_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 takes a free one.")
@click.option(
    "--key",
    envvar="PARTITA_DYNAMODB_KEY",
    show_envvar=True,
    metavar="ID:SECRET",
    help="Answer only requests that are signed with this access key. Prefer the variable: others see options.",
)
@allowed_hosts_option
@realism_options
@click.option("--regions", is_flag=True, help="Keep the tables of each region apart; us-east-1 has the usual database.")
@click.option(
    "--sweep-every",
    type=click.FloatRange(min=0, min_open=True),
    default=SWEEP_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="How often items that have expired are deleted.",
)
def dynamodb(
    data: DataFolder,
    host: str,
    port: int,
    *,
    key: str | None,
    allowed_hosts: AllowedHosts,
    regions: bool,
    sweep_every: float,
    **switches: Any,
) -> None:
    """Serve the database to any DynamoDB tool until Ctrl-C or SIGTERM."""
    from partita.wire import RegionStores, WireServer

    access, realistic = _access_key(key), realistically(switches)
    with listening(host, port) as listener, closing(realistic(data.open(sweep_every=sweep_every))) as store:
        warn_beyond_loopback(listener, allowed_hosts)
        stores = RegionStores(store, lambda region: realistic(data.open_region(region, sweep_every=sweep_every)))
        server = WireServer(store, key=access, allowed_hosts=allowed_hosts, regions=stores if regions else None)
        with closing(stores), asyncio.Runner(loop_factory=_new_loop) as runner:
            runner.run(_serve(server, listener, data))
    click.echo("Stopped.")


def _access_key(text: str | None) -> AccessKey | None:
    from partita.wire import AccessKey

    if text is None:
        return None
    name, separator, secret = text.partition(":")
    if not (name and separator and secret):
        raise click.BadParameter("It has the form ID:SECRET.", param_hint="--key")
    return AccessKey(name, secret)


def _new_loop() -> asyncio.AbstractEventLoop:
    """The fastest event loop that is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _serve(server: WireServer, listener: socket.socket, data: DataFolder) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in stop_signals():
        loop.add_signal_handler(number, stopped.set)
    await server.start(listener)
    host, port = listener.getsockname()[:2]
    base = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    click.echo(f"DynamoDB's protocol at {base} from {data.path}\nStop with Ctrl-C.")
    await stopped.wait()
    await server.stop()
