"""Listening on the address, accepting the host names that the user chose, and serving an app there."""

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
"""How many connections may wait to be accepted, and how many asyncio accepts at a time."""


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open a listening socket, which is closed when the block ends. If that fails, the error says what to do."""
    if not host:  # sockets take an empty host as all addresses
        raise click.BadParameter("The address is empty. Use 0.0.0.0 for all addresses.", param_hint="--host")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        message = f"Cannot listen on {host}, port {port}: {reason}. Choose another with --host and --port."
        raise click.ClickException(message) from error
    # Connections inherit this option. asyncio sets it only on sockets that have a protocol number, and without it every
    # response that is sent in two pieces waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with listener:
        yield listener


def address_of(listener: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def allowed_hosts_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--allowed-host`, passed to the command as `allowed_hosts`."""
    return click.option(
        "--allowed-host",
        "allowed_hosts",
        multiple=True,
        envvar="PARTITA_ALLOWED_HOSTS",
        show_envvar=True,
        metavar="NAME",
        callback=_allowed_hosts,
        help="Also accept this host name, besides localhost and the address itself; may be repeated. * is any name.",
    )(command)


def _allowed_hosts(context: click.Context, option: click.Parameter, given: Sequence[str]) -> AllowedHosts:
    names = frozenset(name.lower() for value in given for name in re.split(r"[,\s]+", value) if name)
    allowed = AllowedHosts(names)
    wrong = sorted(name for name in names - {"*"} if not AllowedHosts(frozenset({name})).allows(name, ""))
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is not a plain host name (no scheme, no port).", context, option)
    return allowed


def warn_beyond_loopback(listener: socket.socket, allowed_hosts: AllowedHosts) -> None:
    """Warn if other machines can reach the server, and list the host names that it accepts."""
    address = listener.getsockname()[0]
    if is_loopback(address):
        return
    names = "any name" if "*" in allowed_hosts.names else ", ".join(["localhost", *sorted(allowed_hosts.names)])
    message = f"Warning: other machines can reach {address}. Accepted hosts: this address and {names} (--allowed-host)."
    click.echo(message, err=True)


def run_app(app: ASGIApp, listener: socket.socket, banner: str, on_stop: Callable[[], None] = lambda: None) -> None:
    """Print the banner, and serve an app until Ctrl-C or SIGTERM. Requests that have begun are finished.

    `on_stop` is called at the signal, so that responses without an end can be ended.
    """
    from partita.cli._quiet_server import QuietServer

    class Server(QuietServer):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            on_stop()
            super().handle_exit(sig, frame)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets)
            if self.force_exit:  # second signal: requests are cut off, but the app still closes its resources
                await self.lifespan.shutdown()

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            log_outages()
            await super().startup(sockets)

    server = Server(connection_config(app))
    # Handles signals before the server installs its own handlers, and after it has restored these and raises the signal
    # that stopped it again.
    on_stop_signal(lambda: server.handle_exit(signal.SIGTERM, None))
    click.echo(banner)
    server.run(sockets=[listener])


def connection_config(
    app: ASGIApp, *, on_change: Callable[[int], None] | None = None, has_own_log: bool = True
) -> uvicorn.Config:
    """The uvicorn configuration of an app: with limits on the time and the number of connections.

    Args:
        app: the app.
        on_change: called with the number of connections whenever it changes.
        has_own_log: whether uvicorn configures its own log, instead of using that of the process.
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
        log_level="error",  # lower levels are for mistakes of clients, which could flood the log
        access_log=False,  # it is below this level, too, but its lines would still be built for each request
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        log_config=LOGGING_CONFIG if has_own_log else None,
    )
