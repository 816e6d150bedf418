"""`partita dynamodb`: serve the embedded database over DynamoDB's own protocol."""

from __future__ import annotations

import asyncio
import signal
import socket
from contextlib import closing
from typing import TYPE_CHECKING, Final

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._listen import listening

SWEEP_SECONDS: Final = 60.0

if TYPE_CHECKING:
    from partita.store.embedded import EmbeddedStore
    from partita.wire import AccessKey


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
def dynamodb(data: DataFolder, host: str, port: int, key: str | None) -> None:
    """Serve the database to any DynamoDB tool until Ctrl-C or SIGTERM."""
    access = _access_key(key)
    with listening(host, port) as listener, closing(data.open(sweep_every=SWEEP_SECONDS)) as store:
        asyncio.run(_serve(store, listener, access, data))
    click.echo("Stopped.")


def _access_key(text: str | None) -> AccessKey | None:
    from partita.wire import AccessKey

    if text is None:
        return None
    name, separator, secret = text.partition(":")
    if not (name and separator and secret):
        raise click.BadParameter("It has the form ID:SECRET.", param_hint="--key")
    return AccessKey(name, secret)


async def _serve(store: EmbeddedStore, listener: socket.socket, key: AccessKey | None, data: DataFolder) -> None:
    from partita.wire import WireServer

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    server = WireServer(store, key=key)
    await server.start(listener)
    host, port = listener.getsockname()[:2]
    base = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    click.echo(f"DynamoDB's protocol at {base} from {data.path}\nStop with Ctrl-C.")
    await stopped.wait()
    await server.stop()
