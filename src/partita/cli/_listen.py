"""Listening on an address that the user chose, and serving an app there."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from starlette.types import ASGIApp

DRAIN_SECONDS: Final = 10


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


def run_app(app: ASGIApp, listener: socket.socket, banner: str, on_stop: Callable[[], None] = lambda: None) -> None:
    """Say where an app is, and serve it until Ctrl-C or SIGTERM; what is under way then is finished.

    `on_stop` is called at the signal: responses that have no end must end then.
    """
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            on_stop()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(app, log_level="warning", server_header=False, timeout_graceful_shutdown=DRAIN_SECONDS)
    # When it has drained, the server raises the signal that stopped it once more; here that has done its work.
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.signal(signal.SIGINT, lambda *_: None)
    click.echo(banner)
    Server(config).run(sockets=[listener])
