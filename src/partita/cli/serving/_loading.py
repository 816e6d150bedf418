"""What is loaded and made before servers are forked, so that they share its memory and begin at once."""

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
"""What a process that serves would load by itself."""


def load_for_servers(services: Sequence[Service]) -> PreparedRoutes:
    """Load what it takes to serve the services and to work for them, and make their routes."""
    with loading_for_forks([*_OF_SERVERS, *(name for service in services for name in service.preload)]):
        return prepare_routes(services)
