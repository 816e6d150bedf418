"""Listening on an address that the user chose."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens; where that is refused, the message says what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        message = f"Cannot listen on {host}, port {port}: {reason}. Choose another with --host and --port."
        raise click.ClickException(message) from error
    with listener:
        yield listener
