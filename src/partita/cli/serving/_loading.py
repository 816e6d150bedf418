"""Loading before servers are forked, so that they share memory and start fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from partita.app import PreparedRoutes, prepare_routes
from partita.cli.processes import loading_for_forks
from partita.service import Service

_OF_SERVERS: Final = (
    "partita.cli._connections",
    "partita.queue.embedded",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvloop",
)
"""Modules that a server process would otherwise load itself."""


def load_for_servers(services: Sequence[Service]) -> PreparedRoutes:
    """Load the modules for serving the services and for their workers, and prepare their routes."""
    with loading_for_forks([*_OF_SERVERS, *(name for service in services for name in service.preload)]):
        return prepare_routes(services)
