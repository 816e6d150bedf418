"""Listening on an address that the user chose, answering to names that the user chose, and serving an app there."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, cast

import click
from msgspec.structs import replace

from partita.cli._descriptors import log_outages, max_connections
from partita.cli._signals import on_stop_signal
from partita.runtime import AllowedHosts, is_loopback

if TYPE_CHECKING:
    import asyncio

    import uvicorn
    from starlette.types import ASGIApp

DRAIN_SECONDS: Final = 10
BACKLOG: Final = 128
"""Connections that wait to be accepted, and how many asyncio accepts at a time before it closes others for them."""


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens; where that is refused, the message says what to do."""
    if not host:  # for a socket that is every address
        raise click.BadParameter("It is empty; 0.0.0.0 means every address.", param_hint="--host")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        message = f"Cannot listen on {host}, port {port}: {reason}. Choose another with --host and --port."
        raise click.ClickException(message) from error
    # Connections inherit it. asyncio would set it only on sockets that say their protocol, and without it every
    # response that is sent in two pieces waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with listener:
        yield listener


def address_of(listener: socket.socket) -> str:
    """The URL of what is served at a socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def allowed_hosts_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--allowed-host`, given to the command as `allowed_hosts`."""
    return click.option(
        "--allowed-host",
        "allowed_hosts",
        multiple=True,
        envvar="PARTITA_ALLOWED_HOSTS",
        show_envvar=True,
        metavar="NAME",
        callback=_allowed_hosts,
        help="Answer to this name, too, besides localhost and the address itself; may be repeated, `*` is any.",
    )(command)


def _allowed_hosts(context: click.Context, option: click.Parameter, given: Sequence[str]) -> AllowedHosts:
    names = frozenset(name.lower() for value in given for name in re.split(r"[,\s]+", value) if name)
    allowed = AllowedHosts(names)
    wrong = sorted(name for name in names - {"*"} if not AllowedHosts(frozenset({name})).allows(name, ""))
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is not the name of a host alone.", context, option)
    return allowed


def warn_beyond_loopback(listener: socket.socket, allowed_hosts: AllowedHosts) -> None:
    """Say so, where other machines can reach what is served, and which names it answers to."""
    address = listener.getsockname()[0]
    if is_loopback(address):
        return
    names = "any name" if "*" in allowed_hosts.names else ", ".join(["localhost", *sorted(allowed_hosts.names)])
    message = f"Warning: other machines can reach {address}. It answers to its address and to {names} (--allowed-host)."
    click.echo(message, err=True)


def run_app(app: ASGIApp, listener: socket.socket, banner: str, on_stop: Callable[[], None] = lambda: None) -> None:
    """Say where an app is, and serve it until Ctrl-C or SIGTERM; what is under way then is finished.

    `on_stop` is called at the signal: responses that have no end must end then.
    """
    from partita.cli._quiet_server import QuietServer

    class Server(QuietServer):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            on_stop()
            super().handle_exit(sig, frame)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets)
            if self.force_exit:  # asked twice: what is under way is cut off, but the app still closes what it opened
                await self.lifespan.shutdown()

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            log_outages()
            await super().startup(sockets)

    server = Server(connection_config(app))
    # Also before the server has its own handlers, and when it raises the signal once more that has stopped it.
    on_stop_signal(lambda: server.handle_exit(signal.SIGTERM, None))
    click.echo(banner)
    server.run(sockets=[listener])


def connection_config(
    app: ASGIApp, *, on_change: Callable[[int], None] | None = None, has_own_log: bool = True
) -> uvicorn.Config:
    """How an app is served: with bounds of time and number for connections.

    Args:
        app: the app.
        on_change: called with the number of connections whenever it changes.
        has_own_log: uvicorn writes its log itself, and not as the process writes its own.
    """
    import uvicorn
    from uvicorn.config import LOGGING_CONFIG

    from partita.cli._connections import ConnectionLimits, LimitedConnection, WaitingConnections

    limits = ConnectionLimits()
    limits = replace(limits, connections=max_connections(limits.connections))
    protocol = partial(LimitedConnection, limits=limits, waiting=WaitingConnections(), on_change=on_change)
    return uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", protocol),
        ws="none",
        backlog=BACKLOG,
        log_level="error",  # below that are the mistakes of clients, who could fill the log with them
        access_log=False,  # it would be below, too, and yet be put together for each request
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        log_config=LOGGING_CONFIG if has_own_log else None,
    )
